import { type Static, Type } from "@sinclair/typebox";
import { about } from "../base/about.ts";
import { isWithoutSession } from "../base/author.ts";
import { Named, UInt32, UInt64 } from "../base/schema/fragments.ts";
import type { Wording } from "../calls/contract/wording.ts";
import { findOthersWork, renderCount } from "./checkpoints/authors.ts";
import type { Config } from "./config.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { profileNames } from "./profiles.ts";

const Globs = Named("Globs", {
  default_exclude: Type.Array(Type.String(), {
    description: "What use_default_excludes leaves out of searches and trees.",
  }),
  non_accessible: Type.Array(Type.String(), {
    description: "Listed, but otherwise treated as missing.",
  }),
  write_allow: Type.Optional(
    Type.Array(Type.String(), { description: "Can be changed although write_deny covers it." }),
  ),
  write_deny: Type.Array(Type.String(), { description: "Can be read, never changed." }),
});

/** The keys of the configuration that bound a call. */
const limitKeys = [
  "call_timeout_ms",
  "list_max_page_size",
  "max_answer_bytes",
  "max_read_bytes",
  "max_transaction_bytes",
  "max_write_bytes",
] as const satisfies readonly (keyof Config)[];

const Limits = Named("Limits", {
  call_timeout_ms: UInt32(),
  list_max_page_size: UInt32(),
  max_answer_bytes: UInt64(),
  max_read_bytes: UInt64(),
  max_transaction_bytes: UInt64(),
  max_write_bytes: UInt64(),
} satisfies Record<(typeof limitKeys)[number], unknown>);

const AuditState = Named("AuditState", {
  enabled: Type.Boolean(),
  newest: Type.Optional(
    Type.String({ description: "The hash of the newest line, before the one of this call." }),
  ),
});

const JournalState = Named("JournalState", {
  enabled: Type.Boolean({ description: "Whether coder::undo can take changes back." }),
  losses: Type.Optional(UInt64({ description: "Changes since the start that it cannot take back, if any." })),
  others: Type.Optional(
    UInt32({ description: "Checkpoints of other authors, of the newest 200 checkpoints." }),
  ),
  reason: Type.Optional(
    Type.String({ description: "Why there is no journal, or why it could not be written last." }),
  ),
});

const Root = Named("Root", {
  gone: Type.Optional(
    Type.Boolean({
      description: "true if its folder was removed or moved away since; it is served again once it is back.",
    }),
  ),
  name: Type.String({ description: "`.` for the one folder that all paths are relative to." }),
  missing: Type.Optional(
    Type.Boolean({ description: "true if its folder could not be reached at the start; it is not served." }),
  ),
  read_only: Type.Boolean(),
});

const Health = Named("Health", {
  memory_bytes: UInt64({ description: "The memory of the process." }),
  uptime_ms: UInt64(),
});

const response = Type.Object(
  {
    approval: Type.Optional(
      Type.Union([Type.Literal("destructive"), Type.Literal("all")], {
        description: "The calls that wait for a person's approval. Absent if none do.",
      }),
    ),
    audit: AuditState,
    functions: Type.Array(Type.String()),
    globs: Globs,
    health: Health,
    index: Type.Union([Type.Literal("scan"), Type.Literal("verified"), Type.Literal("watched")], {
      description:
        "How a search finds candidates if an index helps. watched: a store through a mapping made after the file was read, and a write by a name outside of the base, are seen after some searches, and all else at once.",
    }),
    journal: JournalState,
    limits: Limits,
    profile: Type.Union(profileNames.map((name) => Type.Literal(name))),
    roots: Type.Array(Root),
    unresolved_transactions: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Transactions left half done, because another program has changed some of their files. coder::undo resolves each.",
      }),
    ),
    version: Type.String(),
  },
  { title: "InfoOutput" },
);

/**
 * `coder::info`: what the worker serves and how it is configured (coder §21). It reads no file that is
 * served.
 */
export const info = defineCoderFunction({
  id: "coder::info",
  since: "0.4.0",
  description:
    "Describe the worker: its roots, profile, limits, globs, functions and version, and whether it keeps a journal. It reads no file that is served.",
  summary: "what is served, and under which rules",
  brief: "Server limits, protected and denied globs, journal and version.",
  effect: "reads",
  paths: [],
  touchesNoFiles: true,
  isIdempotent: true,
  request: Type.Object({}, { title: "InfoInput" }),
  response,
  examples: [{ title: "Everything", request: {} }],
  handle: (_, context) => ({
    ...(context.approvals && { approval: context.approvals.mode }),
    audit: { enabled: context.audit !== undefined, ...(context.audit && { newest: context.audit.newest }) },
    functions: [...context.functionIds],
    globs: globsOf(context),
    health: {
      memory_bytes: process.memoryUsage.rss(),
      uptime_ms: Math.round(performance.now() - context.openedAt),
    },
    index: context.searcher.index?.mode ?? ("scan" as const),
    journal: {
      enabled: context.journal !== undefined,
      ...othersIn(context),
      ...faultsOf(context),
    },
    limits: limitsOf(context.config),
    profile: context.profileName,
    roots: rootsOf(context),
    ...unresolvedIn(context),
    version: about.version,
  }),
  render: renderInfo,
});

function othersIn({ journal, jail, author, profile }: CoderContext): { others?: number } {
  if (journal === undefined || !profile.authors || isWithoutSession(author)) return {};
  try {
    const work = findOthersWork({ journal, jail }, author);
    return work === undefined ? {} : { others: work.count };
  } catch {
    // The log says why the journal cannot be read.
    return {};
  }
}

function faultsOf({ journal, journalMissing, profile }: CoderContext): { reason?: string; losses?: number } {
  if (!profile.journal) return {};
  const reason = journalMissing?.reason ?? journal?.failure;
  const losses = journal?.lost.count ?? 0;
  return { ...(reason !== undefined && { reason }), ...(losses > 0 && { losses }) };
}

function rootsOf({ jail, isReadOnly }: CoderContext): Static<typeof Root>[] {
  const gone = jail.goneRoots();
  return [
    ...jail.roots.map((root) => ({
      ...(gone.includes(root.name) && { gone: true }),
      name: root.name,
      read_only: root.isReadOnly || isReadOnly,
    })),
    ...jail.missingRoots.map(({ name }) => ({ missing: true, name, read_only: true })),
  ];
}

const unresolvedIn = ({ transactions, jail }: CoderContext): { unresolved_transactions?: string[] } => {
  const unresolved = jail.scope === undefined ? (transactions?.unresolved ?? []) : [];
  return unresolved.length === 0 ? {} : { unresolved_transactions: [...unresolved] };
};

const globsOf = ({ config, profile }: CoderContext): Static<typeof Globs> => ({
  default_exclude: config.default_exclude_globs,
  non_accessible: config.non_accessible_globs,
  ...(config.write_allow_globs.length > 0 && { write_allow: config.write_allow_globs }),
  write_deny: config.write_deny_globs ?? [...profile.write_deny_globs],
});

const limitsOf = (config: Config): Static<typeof Limits> =>
  Object.fromEntries(limitKeys.map((key) => [key, config[key]])) as Static<typeof Limits>;

const mebibyte = 1024 * 1024;

/** Renders a key and its limit, in MiB if that is exact. */
const renderLimit = ([key, limit]: [string, number]): string =>
  key.endsWith("_bytes") && limit % mebibyte === 0 ? `${key} ${limit / mebibyte} MiB` : `${key} ${limit}`;

function shownRoot({ name, gone, missing, read_only: isReadOnly }: Static<typeof Root>): string {
  if (gone) return `${name} (gone: its folder was removed or moved away)`;
  if (missing) return `${name} (not served: its folder could not be reached at the start)`;
  return isReadOnly ? `${name} (read-only)` : name;
}

const renderOthers = ({ others: count }: Static<typeof JournalState>): string =>
  count === undefined ? "" : `; ${renderCount({ count, isMore: false })}`;

function renderJournal(journal: Static<typeof JournalState>): string {
  const { enabled: isOn, reason, losses = 0 } = journal;
  if (!isOn) return `off${reason === undefined ? "" : ` (${reason})`}`;
  const changes = `${losses} ${losses === 1 ? "change" : "changes"} since the start`;
  const state =
    reason === undefined
      ? `on, so coder::undo takes changes back${losses === 0 ? "" : `, except ${changes}`}`
      : `on, but the last change could not be recorded (${reason}); ${changes} cannot be undone`;
  return `${state}${renderOthers(journal)}`;
}

/** Maximum length of a list in the text. */
const maxShown = 12;

function renderInfo(
  {
    approval,
    version,
    profile,
    roots,
    globs,
    limits,
    journal,
    unresolved_transactions: unresolved = [],
  }: Static<typeof response>,
  { sentence }: Wording,
): string {
  const list = (what: string, of: readonly string[]) => {
    const more = of.length > maxShown ? ` and ${of.length - maxShown} more` : "";
    return `${what}: ${of.slice(0, maxShown).join(" ") || "none"}${more}`;
  };
  return [
    `coder ${version}, profile ${profile}${roots.every((root) => root.read_only) ? ", read-only" : ""}`,
    ...(roots.some(({ name }) => name !== ".") ? [list("roots", roots.map(shownRoot))] : []),
    list("not accessible", globs.non_accessible),
    list("never written", globs.write_deny),
    ...(globs.write_allow === undefined ? [] : [list("written all the same", globs.write_allow)]),
    list("excluded by default", globs.default_exclude),
    `limits: ${Object.entries(limits).map(renderLimit).join(", ")}`,
    `journal: ${sentence(renderJournal(journal))}`,
    ...(approval === undefined ? [] : [`approval by the user: ${approval}`]),
    ...(unresolved.length === 0
      ? []
      : [sentence(`${list("left half done", unresolved)}; coder::undo with the transaction resolves it`)]),
  ].join("\n");
}
