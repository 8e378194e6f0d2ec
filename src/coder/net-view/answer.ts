/** Net changes in an answer: their fields, pages and text (coder §25). */
import { type Static, Type } from "@sinclair/typebox";
import { type Author, isSameAuthor, renderAuthor } from "../../base/author.ts";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { Named, UInt64 } from "../../base/schema/fragments.ts";
import type { Wording } from "../../calls/contract/wording.ts";
import { type Cause, commandsIn } from "../../filesystem/feed/change.ts";
import type { Encoding } from "../../text/encodings/codec.ts";
import { isBesideJobs } from "../changes/runners.ts";
import type { By } from "../checkpoints/authors.ts";
import type { CoderContext } from "../define.ts";
import { renderName } from "../render/entry-text.ts";
import { renderEach } from "../render/lines.ts";
import { compare, type NetDifference } from "./file-diff.ts";
import { maxFilesBelow } from "./files-below.ts";
import { ComparedImages, imagesOf, lengthOf, tooLargeToShow } from "./images.ts";
import { type NetChanges, placeOf } from "./net.ts";

export const netAnswers = ["names", "stat", "diff"] as const;
export type NetAnswer = (typeof netAnswers)[number];

export const NetChange = Named("NetChange", {
  added: Type.Optional(UInt64({ description: "Lines." })),
  by: Type.Array(
    Type.String({
      description:
        "`me`, another author, or `another program`, which is named too if only jobs in the background ran.",
    }),
  ),
  checkpoints: Type.Array(UInt64()),
  commands: Type.Optional(
    Type.Array(Type.String(), { description: "Functions whose programs ran while it changed." }),
  ),
  diff: Type.Optional(Type.String({ description: "In git's format, which coder::apply-patch takes." })),
  diff_truncated: Type.Optional(Type.Boolean()),
  edited_by: Type.Optional(
    Type.Array(Type.String(), { description: "With `commands`: those of `by` who changed it without one." }),
  ),
  dir: Type.Optional(Type.Literal(true)),
  files: Type.Optional(UInt64({ description: "Files in the folder that are not listed." })),
  from: Type.Optional(Type.String({ description: "Where it was." })),
  images: Type.Optional(ComparedImages),
  kind: Type.Union((["created", "modified", "deleted", "moved"] as const).map((kind) => Type.Literal(kind))),
  note: Type.Optional(Type.String({ description: "Why there is no diff, or not every file." })),
  path: Type.String(),
  removed: Type.Optional(UInt64({ description: "Lines." })),
  unsure: Type.Optional(
    Type.Literal(true, { description: "It may be unchanged: what it was before is not known." }),
  ),
});
export type NetChange = Static<typeof NetChange>;

/** Default bytes of all diffs in an answer. */
const defaultDiffBytes = 64 * 1024;

/** Returns the bytes of all diffs of an answer. The diffs of a larger one leave no room for the rest. */
export const diffBytes = (requested: number | undefined, { maxAnswerBytes }: CoderContext): number =>
  Math.min(requested ?? defaultDiffBytes, maxAnswerBytes / 4);

/** Maximum checkpoints that are named of one path. */
const maxSeqs = 20;

/** Maximum commands that are named of one path. */
const maxCommands = 5;

interface Page {
  readonly form: NetAnswer;
  readonly by: By;
  readonly limit: number;
  /** The place that the page before ended with. */
  readonly after: string | undefined;
  readonly isSelected: (change: NetDifference) => boolean;
  /** The bytes of all diffs and images. */
  readonly maxBytes: number;
  readonly withImages: boolean;
  /** The encoding of files whose encoding nothing else names. */
  readonly encoding: Encoding | undefined;
}

/** Returns one page of the changes, and the path that it ends with if there are more. */
export async function netPageOf(
  { changes, records, incomplete }: NetChanges,
  { form, by, limit, after, isSelected, maxBytes, withImages, encoding }: Page,
  context: CoderContext,
): Promise<{ net: NetChange[]; next_cursor?: string }> {
  const slice = createTimeSlice();
  const checkTime = () => context.deadline.check();
  const selected: NetDifference[] = [];
  for (const change of changes) {
    await slice.yieldIfDue();
    const authors = authorsOf(change, records, context);
    const isMine = by === "me" ? authors.includes("me") : authors.some((author) => author !== "me");
    if (isSelected(change) && (by === undefined || isMine)) selected.push(change);
  }
  const listing = form === "names" ? foldFolders(selected, incomplete) : leavesOf(selected, incomplete);
  const all = await runInSlices(listing, slice, checkTime);
  // A page begins with entries of folders on pages before it, which represent some of them.
  const listed = after === undefined ? all : all.filter((change) => placeOf(change) > after);
  const net: NetChange[] = [];
  let room = maxBytes;
  for (const [index, change] of listed.entries()) {
    checkTime();
    await slice.yieldIfDue();
    const describing = describe(change, form, { room, withImages, encoding }, context);
    const described = await runInSlices(describing, slice, checkTime);
    if (form !== "names" && incomplete.has(change.path))
      described.note = `only ${maxFilesBelow} of the files in it are listed`;
    const { diff = "", diff_truncated: isTruncated = false, images = {}, note } = described;
    room -= diff.length + lengthOf(images);
    const isCut = isTruncated || note === tooLargeToShow;
    const isFull = net.length === limit || (room < 0 && net.length > 0) || isCut;
    if (isFull && net.length > 0) return { net, next_cursor: placeOf(listed[index - 1]!) };
    if (described.diff !== undefined) noteShown(change, context);
    net.push({
      ...described,
      by: authorsOf(change, records, context),
      ...commandsOf(change, records, context),
      checkpoints: change.seqs.slice(0, maxSeqs),
    });
  }
  return { net };
}

/** Notes that the author has seen what became of a file, if its present revision is known. */
function noteShown({ path, after: { state } }: NetDifference, { shownFiles, author }: CoderContext): void {
  shownFiles.note(author, path, (state.kind === "file" && state.revision) || undefined);
}

type Described = Omit<NetChange, "by" | "checkpoints" | "commands" | "edited_by">;

function* describe(
  change: Listed,
  form: NetAnswer,
  { room, withImages, encoding }: Pick<Page, "encoding" | "withImages"> & { readonly room: number },
  context: CoderContext,
): Steps<Described> {
  const { kind, path, from, before, after, files } = change;
  const isFolder = (after.state.kind === "absent" ? before : after).state.kind === "dir";
  const named = {
    kind,
    path,
    ...(from !== undefined && { from }),
    ...(isFolder && { dir: true as const }),
    ...(files !== undefined && { files }),
    ...(isUnsure(change) && { unsure: true as const }),
  };
  const isReplaced = isFolder && kind === "modified" && change.unknown !== undefined;
  if (form === "names") return isReplaced ? { ...named, note: change.unknown! } : named;
  const maxBytes = form === "diff" ? Math.max(room, 0) : defaultDiffBytes;
  const found = yield* compare(change, { maxBytes, encoding }, context);
  if (found === "a folder") return named;
  if (typeof found === "string") {
    const images = withImages && form === "diff" ? imagesOf(change, Math.max(room, 0)) : undefined;
    return typeof images === "string"
      ? { ...named, note: images }
      : { ...named, note: found, ...(images && { images }) };
  }
  const { diff, added, removed, isTruncated } = found;
  const lines = { ...named, added, removed };
  if (form === "stat") return lines;
  return { ...lines, diff, ...(isTruncated && { diff_truncated: true }) };
}

/** Returns whether an entry may be unchanged: a program may have put it back, or changes are not known. */
const isUnsure = ({ kind, unknown, others, isDoubtful = false }: NetDifference): boolean =>
  isDoubtful || (kind === "modified" && unknown !== undefined && others.length > 0);

/** Returns the commands that took part, such as `shell::exec node`, and who else did. */
function commandsOf(
  { seqs, others }: NetDifference,
  records: NetChanges["records"],
  context: CoderContext,
): Pick<NetChange, "commands" | "edited_by"> {
  const isCommand = (cause: Cause) => commandsIn(cause).length > 0;
  const named = others.flatMap((cause) =>
    commandsIn(cause).map(({ function_id: id, program }) => `${id} ${program}`),
  );
  if (named.length === 0) return {};
  const editors = authorsOf({ seqs, others: others.filter((cause) => !isCommand(cause)) }, records, context);
  return {
    commands: [...new Set(named)].slice(0, maxCommands),
    ...(editors.length > 0 && { edited_by: editors }),
  };
}

const anotherProgram = "another program";

function authorsOf(
  { seqs, others }: Pick<NetDifference, "others" | "seqs">,
  records: NetChanges["records"],
  { author: own }: CoderContext,
): string[] {
  const nameOf = (author: Author | undefined): string =>
    author === undefined || isSameAuthor(own, author) ? "me" : renderAuthor(author);
  const authors = [
    ...seqs.map((seq) => nameOf(records.get(seq)?.author)),
    ...others.flatMap((cause) => {
      if (cause.by === "external") return [anotherProgram];
      const authors = (cause.commands ?? [cause]).map(({ author }) => nameOf(author));
      return isBesideJobs(cause) ? [...authors, anotherProgram] : authors;
    }),
  ];
  return [...new Set(authors)].sort((one) => (one === "me" ? -1 : 1));
}

/** A change as an answer lists it, with the number of files in a folder whose entries are left out. */
type Listed = NetDifference & { readonly files?: number };

/** A change, and the files in its folder that are left out. */
interface Folded {
  readonly change: NetDifference;
  files: number;
}

/**
 * Leaves out the entries of a folder that was created or deleted as a whole, and counts its files. Links,
 * special files and empty folders in a created one stay.
 */
function* foldFolders(
  changes: readonly NetDifference[],
  incomplete: NetChanges["incomplete"],
): Steps<Listed[]> {
  const folders = { created: new Map<string, Folded>(), deleted: new Map<string, Folded>() };
  const filled = yield* filledFolders(changes);
  const folded: Folded[] = [];
  for (const change of changes) {
    yield;
    const { kind, path, before, after } = change;
    const whole = kind === "created" || kind === "deleted" ? folders[kind] : undefined;
    const above = whole && folderAbove(path, whole);
    const whatKind = (kind === "created" ? after : before).state.kind;
    const isFolder = whatKind === "dir";
    const hasContent = isFolder ? filled.created.has(path) : whatKind === "file";
    if (above !== undefined && (kind === "deleted" || hasContent)) {
      above.files += isFolder ? 0 : 1;
      continue;
    }
    const entry = { change, files: 0 };
    if (isFolder) whole?.set(path, entry);
    folded.push(entry);
  }
  return folded.map(({ change, files }) =>
    files && change.unknown === undefined && !incomplete.has(change.path) ? { ...change, files } : change,
  );
}

function folderAbove<T>(path: string, folders: ReadonlyMap<string, T>): T | undefined {
  if (folders.size === 0) return undefined;
  for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
    const folder = folders.get(path.slice(0, slash));
    if (folder !== undefined) return folder;
  }
  return undefined;
}

interface FilledFolders {
  readonly created: ReadonlySet<string>;
  readonly deleted: ReadonlySet<string>;
}

/** Returns the folders above created entries, and those above deleted ones. */
function* filledFolders(changes: readonly NetDifference[]): Steps<FilledFolders> {
  const filled = { created: new Set<string>(), deleted: new Set<string>() };
  for (const { kind, path } of changes) {
    yield;
    if (kind !== "created" && kind !== "deleted") continue;
    const above = filled[kind];
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
      const folder = path.slice(0, slash);
      if (above.has(folder)) break;
      above.add(folder);
    }
  }
  return filled;
}

/** Leaves out created and deleted folders whose contents are listed. */
function* leavesOf(
  changes: readonly NetDifference[],
  incomplete: NetChanges["incomplete"],
): Steps<NetDifference[]> {
  const filled = yield* filledFolders(changes);
  const leaves: NetDifference[] = [];
  for (const change of changes) {
    yield;
    if (isLeaf(change, filled, incomplete)) leaves.push(change);
  }
  return leaves;
}

function isLeaf(
  { kind, path, before, after, unknown }: NetDifference,
  filled: FilledFolders,
  incomplete: NetChanges["incomplete"],
): boolean {
  const isFolder = [before, after].some(({ state }) => state.kind === "dir");
  if (!isFolder || unknown !== undefined || incomplete.has(path)) return true;
  return (kind !== "created" && kind !== "deleted") || !filled[kind].has(path);
}

/** Renders each change as a line, or as several with its patch. */
export const renderNet = (
  net: readonly NetChange[],
  form: NetAnswer,
  sentence: Wording["sentence"],
): Steps<string[]> =>
  renderEach(net, (change) => {
    const { diff = "", diff_truncated: isTruncated, note, dir: isFolder } = change;
    const line = renderLine(change, sentence);
    const isSaid = note !== undefined && (form === "diff" || isFolder);
    const said = isSaid ? [isFolder ? `[${note}]` : `[no diff: ${note}]`] : [];
    if (form !== "diff" || diff === "") return [line, ...said].join("\n");
    return [line, diff.replace(/\n$/, ""), ...(isTruncated ? ["[more of it is not shown]"] : [])].join("\n");
  });

function renderLine(change: NetChange, sentence: Wording["sentence"]): string {
  const { kind, path, from, dir, files, added, removed, unsure } = change;
  const mark = dir ? "/" : "";
  const was = from === undefined ? "" : `${renderName(from)}${mark} to `;
  const counts = added === undefined || dir ? "" : ` +${added} -${removed}`;
  const inside = files === undefined ? "" : `, ${files} ${files === 1 ? "file" : "files"}`;
  const whose = renderWhose(change, sentence);
  const authors = whose === "" ? "" : ` (${whose})`;
  const perhaps = unsure ? "perhaps " : "";
  return `${perhaps}${kind}: ${was}${renderName(path)}${mark}${counts}${inside}${authors}`;
}

/** Renders who took part; nothing if only calls of the reader did. */
function renderWhose(
  { by, commands = [], edited_by: editors = commands.length === 0 ? by : [] }: NetChange,
  sentence: Wording["sentence"],
): string {
  const named = (authors: readonly string[]) =>
    authors.map((author) => (author === "me" ? "you" : author)).join(", ");
  const byEditors = editors.length === 0 ? "" : `by ${named(editors)}`;
  if (commands.length === 0) return by.some((author) => author !== "me") ? byEditors : "";
  const ran = `while ${sentence(commands.join(", "))} ran`;
  const rest = by.filter((author) => !editors.includes(author));
  const runners = rest.filter((author) => author !== anotherProgram);
  const isOnlyMine = [...editors, ...runners].every((author) => author === "me");
  const byRunners = isOnlyMine || runners.length === 0 ? "" : `, by ${named(runners)}`;
  const perhaps = runners.length < rest.length ? ", perhaps by another program" : "";
  return `${byEditors === "" ? "" : `${byEditors}, and `}${ran}${byRunners}${perhaps}`;
}
