import { type Static, Type } from "@sinclair/typebox";
import { renderAuthor } from "../base/author.ts";
import { unlessOver } from "../base/scheduling/deadline.ts";
import type { Steps } from "../base/scheduling/time-slice.ts";
import { UInt32, UInt64 } from "../base/schema/fragments.ts";
import type { Wording } from "../calls/contract/wording.ts";
import { type FeedChange, visiblePart } from "../filesystem/feed/change.ts";
import type { Jail } from "../filesystem/jail/folder.ts";
import { oldestKept, readRecords } from "../filesystem/journal/read-record.ts";
import { requestedEncoding } from "../text/encodings/requested-encoding.ts";
import { IgnoredPaths } from "./changes/ignored.ts";
import { parsePosition, renderPosition } from "./changes/position.ts";
import { type Selection, selects } from "./changes/selection.ts";
import { changeFields, describeChange, type WireChange } from "./changes/wire.ts";
import { By, requireOwnAuthor } from "./checkpoints/authors.ts";
import { requestedPath } from "./checkpoints/recorded-paths.ts";
import { refuseCoder } from "./coder-errors.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { FileEncoding } from "./fields/file-encoding.ts";
import { diffBytes, NetChange, netAnswers, netPageOf, renderNet } from "./net-view/answer.ts";
import type { NetDifference } from "./net-view/file-diff.ts";
import { ImagesField } from "./net-view/images.ts";
import { findNetChanges, type Since } from "./net-view/net.ts";
import { renderName } from "./render/entry-text.ts";
import { renderEach } from "./render/lines.ts";
import { pauseOf } from "./services/pause.ts";

const request = Type.Object(
  {
    answer: Type.Optional(
      Type.Union(
        netAnswers.map((form) => Type.Literal(form)),
        {
          description:
            "Not each change, but each path once, as it differs now: by name, with lines added and removed, or with a diff.",
        },
      ),
    ),
    by: By(),
    checkpoint: Type.Optional(Type.Integer({ format: "uint64", minimum: 1 })),
    cursor: Type.Optional(
      Type.String({
        isRare: true,
        description: "From the answer before, with the other fields unchanged.",
      }),
    ),
    encoding: FileEncoding(),
    images: ImagesField,
    limit: UInt32({ default: 1000, isRare: true, description: "Maximum changes in an answer." }),
    max_diff_bytes: Type.Optional(
      UInt32({
        isRare: true,
        description:
          "Maximum bytes of all diffs and images together. Default 65536; at most a quarter of `max_answer_bytes`.",
      }),
    ),
    net: Type.Optional(Type.Boolean({ isRare: true, description: "Each path once, by name." })),
    path: Type.Optional(Type.String({ description: "Only changes of this path or below it." })),
    since: Type.Optional(
      Type.String({
        description:
          "The position that the answer before ended with. Without it: no changes, only the position; in a session of MCP, with the profile `agent`, all since that began.",
      }),
    ),
  },
  { title: "ChangesInput" },
);

/** The calls that changes of other programs may be known from: this one, or an earlier one. */
const externalStarts = ["this call", "first call", "first command"] as const;

const response = Type.Object(
  {
    changes: Type.Array(Type.Object(changeFields, { $id: "Change" })),
    net: Type.Optional(
      Type.Array(NetChange, {
        description: "With `net`, `answer`, `by` or `checkpoint`, instead of `changes`.",
      }),
    ),
    ignored: Type.Optional(
      UInt64({
        description:
          "Number of changed paths without a checkpoint that ignore files name, or in .git; not in `net`.",
      }),
    ),
    next_cursor: Type.Optional(Type.String({ description: "Where the next page of `net` begins." })),
    external: Type.Boolean({
      description: "Whether changes by other programs are reported too, in all roots.",
    }),
    external_since: Type.Optional(
      Type.Union(
        externalStarts.map((start) => Type.Literal(start)),
        {
          description: "Changes by other programs are known from then on only, and earlier ones are missing.",
        },
      ),
    ),
    more: Type.Optional(Type.Literal(true, { description: "There are more changes already." })),
    next: Type.String({ description: "Send it as `since` for what comes after." }),
    note: Type.Optional(Type.String({ description: "What to do about an overflow." })),
    overflow: Type.Boolean({ description: "Some changes are not known." }),
    since_session: Type.Optional(
      Type.Boolean({ description: "The changes are those since the MCP session began." }),
    ),
    unreported_roots: Type.Optional(
      Type.Array(Type.String(), {
        description: "Those of several roots in which changes by other programs are not reported.",
      }),
    ),
    unwatched_folders: Type.Optional(
      UInt32({ description: "Folders in which changes by other programs are not reported." }),
    ),
  },
  { title: "ChangesOutput" },
);

type Answer = Static<typeof response>;

/** Returns the advice after changes that are not known, at any path or in these roots alone. */
function noteOverflow(roots: readonly string[]): string {
  const [where, what] =
    roots.length === 0 || roots.includes(".") ? ["", "the tree"] : [` in ${roots.join(", ")}`, "that"];
  return `Some changes${where} are not known: read again what you hold of ${what}, and go on with next; anything may be different.`;
}

/** `coder::changes`: what has changed, by calls and by other programs (coder §25). */
export const changes = defineCoderFunction({
  id: "coder::changes",
  since: "0.4.0",
  description:
    "What has changed since an earlier call, in order: by calls, and by other programs where the tree can be watched. The first call, without `since`, answers where to begin.",
  summary: "what changed since an earlier call, and who changed it",
  brief:
    "Changes in order since an earlier call (`since`) or the session start; `answer`, `by`, `checkpoint`: what differs.",
  effect: "reads",
  paths: [],
  takesScope: true,
  isIdempotent: true,
  request,
  response,
  examples: [
    { title: "Begin now", request: {} },
    { title: "What came after that", request: { since: "5f0c1a2b3c4d:17", path: "src" } },
  ],
  answerBytes: ({ since }) => (since === undefined ? 0 : defaultAnswerBytes),
  async handle(request, context) {
    const { since, limit, path } = request;
    const { feed, deadline } = context;
    const isFirst = feed.baseline === undefined;
    const newest = await unlessOver(feed.newest(), deadline);
    if (newest === undefined) throw deadline.signal.reason;
    if (isNet(request)) return await netAnswer(request, { newest, isFirst }, context);
    const start = since ?? (context.profile["changes.from_session"] ? context.began : undefined);
    const from = start === undefined ? newest : parsePosition(start, feed);
    const selection = {
      path: path === undefined ? "" : requestedPath(path, context),
      include: undefined,
      exclude: undefined,
      globs: undefined,
      kinds: undefined,
    };
    const page = await pageOf({ from: from ?? newest, newest, limit, selection }, context);
    const gaps = page.changes.filter((change) => change.overflow).map((change) => change.path);
    const overflow = from === undefined || gaps.length > 0;
    const { unwatchedFolders: unwatched } = feed;
    return {
      changes: page.changes,
      external: feed.reportsExternal,
      ...((from ?? newest) < newest && page.next < newest && { more: true as const }),
      next: renderPosition(feed.epoch, page.next),
      ...(overflow && { note: noteOverflow(from === undefined ? [] : [...new Set(gaps)]) }),
      overflow,
      ...(since === undefined && start !== undefined && { since_session: true }),
      ...(since === undefined && start !== undefined && externalSince(from, isFirst, feed)),
      ...unreportedIn(context),
      ...(unwatched > 0 && { unwatched_folders: unwatched }),
    };
  },
  render: renderChanges,
});

type Request = Static<typeof request>;

function unreportedIn({ feed, jail }: CoderContext): { unreported_roots?: string[] } {
  const roots = feed.unreportedRoots.filter((name) => jail.scope?.leadsInside(name) ?? true);
  return jail.hasTop && roots.length > 0 ? { unreported_roots: roots } : {};
}

/** Returns whether each path is answered once, with its net change. */
const isNet = ({ net, answer, by, checkpoint }: Partial<Request>): boolean =>
  net ?? (answer !== undefined || by !== undefined || checkpoint !== undefined);

/**
 * Returns from when on changes of other programs are known, if the answer begins before that. A position that
 * an answer ended with is never before it.
 */
function externalSince(
  from: number | undefined,
  isFirst: boolean,
  { baseline, reportsExternal }: Pick<CoderContext["feed"], "baseline" | "reportsExternal">,
): Pick<Answer, "external_since"> {
  if (baseline === undefined || !reportsExternal || (from ?? 0) > baseline.seq) return {};
  if (isFirst) return { external_since: "this call" };
  return { external_since: baseline.isCommand ? "first command" : "first call" };
}

/** The feed when a call began to read it. */
interface FeedThen {
  readonly newest: number;
  /** Whether the call is the first reader. */
  readonly isFirst: boolean;
}

async function netAnswer(
  request: Request,
  { newest, isFirst }: FeedThen,
  context: CoderContext,
): Promise<Answer> {
  const { answer: form = "names", by, cursor, limit, path, max_diff_bytes: maxBytes } = request;
  const { feed } = context;
  requireOwnAuthor(by, context);
  await requireCheckpoint(request.checkpoint, context);
  const place = startOf(request, newest, context);
  const wanted = path === undefined ? "" : requestedPath(path, context);
  const isBelow = (one: string) => wanted === "" || one === wanted || one.startsWith(`${wanted}/`);
  const ignored = new IgnoredPaths(context);
  const isHidden = (one: string, isFolder: boolean) =>
    /(?:^|\/)\.git(?:\/|$)/.test(one) || ignored.has(one, isFolder);
  let ignoredPaths = 0;
  const isSelected = ({ path: now, from = now, seqs, after }: NetDifference) => {
    if (!isBelow(now) && !isBelow(from)) return false;
    const isCounted = seqs.length === 0 && isHidden(now, after.state.kind === "dir");
    if (isCounted) ignoredPaths++;
    return !isCounted;
  };
  const page =
    place === undefined
      ? { net: [] }
      : await netPageOf(
          await findNetChanges(place, context, isHidden),
          {
            ...{ form, by, limit, after: cursor, isSelected },
            maxBytes: diffBytes(maxBytes, context),
            withImages: request.images === true,
            encoding: requestedEncoding(request.encoding),
          },
          context,
        );
  const note = lossOf(place, request, context);
  return {
    changes: [],
    external: feed.reportsExternal,
    next: renderPosition(feed.epoch, newest),
    ...(note !== undefined && { note }),
    overflow: note !== undefined,
    ...(request.since === undefined && by !== "me" && externalSince(place?.from, isFirst, feed)),
    ...unreportedIn(context),
    ...page,
    ...(ignoredPaths > 0 && { ignored: ignoredPaths }),
  };
}

/** Throws bad-input for a number that no checkpoint has had yet. */
async function requireCheckpoint(checkpoint: number | undefined, context: CoderContext): Promise<void> {
  if (checkpoint === undefined || context.journal === undefined) return;
  let newest = 0;
  for await (const { seq } of readRecords(context.journal, { pause: pauseOf(context) })) {
    newest = seq;
    break;
  }
  if (checkpoint > newest) throw refuseCoder.undoNothing(`checkpoint ${checkpoint}`);
}

/** Returns a note if changes since a place are missing from the answer. */
function lossOf(place: Start | undefined, { since }: Request, { journal }: CoderContext): string | undefined {
  if (place === undefined)
    return since === undefined
      ? "What changed since the session began is not known. Send `checkpoint` for what calls have changed."
      : "What changed since then is not known. Send `checkpoint` in place of `since`.";
  const oldest = journal === undefined ? 1 : oldestKept(journal);
  const isDropped = place.checkpoint + 1 < oldest;
  const notes = [
    isDropped &&
      `The journal no longer has the checkpoints before #${oldest}: what they changed is missing here, or shown without what it was before.`,
    place.gaps.length > 0 &&
      "Some changes by commands and other programs since then are not known, and missing here.",
  ].filter((note) => note !== false);
  return notes.length === 0 ? undefined : notes.join(" ");
}

interface Start extends Since {
  /** The number of a change of the feed about then, or of the last one before it. */
  readonly from: number;
}

/** Returns where net changes begin; `undefined` if the feed no longer knows. Throws a refusal. */
function startOf(
  { since, checkpoint }: Request,
  newest: number,
  { feed, jail, journal, profile, began }: CoderContext,
): Start | undefined {
  if (since !== undefined && checkpoint !== undefined) throw refuseCoder.twoStarts();
  const start = since ?? (profile["changes.from_session"] && checkpoint === undefined ? began : undefined);
  const events: FeedChange[] = [];
  const add = (seq: number) => {
    const event = partInScope(feed.at(seq), jail);
    if (event !== undefined) events.push(event);
  };
  if (start === undefined) {
    const last = checkpoint ?? 0;
    let first = newest;
    while (feed.follows(first - 1) && !isUpTo(feed.at(first), last)) first--;
    for (let seq = first + 1; seq <= newest; seq++) add(seq);
    const isDropped = first > 0 && !feed.follows(first - 1);
    // Without a number, the answer begins before the oldest record.
    const oldest = last === 0 && journal !== undefined ? oldestKept(journal) : undefined;
    const isOldest = ({ cause }: FeedChange) =>
      oldest !== undefined && cause.by === "call" && cause.checkpoint === oldest;
    const from = events.find(isOldest)?.seq ?? first;
    return { checkpoint: last, events, from, gaps: isDropped ? ["."] : gapsIn(events) };
  }
  const from = parsePosition(start, feed);
  if (from === undefined) return undefined;
  for (let seq = from + 1; seq <= newest; seq++) add(seq);
  const numbers = events.flatMap(({ cause }) => (cause.by === "call" ? (cause.checkpoint ?? []) : []));
  const last = numbers.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...numbers) - 1;
  return { checkpoint: last, events, from, gaps: gapsIn(events) };
}

const gapsIn = (events: readonly FeedChange[]): string[] => [
  ...new Set(events.flatMap(({ isGap, path }) => (isGap ? path : []))),
];

const isUpTo = ({ cause }: FeedChange, checkpoint: number): boolean =>
  cause.by === "call" && cause.checkpoint !== undefined && cause.checkpoint <= checkpoint;

/** The estimated bytes of some hundred changes as JSON. */
const defaultAnswerBytes = 64 * 1024;

interface Page {
  readonly from: number;
  readonly newest: number;
  readonly limit: number;
  readonly selection: Selection;
}

/**
 * Returns the selected changes after `from`, as many as fit into an answer, and the number of the last change
 * considered.
 */
async function pageOf(
  { from, newest, limit, selection }: Page,
  context: CoderContext,
): Promise<{ changes: WireChange[]; next: number }> {
  const { feed, jail, maxAnswerBytes, author, profile } = context;
  const ignored = new IgnoredPaths(context);
  const found: WireChange[] = [];
  const pause = pauseOf(context);
  // The feed may drop some during a pause.
  const events = Array.from({ length: newest - from }, (_, index) => feed.at(from + index + 1));
  let room = maxAnswerBytes / 2;
  let next = from;
  for (; next < newest && found.length < limit; next++) {
    await pause();
    const change = partInScope(events[next - from]!, jail);
    if (change === undefined || !selects(selection, change)) continue;
    const isIgnored = ignored.has(change.path, change.isFolder);
    const described = describeChange(change, {
      epoch: feed.epoch,
      isIgnored,
      hasRoots: jail.hasTop,
      reader: author,
      hasAuthors: profile.authors,
    });
    room -= Buffer.byteLength(JSON.stringify(described));
    if (room < 0 && found.length > 0) break;
    found.push(described);
  }
  return { changes: found, next };
}

/**
 * Returns the part of a change that the call may know of. A moved or removed folder above the scope affects
 * the scope too.
 */
function partInScope(change: FeedChange, { scope }: Pick<Jail, "scope">): FeedChange | undefined {
  if (scope === undefined || (change.isGap && change.path === ".")) return change;
  if (change.isGap) return scope.leadsInside(change.path) ? change : undefined;
  const takesAlong = change.isFolder && change.kind !== "modified";
  return visiblePart(change, (path) => (takesAlong ? scope.leadsInside(path) : scope.contains(path)));
}

/**
 * Renders the function, and the author if it is not the reader. While a command runs, its changes cannot be
 * distinguished from those of other programs.
 */
function renderCause(
  { by, function_id: id = "call", program, author, commands, mine: isMine }: WireChange["cause"],
  sentence: Wording["sentence"],
): string {
  if (by === "external") return " (by another program)";
  if (commands !== undefined) return ` (while ${renderCommands(commands, isMine === true, sentence)} ran)`;
  const what = program === undefined ? sentence(id) : `while ${sentence(id)} ${program} ran`;
  if (author === undefined || isMine) return ` (${what})`;
  if (id === "shell::exec_bg") return ` (${what}, which ${renderAuthor(author)} started)`;
  return ` (${what}${program === undefined ? "" : ","} by ${renderAuthor(author)})`;
}

function renderCommands(
  commands: NonNullable<WireChange["cause"]["commands"]>,
  isMine: boolean,
  sentence: Wording["sentence"],
): string {
  const named = commands.map(({ function_id: id = "call", program = "", author }) => {
    const what = sentence(`${id} ${program}`);
    return author === undefined || isMine ? what : `${what} of ${renderAuthor(author)}`;
  });
  return `${named.slice(0, -1).join(", ")} and ${named.at(-1)}`;
}

const fromNow = "[changes are listed from now on; coder::checkpoints lists those made by earlier calls]";

/** The calls that changes of other programs are known from, in words. */
const externalStart: Readonly<Record<(typeof externalStarts)[number], string>> = {
  "this call": "this call",
  "first call": "the first call of coder::changes",
  "first command": "the first command",
};

/** Says which changes the answer covers, if the reader may expect more. */
function renderStart({ since_session: isSession, external_since: start }: Answer): string[] {
  const session = isSession ? ["since this session began"] : [];
  const known = start && `changes of other programs are known only from ${externalStart[start]} on`;
  const parts = known === undefined ? session : [...session, known];
  return parts.length === 0 ? [] : [`[${parts.join("; ")}]`];
}

/** Changes in one repository, by the same cause. */
interface RepositoryChanges extends Pick<WireChange, "path" | "cause"> {
  readonly files: number;
}

/** Minimum number of changes in a repository to be counted. */
const minGrouped = 3;

/** Changes that are grouped in one step. */
const changesPerStep = 256;

/** Replaces at least three changes of one cause in a `.git` folder by their number. */
function* groupRepositories(changes: readonly WireChange[]): Steps<(WireChange | RepositoryChanges)[]> {
  const groups = new Map<string, WireChange[]>();
  const groupOf = new Map<WireChange, readonly WireChange[]>();
  for (const [index, change] of changes.entries()) {
    if (index % changesPerStep === changesPerStep - 1) yield;
    const key = repositoryKeyOf(change);
    if (key === undefined) continue;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    groupOf.set(change, group);
    group.push(change);
  }
  return changes.flatMap((change): (WireChange | RepositoryChanges)[] => {
    const group = groupOf.get(change);
    if (group === undefined || group.length < minGrouped) return [change];
    if (change !== group[0]) return [];
    return [{ path: repositoryOf(change.path)!, files: group.length, cause: change.cause }];
  });
}

const repositoryOf = (path: string): string | undefined => /^(?:.*?\/)?\.git(?=\/)/.exec(path)?.[0];

function repositoryKeyOf({ path, cause }: WireChange): string | undefined {
  const repository = repositoryOf(path);
  return repository && `${repository}\n${JSON.stringify(cause)}`;
}

function* renderChanges(answer: Answer, { sentence }: Wording, request: Partial<Request>): Steps<string> {
  const { changes: found, next, note, external, net, next_cursor: cursor, ignored, overflow } = answer;
  const { since_session: isSession = false, more: hasMore, unreported_roots: unreported = [] } = answer;
  const { since, answer: form = "names" } = request;
  const inRoots = unreported.length === 0 ? "" : ` in ${unreported.map((root) => `${root}/`).join(", ")}`;
  const start = renderStart(answer).map(sentence);
  if (net !== undefined)
    return [
      ...(net.length === 0
        ? [overflow ? "[nothing is known to differ]" : "[nothing differs]"]
        : yield* renderNet(net, form, sentence)),
      ...start,
      ...(cursor === undefined
        ? []
        : [`[there is more; go on with the same call and "cursor": ${JSON.stringify(cursor)}]`]),
      ...(ignored === undefined ? [] : [`[not listed: ${ignored} in .git or ignored, without a checkpoint]`]),
      ...(note === undefined ? [] : [`[${note}]`]),
      ...(external ? [] : [`[changes of other programs are not known${inRoots}]`]),
    ].join("\n");
  const lines = yield* renderEach(yield* groupRepositories(found), (change) => {
    if ("files" in change)
      return `changed: ${renderName(change.path)}, ${change.files} entries${renderCause(change.cause, sentence)}`;
    const { kind, path, from, dir, cause, overflow: isUnknown } = change;
    const mark = dir ? "/" : "";
    if (isUnknown && kind === "modified") return `unknown changes: ${renderName(path)}/`;
    const what = from === undefined ? "" : `${renderName(from)}${mark} to `;
    return `${kind}: ${what}${renderName(path)}${mark}${renderCause(cause, sentence)}`;
  });
  const none = overflow ? "[no changes are known]" : "[no changes]";
  const from = since == null && !isSession ? [sentence(fromNow)] : [none];
  return [
    ...(found.length === 0 ? from : lines),
    ...start,
    ...(note === undefined ? [] : [`[${note}]`]),
    ...(external ? [] : [`[changes of other programs are not reported${inRoots}]`]),
    hasMore ? `[there are more; go on with since ${next}]` : `[since ${next} for what comes after]`,
  ].join("\n");
}
