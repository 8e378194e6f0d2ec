import { quoteVisibly } from "../../base/log/quote.ts";
import type { Kind } from "../../base/schema/fragments.ts";

interface RenderedEntry {
  readonly name: string;
  readonly kind: Kind;
  readonly non_accessible: boolean;
}

const kindMarks: Readonly<Record<Kind, string>> = {
  file: "",
  dir: "/",
  symlink: " [link]",
  other: " [special]",
};

/** An entry of a folder in text: its name, marked with what it is and whether it is denied. */
export const renderEntry = ({ name, kind, non_accessible }: RenderedEntry): string =>
  renderName(name) + kindMarks[kind] + (non_accessible ? " [not accessible]" : "");

/** Returns a path without the parts that lead nowhere: `a/b` for `./a//./b`. */
export const shortenPath = (path: string): string =>
  path.replaceAll(/\/(?:\.?\/)+/g, "/").replace(/^(?:\.\/)+(?=.)/, "");

/** Returns a note on a new path whose last name begins or ends with a blank, which is rarely meant. */
export const noteBlanks = (path: string): string =>
  /(?:^|\/)\s[^/]*\/?$|\s\/?$/.test(path) ? ", with a blank at an end of its name" : "";

export const countBytes = (bytes: number): string => `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;

/**
 * A name or path in a text for models, on one line: in JSON's form where a character of it cannot be seen, or
 * where it would read as something else: as a line and a column of a match, as a line of a file, as a count,
 * as a mark or a note of what is left out, or as a name in that form.
 */
export const renderName = (name: string): string => (isMisleading.test(name) ? quoteVisibly(name) : name);

const isMisleading = /[\p{C}\p{Zl}\p{Zp}]|:\d+(?::|$)|^(?:"|…|\d+(?:[:-] |→)|--$|\[.* .*\]$)|: \d/u;
