import { quoteShort, Refusal } from "../../base/errors.ts";
import { describeMiss, listLines, missDetails } from "../edits/describe-miss.ts";
import type { Difference } from "../edits/differences.ts";
import type { Candidate, ExplainedMiss } from "../edits/explain-miss.ts";
import type { Matching } from "./matching.ts";

/**
 * The place of a hunk: its file and number, and its lines in the patch. Numbers count from 1, and the last
 * line is included.
 */
export interface HunkReference {
  readonly path: string;
  readonly number: number;
  readonly lines: readonly [number, number];
}

/** A line of a patch, numbered from 1, and its text. */
interface PatchLine {
  readonly line: number;
  readonly text: string;
}

const nameHunk = ({ path, number, lines: [from, to] }: HunkReference): string =>
  `Hunk ${number} of ${quoteShort(path)} (lines ${from} to ${to} of the patch)`;

const factsOf = ({ number, lines }: HunkReference) => ({ hunk: number, patch_lines: lines });

/** The places of a hunk that fits in several: how many they are, and the first of them. */
interface AmbiguousPlaces {
  readonly count: number;
  readonly matching: Matching;
  readonly candidates: readonly Candidate[];
}

/** The differences that the looser ways of matching ignore, in words and on the wire. */
const looseness: { readonly [Way in Matching]?: readonly [words: string, differs: Difference] } = {
  "trailing-blanks": ["blanks at the ends of lines", "trailing-space"],
  blanks: ["blanks at both ends of its lines", "indent"],
  typography: ["typographic characters, and blanks at the ends of lines,", "unicode-quotes"],
};

export const refusePatch = {
  noPatch: (isOneLine: boolean): Refusal =>
    new Refusal(
      "bad-input",
      isOneLine
        ? "The patch is one line in which line breaks are written as \\n, so no file header is found; send it with real line breaks."
        : 'The patch names no file; send one that begins with "*** Begin Patch" and has "*** Update File: path" lines, or a unified diff with "--- a/path" and "+++ b/path".',
    ),

  wrongFormat: (format: string): Refusal =>
    new Refusal(
      "bad-input",
      `The patch names no file in the format ${format}; send what that format wants, or "format": "auto".`,
    ),

  manyHunks: (count: number, limit: number): Refusal =>
    new Refusal(
      "bad-input",
      `${count} lines of the patch begin with @@, and one call takes at most ${limit}. Nothing was changed. Send its hunks in several calls.`,
    ),

  cutOff: (): Refusal =>
    new Refusal(
      "bad-input",
      'The patch has "*** Begin Patch" but no "*** End Patch" after it, so its end may be missing. Send the whole patch.',
    ),

  badLine: ({ line, text }: PatchLine, wanted: string): Refusal =>
    new Refusal(
      "bad-input",
      `Line ${line} of the patch, ${quoteShort(text.slice(0, 120))}, is not valid there: ${wanted}. Nothing was changed.`,
      undefined,
      { details: { patch_line: line } },
    ),

  /** Refuses a line that names files, or a place in one, and is longer than any such line. */
  longHeader: ({ line, text }: PatchLine, bytes: number, limit: number): Refusal =>
    new Refusal(
      "bad-input",
      `Line ${line} of the patch, ${quoteShort(text.slice(0, 120))}, is ${bytes} bytes long, and a line that names a file or follows "@@" may have ${limit}. Nothing was changed. Send a shorter beginning of that line.`,
      undefined,
      { details: { patch_line: line } },
    ),

  noFileName: ({ line, text }: PatchLine): Refusal =>
    new Refusal(
      "bad-input",
      `Line ${line} of the patch, ${quoteShort(text.slice(0, 120))}, does not name a file. Put the path after the colon, or after "--- a/" and "+++ b/".`,
    ),

  twoNames: ({ line, text }: PatchLine, [old, now]: readonly [string, string]): Refusal =>
    new Refusal(
      "bad-input",
      `Line ${line} of the patch, ${quoteShort(text.slice(0, 120))}, is about ${quoteShort(old)} and ${quoteShort(now)}; send one name in both lines, or git's "rename from" and "rename to" to move the file.`,
    ),

  irreversible: ({ line, text }: PatchLine, what: string): Refusal =>
    new Refusal(
      "bad-input",
      `Line ${line} of the patch, ${quoteShort(text.slice(0, 120))}, is about ${what}, which "reverse": true cannot undo. Leave that file out, and change it with coder::transact. Nothing was changed.`,
    ),

  tooFewParts: ({ line, text }: PatchLine, parts: number): Refusal =>
    new Refusal(
      "bad-input",
      `Line ${line} of the patch, ${quoteShort(text.slice(0, 120))}, names a file from which ${parts} leading parts cannot be removed; send a smaller \`strip\`, or leave it out. Nothing was changed.`,
    ),

  /** Refuses a header whose line `found` contradicts its first line. `wanted` may be empty. */
  contradiction: ({ line, text }: PatchLine, what: string, found: string, wanted: string): Refusal =>
    new Refusal(
      "bad-input",
      `Line ${line} of the patch, ${quoteShort(text.slice(0, 120))}, is about ${what}, and a line below it is ${quoteShort(found.slice(0, 120))}. Send ${wanted === "" ? "the same name in both" : `${quoteShort(wanted)} there`}. Nothing was changed.`,
    ),

  emptyFilePatch: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `The patch names ${quoteShort(path)} and changes nothing in it; send its hunks, or leave the file out.`,
      path,
    ),

  /** Refuses a change of the kind `what`, which no function of the worker makes. */
  unsupported: ({ line, text }: PatchLine, what: string): Refusal =>
    new Refusal(
      "bad-input",
      `Line ${line} of the patch, ${quoteShort(text.slice(0, 120))}, is about ${what}, which a patch cannot change here; leave that file out.`,
    ),

  /** Refuses to move or copy a link together with a change. `target` is the file it leads to, if known. */
  movedLink: (path: string, target: string | undefined): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} is a symbolic link: the patch would change the file it leads to, and give only the link another path. Nothing was changed. ${target === undefined ? "Name the file itself in the patch" : `Name the file itself, ${quoteShort(target)}, in the patch`}, or send the change and the new path in two patches.`,
      path,
    ),

  /** Refuses to create or move a file to a path that exists, although the call may expect none there. */
  pathIsTaken: (path: string, expectsNone = false): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} already exists, and a patch creates files only at free paths. ${expectsNone ? "Leave it out of `expected_revisions`, and name" : "Name"} it as a file to update, or send "overwrite": true to replace it.`,
      path,
    ),

  notRemoved: (path: string, lines: number): Refusal =>
    new Refusal(
      "bad-input",
      `The patch deletes ${quoteShort(path)} but does not remove all of it: ${lines === 1 ? "1 line is" : `${lines} lines are`} left. Read the file, and send all of its lines, or delete it without hunks.`,
      path,
    ),

  newFileHasLines: (place: HunkReference): Refusal =>
    new Refusal(
      "bad-input",
      `${nameHunk(place)} belongs to a new file but has lines that do not begin with "+". Send all of them with "+", or name the file as one to update.`,
      place.path,
      { details: factsOf(place) },
    ),

  hunkNotFound: (place: HunkReference, miss: ExplainedMiss): Refusal =>
    new Refusal(
      "text-not-found",
      `${nameHunk(place)} does not fit${describeMiss(miss, "the hunk")}`,
      place.path,
      { details: { ...factsOf(place), ...missDetails(miss) } },
    ),

  headingNotFound: (
    place: HunkReference,
    { heading, ...miss }: ExplainedMiss & { readonly heading: string },
  ): Refusal => {
    const [best] = miss.candidates;
    return new Refusal(
      "text-not-found",
      `${nameHunk(place)} is below "@@ ${heading.slice(0, 120)}", which matches no line of the file${best === undefined ? "" : `; most like it ${listLines(best)}`}. Send after @@ a line exactly as it is in the file, or leave it out.`.replace(
        /[\p{Cc}\u2028\u2029]/gu,
        " ",
      ),
      place.path,
      { details: { ...factsOf(place), ...missDetails(miss) } },
    );
  },

  /** Refuses a hunk that fits only elsewhere. `candidates` are the places where it would fit. */
  misplacedHunk: (
    place: HunkReference,
    { isAtEnd, candidates }: { readonly isAtEnd: boolean; readonly candidates: readonly Candidate[] },
  ): Refusal =>
    new Refusal(
      "text-not-found",
      `${nameHunk(place)} fits elsewhere than it says: what it shows ${candidates.map(listLines).join(", ")}. ${
        isAtEnd
          ? 'Leave out "*** End of File", since more lines follow.'
          : "Send after @@ a line that precedes it, or no such line."
      }`,
      place.path,
      { details: { ...factsOf(place), candidates, differs: "none" } },
    ),

  /** Refuses a hunk that fits in several places. `candidates` are the first of `count` places. */
  ambiguousHunk: (place: HunkReference, { count, matching, candidates }: AmbiguousPlaces): Refusal => {
    const lines = candidates.map(({ from_line }) => from_line).join(", ");
    const [but, differs] = looseness[matching] ?? [undefined, "none"];
    const found =
      but === undefined
        ? `fits in ${count} places, first in lines ${lines}; send`
        : `fits exactly nowhere. But for ${but} it fits in ${count} places, first in lines ${lines}, and no line number chooses among such. Send its lines exactly as the file has them,`;
    return new Refusal(
      "ambiguous",
      `${nameHunk(place)} ${found} more of the lines around it, or the line of its function or class after @@.`,
      place.path,
      { details: { ...factsOf(place), candidates, differs } },
    );
  },

  tooManyComparisons: (place: HunkReference, limit: number): Refusal =>
    new Refusal(
      "ambiguous",
      `${nameHunk(place)} and those before it show lines that occur nearly everywhere in the file: finding their places takes more than ${limit} line comparisons. Nothing was changed. Send line numbers in the @@ lines, more of the lines around, or fewer hunks in one patch.`,
      place.path,
      { details: factsOf(place) },
    ),

  hunkWithoutContext: (place: HunkReference): Refusal =>
    new Refusal(
      "bad-input",
      `${nameHunk(place)} only adds lines, and nothing says where; send some of the lines around, or "*** End of File" below it to append.`,
      place.path,
      { details: factsOf(place) },
    ),

  /** Refuses a hunk that fits only if its lines are indented differently, each by another amount. */
  unevenIndentation: (place: HunkReference, candidates: readonly Candidate[]): Refusal =>
    new Refusal(
      "text-not-found",
      `${nameHunk(place)} fits but for its indentation: what it shows ${candidates.map(listLines).join(", ")}, and the difference is not the same for each line. Nothing was changed. Send the lines indented as in the file.`,
      place.path,
      { details: { ...factsOf(place), candidates, differs: "indent" } },
    ),

  /** Refuses a hunk whose new lines are in the file. `candidates` are the first places where they are. */
  alreadyApplied: (place: HunkReference, candidates: readonly Candidate[]): Refusal =>
    new Refusal(
      "already-applied",
      `${nameHunk(place)} is applied already: its new lines ${candidates.map((lines) => listLines(lines).replace(/^(?:is|are) /, "are ")).join(", ")} of the file. Nothing was changed. Leave the hunk out, or read the lines with coder::read-file.`,
      place.path,
      { details: { ...factsOf(place), candidates } },
    ),

  /** Refuses a hunk that shows the file as empty, although it has lines. */
  notEmptyBefore: (place: HunkReference, lines: number): Refusal =>
    new Refusal(
      "bad-input",
      `${nameHunk(place)} expects an empty or missing file, and ${quoteShort(place.path)} has ${lines === 1 ? "1 line" : `${lines} lines`}. Nothing was changed. Send lines of the file around the new ones, or all of its lines with "-" to replace them.`,
      place.path,
      { details: factsOf(place) },
    ),

  overlappingHunks: (place: HunkReference, other: HunkReference): Refusal =>
    new Refusal(
      "bad-input",
      `${nameHunk(place)} changes lines that hunk ${other.number} changes too (lines ${other.lines[0]} to ${other.lines[1]} of the patch); join the two into one.`,
      place.path,
      { details: factsOf(place) },
    ),
} as const;
