/**
 * The refusals of `coder::read-file`: of options, and of content that exceeds a limit, with the ways to read
 * less.
 */
import { quoteShort, Refusal } from "../../base/errors.ts";
import type { Limit } from "../../filesystem/files/types.ts";
import type { Dimensions } from "./image-dimensions.ts";

/** A file whose requested part is larger than an answer may be. */
export interface Excess {
  readonly path: string;
  readonly size: number;
  /** The number of lines, unless they were not counted. */
  readonly lines?: number | undefined;
  readonly limit: Limit;
}

/** The requested content, which is too large. */
interface TooMuch {
  readonly bytes: number;
  /** The last line that would still fit, if any. */
  readonly lineTo: number | undefined;
  readonly isBase64: boolean;
  /** The number of the only line that was requested, which does not fit by itself. */
  readonly longLine?: number | undefined;
  /** Whether one answer can hold it, so that a larger `max_output_bytes` helps. */
  readonly mayRaise: boolean;
}

export const refuseRead = {
  noPath: (): Refusal =>
    new Refusal("bad-input", "`path` is missing. Send `path` for one file, or `paths` for several."),

  pathAndPaths: (): Refusal =>
    new Refusal("bad-input", "`path` and `paths` exclude each other. Put all files into `paths`."),

  filesAndOthers: (): Refusal =>
    new Refusal(
      "bad-input",
      "`files` goes with neither `path` nor `paths`. Put all files into `files`, each with its `path`.",
    ),

  globsWithoutStat: (): Refusal =>
    new Refusal(
      "bad-input",
      "`include_globs` selects files for `stat`, which returns their size, lines and time. Send `stat`: true; to read files, send their `paths`.",
    ),

  globsAndOthers: (field: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`include_globs\` goes with \`path\`, the folder to start in, and not with \`${field}\`. Send one of the two.`,
    ),

  sortWithoutGlobs: (): Refusal =>
    new Refusal(
      "bad-input",
      "`sort` is for the files that `include_globs` selects. Leave it out, or send both.",
    ),

  tooManyFiles: (most: number): Refusal =>
    new Refusal(
      "bad-input",
      `More than ${most} files match \`include_globs\`, the maximum for one call. Send globs that match fewer, or a folder as \`path\`.`,
    ),

  tailAndLines: (): Refusal =>
    new Refusal(
      "bad-input",
      "`tail` goes with neither `line_from` nor `line_to`. Send `tail` alone for the end of a file.",
    ),

  noLines: (from: number, to: number): Refusal =>
    new Refusal(
      "bad-input",
      `line_to (${to}) is below line_from (${from}); send a line_to of ${from} or more.`,
    ),

  /** Refuses a field without effect in this call. */
  useless: (field: string, why: string): Refusal =>
    new Refusal("bad-input", `\`${field}\` has no use here, since ${why}. Leave one of the two out.`),

  /** Refuses a whole file that is larger than `max_read_bytes`. */
  file: (excess: Excess): Refusal =>
    refusal(excess, `${windows}, or send stat to see what it is without its content`),

  /** Refuses a window that is larger than `max_read_bytes`. */
  window: (excess: Excess): Refusal =>
    refusal(
      excess,
      "these lines of it have more than that too; ask for fewer with line_from and line_to, or with tail",
    ),

  /** Refuses a line that is larger than `max_read_bytes`. */
  line: (excess: Excess): Refusal =>
    refusal(
      excess,
      "that line of it has more than that too, and no call shows a part of so long a line; read other lines of it, or ask the user to raise the limit",
    ),

  /** Refuses content that is larger than `max_output_bytes`. */
  content(excess: Excess, { bytes, lineTo, isBase64, longLine, mayRaise }: TooMuch): Refusal {
    const more = mayRaise ? ", or send a larger max_output_bytes" : "";
    if (longLine !== undefined)
      return refusal(
        excess,
        `line ${longLine} alone takes ${bytes} bytes; find the place in it with coder::search, which shows the parts of long lines that match${more}`,
      );
    const requested = bytes === excess.size ? "" : `what was requested of it takes ${bytes} bytes; `;
    const fits = lineTo === undefined ? "" : `up to line ${lineTo} it fits; `;
    const less = isBase64 ? "read it as text" : `${windows}, find the place with coder::search`;
    return refusal(excess, `${requested}${fits}${less}${more}`, { line_to: lineTo });
  },

  /** Refuses an image that takes more in base64 than clients show. */
  image: (excess: Excess, bytes: number): Refusal =>
    refusal(
      excess,
      `it is an image, which takes ${bytes} bytes in base64; make a smaller one of it and read that, or send stat to see what it is`,
    ),

  /** Refuses an image with more pixels on a side than clients show. */
  imageSide: ({ path, size }: Excess, { width, height }: Dimensions, most: number): Refusal =>
    new Refusal(
      "too-large",
      `${quoteShort(path)} is an image of ${width} × ${height} pixels, and clients show at most ${most} on a side; make a smaller one of it and read that, or send stat to see what it is.`,
      path,
      { details: { size, width, height } },
    ),

  /** Refuses the largest of several files that exceed the limit together. */
  largest: (excess: Excess): Refusal =>
    refusal(
      excess,
      `the files of this call together take more; read this one, the largest, in a call of its own`,
    ),
} as const;

const windows = "read a window of it with line_from and line_to, or its end with tail";

function refusal({ path, size, lines, limit }: Excess, instead: string, details: object = {}): Refusal {
  const counted = lines === undefined ? "" : ` in ${lines} ${lines === 1 ? "line" : "lines"}`;
  const sentence = `${quoteShort(path)} has ${size} bytes${counted}, and ${limit.key} lets an answer hold ${limit.bytes}; ${instead}.`;
  const known = { size, total_lines: lines, [limit.key]: limit.bytes, ...details };
  return new Refusal("too-large", sentence, path, { details: JSON.parse(JSON.stringify(known)) });
}
