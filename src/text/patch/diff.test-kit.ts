/** Writes patches from known changes, without comparing anything. */
import fc from "fast-check";

/** Lines with their endings; the last may have none. */
type Lines = readonly string[];

/** Lines that stay, or lines that others replace. */
type Part = { readonly kept: Lines } | { readonly removed: Lines; readonly added: Lines };

/** A file before and after. */
export interface FilePair {
  readonly parts: readonly Part[];
  readonly before: string;
  readonly after: string;
}

interface Alphabet {
  readonly contents: readonly string[];
  readonly endings: readonly string[];
}

/** Few contents, so that lines repeat often. Bytes are written as Latin-1. */
const anyBytes: Alphabet = {
  contents: [
    "",
    "a",
    "b",
    " a",
    "a ",
    "\ta",
    "-a",
    "+",
    "@@",
    "--- x",
    "*** End Patch",
    "\\",
    "\xe9\xff",
    "\xef\xbb\xbfa",
  ],
  endings: ["\n", "\r\n"],
};

/** Generates random changes of random files. Both versions may lack the final newline. */
export const filePairs = (alphabet: Alphabet = anyBytes): fc.Arbitrary<FilePair> =>
  fc
    .tuple(fc.array(partOf(alphabet), { maxLength: 9 }), fc.boolean(), fc.boolean())
    .map(([parts, isOpen, isOpenAfter]) => pairOf(parts, isOpen, isOpenAfter));

function partOf({ contents, endings }: Alphabet): fc.Arbitrary<Part> {
  const line = fc
    .tuple(fc.constantFrom(...contents), fc.constantFrom(...endings))
    .map((pair) => pair.join(""));
  const lines = (maxLength: number) => fc.array(line, { maxLength });
  return fc.oneof(
    lines(8).map((kept) => ({ kept })),
    fc.record({ removed: lines(3), added: lines(3) }),
  );
}

function pairOf(parts: readonly Part[], isOpen: boolean, isOpenAfter: boolean): FilePair {
  const [old, now] = [parts.flatMap(oldLines), parts.flatMap(newLines)];
  const last = parts.at(-1);
  // A line that stays keeps its ending.
  const isClosable = last !== undefined && "kept" in last;
  const before = isOpen && !isClosable ? withoutEnding(old) : old;
  const after = isOpenAfter && !isClosable ? withoutEnding(now) : now;
  return { parts: reopened(parts, before, after), before: before.join(""), after: after.join("") };
}

const oldLines = (part: Part): Lines => ("kept" in part ? part.kept : part.removed);
const newLines = (part: Part): Lines => ("kept" in part ? part.kept : part.added);

const withoutEnding = (lines: Lines): Lines => {
  const last = lines.at(-1)?.replace(/\r?\n$/, "") ?? "";
  return last === "" ? lines : [...lines.slice(0, -1), last];
};

/** Returns the parts with the current lines. A line whose ending changes is replaced by itself. */
function reopened(parts: readonly Part[], before: Lines, after: Lines): Part[] {
  let [old, now] = [0, 0];
  return parts.flatMap((part): Part[] => {
    const removed = before.slice(old, old + oldLines(part).length);
    const added = after.slice(now, now + newLines(part).length);
    [old, now] = [old + removed.length, now + added.length];
    if (!("kept" in part)) return [{ removed, added }];
    const same = removed.findIndex((line, at) => line !== added[at]);
    if (same < 0) return [{ kept: removed }];
    return [{ kept: removed.slice(0, same) }, { removed: removed.slice(same), added: added.slice(same) }];
  });
}

/** One line of a diff, and its place in both files. */
interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly line: string;
  readonly old: number;
  readonly now: number;
}

function diffLines({ parts }: FilePair): DiffLine[] {
  const lines: DiffLine[] = [];
  let [old, now] = [0, 0];
  for (const part of parts) {
    if ("kept" in part) for (const line of part.kept) lines.push({ sign: " ", line, old: old++, now: now++ });
    else {
      for (const line of part.removed) lines.push({ sign: "-", line, old: old++, now });
      for (const line of part.added) lines.push({ sign: "+", line, old, now: now++ });
    }
  }
  return lines;
}

/** Returns runs of changed lines, with up to `context` lines around each; runs that meet are one. */
function hunksOf(pair: FilePair, context: number): DiffLine[][] {
  const lines = diffLines(pair);
  const hunks: DiffLine[][] = [];
  let end = -1;
  for (const [at, { sign }] of lines.entries()) {
    if (sign === " ") continue;
    const from = Math.max(at - context, end, 0);
    if (from > end || hunks.length === 0) hunks.push([]);
    end = Math.min(lines.length, at + context + 1);
    const hunk = hunks.at(-1)!;
    const first = hunk.length === 0 ? from : lines.indexOf(hunk.at(-1)!) + 1;
    hunk.push(...lines.slice(first, end));
  }
  return hunks;
}

const openMark = "\\ No newline at end of file\n";

const renderLine = ({ sign, line }: DiffLine): string =>
  line.endsWith("\n") ? sign + line : `${sign}${line}\n${openMark}`;

/** Renders hunks like `diff -U` does, without the file names. */
export function unifiedHunks(pair: FilePair, context: number): string {
  return hunksOf(pair, context)
    .map((hunk) => {
      const [first] = hunk;
      const old = hunk.filter(({ sign }) => sign !== "+").length;
      const now = hunk.filter(({ sign }) => sign !== "-").length;
      const range = (start: number, count: number) => `${count === 0 ? start : start + 1},${count}`;
      return `@@ -${range(first!.old, old)} +${range(first!.now, now)} @@\n${hunk.map(renderLine).join("")}`;
    })
    .join("");
}

/** Renders a hunk of V4A that shows the whole file, which has one place in any case. */
export const v4aHunk = (pair: FilePair): string =>
  diffLines(pair)
    .map(({ sign, line }) => `${sign}${line.replace(/\r?\n$/, "")}\n`)
    .join("");

/** Renders hunks of V4A with some context. */
export const v4aHunks = (pair: FilePair, context: number): string =>
  hunksOf(pair, context)
    .map((hunk) => `@@\n${hunk.map(({ sign, line }) => `${sign}${line.replace(/\r?\n$/, "")}\n`).join("")}`)
    .join("");
