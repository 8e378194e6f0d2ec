/** The common parts of `coder::move` and `coder::copy`. */
import { normalize } from "node:path";
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { refuse } from "../../base/errors.ts";
import { Named } from "../../base/schema/fragments.ts";
import type { Attempt, RequestPath } from "../../calls/contract/definition.ts";
import type { copyPath } from "../../filesystem/operations/copy.ts";
import { movePath } from "../../filesystem/operations/move.ts";
import type { CoderContext } from "../define.ts";
import { explainMissingFolder } from "../missing-paths/missing-folder.ts";
import { explainMoved } from "../missing-paths/missing-path.ts";
import { renderPath } from "../render/entry-text.ts";
import { contextOfEntries } from "./dry-run.ts";
import { describeLinkedTarget, describeLostTarget, isLinkToSomething, linkedPath } from "./links.ts";
import { Literal } from "./literal.ts";
import { expecting } from "./revisions.ts";

/** An entry of a request. */
export const twoPathsFields = {
  expected_revision: Type.Optional(
    Type.String({ description: "Revision that the file at `from` must have." }),
  ),
  from: Type.String(),
  overwrite: Type.Boolean({
    default: false,
    description: "Replace a file at `to`. A folder is never replaced.",
  }),
  parents: Type.Boolean({ default: true, description: "Create missing parent directories of `to`." }),
  to: Type.String({ description: "The new path itself, not a folder to put it into." }),
};

/** The name of an entry's type, and the description of a dry run. */
interface Naming {
  readonly spec: string;
  readonly title: string;
  readonly dryRun: string;
}

export const twoPathsRequest = ({ spec, title, dryRun }: Naming) =>
  Type.Object(
    {
      dry_run: Type.Boolean({ default: false, description: dryRun }),
      files: Type.Array(Named(spec, twoPathsFields)),
      literal: Literal(),
    },
    { title },
  );

/** Whether a file was replaced, in the profile `agent`. */
export const ReplacesFile = Type.Optional(
  Type.Boolean({ description: "A file that was there is replaced." }),
);

/** Returns the end of a line about a change that may have replaced a file. */
export const describeReplaced = ({ replaced }: { readonly replaced?: boolean | undefined }): string =>
  replaced ? ", replacing the file that was there" : "";

/** The result for one entry, as on the wire. */
interface TransferResult {
  readonly from: string;
  readonly to: string;
  readonly replaced?: boolean;
  readonly dangling?: boolean;
  readonly linked_to?: string;
}

/** Renders a line about an entry that was moved or copied, or that was there already. */
export function renderTransfer(result: TransferResult, done: "moved" | "copied" | false): string {
  const from = renderPath(result.from);
  if (done === false && normalize(result.from) !== normalize(result.to))
    return `${renderPath(result.to)}: is there already, equal to ${from}`;
  if (done === false) return `${from}: is there already`;
  const notes = `${describeLostTarget(result)}${describeLinkedTarget(result)}`;
  return `${from}: ${done} to ${renderPath(result.to)}${describeReplaced(result)}${notes}`;
}

type Spec = Static<TObject<typeof twoPathsFields>>;

/** The uses of the second path. */
export const targetPaths: readonly RequestPath[] = [
  { at: "/files/*/to", access: "create", when: { overwrite: false, parents: false } },
  { at: "/files/*/to", access: "replace", when: { overwrite: true, parents: true } },
];

interface Entries {
  readonly files: readonly Spec[];
  readonly dry_run: boolean;
}

/** The verb of the disk that is called for each entry. */
type Verb = typeof movePath | typeof copyPath;

/**
 * Calls a verb for each entry separately, and yields the outcomes. Throws a refusal for an empty list.
 */
export async function* eachEntry(
  { files, dry_run: isTrial }: Entries,
  context: CoderContext,
  verb: Verb,
): AsyncGenerator<{ readonly spec: Spec; readonly outcome: Attempt<Transferred> }> {
  if (files.length === 0) throw refuse.emptyBatch("files");
  const entries = contextOfEntries(context, isTrial);
  const moves: Spec[] = [];
  for (const spec of files) {
    const outcome = await entries.attempt(() => transferNext(spec, moves, entries, verb));
    if (verb === movePath && "value" in outcome && outcome.value.isDone) moves.push(spec);
    yield { spec, outcome };
  }
}

/** Like `transferOne`, but refuses a path that earlier entries moved with the path that it has now. */
async function transferNext(
  spec: Spec,
  moves: readonly Spec[],
  context: CoderContext,
  verb: Verb,
): Promise<Transferred> {
  try {
    return await transferOne(spec, context, verb);
  } catch (error) {
    throw explainMoved(error, moves, context);
  }
}

/** The outcome for one entry. */
interface Transferred {
  /** Whether it was moved or copied; false if both paths are the same, or an equal file was there. */
  readonly isDone: boolean;
  /** Whether a file was replaced, if the profile has that in its answers. */
  readonly replaced?: true;
  /** Whether it is a link that has lost its target, if the profile has that in its answers. */
  readonly dangling?: true;
  /** The path that links above the new path lead to, if the profile has that in its answers. */
  readonly linked_to?: string;
}

/** Moves or copies one entry. */
export async function transferOne(
  { expected_revision: expected, ...paths }: Spec,
  context: CoderContext,
  verb: Verb,
): Promise<Transferred> {
  const { names_replaced: namesReplaced, names_links: namesLinks } = context.profile;
  const { jail } = context.tree;
  let replaced = {};
  const onReplace = () => {
    if (namesReplaced) replaced = { replaced: true };
  };
  const linkMayLeadAnywhere = context.profile.links_lead_anywhere;
  const options = { expectedRevision: expected, linkMayLeadAnywhere, onReplace };
  const skipsEqual = context.profile.skips_equal_writes;
  const transfer = () => verb(context.tree, { ...paths, ...options, skipsEqual }, context);
  const work = () => explainMissingFolder(transfer, { path: paths.to, parents: paths.parents }, context);
  const mayLoseTarget = namesLinks && isLinkToSomething(jail, paths.from);
  const isDone = await expecting(work, { path: paths.from, expected }, context);
  const isDangling = isDone && mayLoseTarget && !isLinkToSomething(jail, paths.to);
  const missing = { lastLink: "bare", mayBeMissing: true, parents: true } as const;
  const linked = namesLinks && isDone ? linkedPath(jail, paths.to, missing) : undefined;
  return {
    isDone,
    ...replaced,
    ...(isDangling && { dangling: true }),
    ...(linked !== undefined && { linked_to: linked }),
  };
}

/** Returns the current revision of a file, if the entry has its expected one. */
export const revisionLeft = ({ expected_revision: revision }: Spec): { revision?: string } =>
  revision === undefined ? {} : { revision };
