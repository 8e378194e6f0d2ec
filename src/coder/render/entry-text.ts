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

/** Renders an entry of a folder: its name, with marks for its kind and for a denied entry. */
export const renderEntry = ({ name, kind, non_accessible }: RenderedEntry): string =>
  renderName(name) + kindMarks[kind] + (non_accessible ? " [not accessible]" : "");

/** Renders a path like `renderName`, without the parts that lead nowhere: `a/b` for `./a//./b`. */
export const renderPath = (path: string): string =>
  renderName(path.replaceAll(/\/(?:\.?\/)+/g, "/").replace(/^(?:\.\/)+(?=.)/, ""));

/** Returns a note on a new path whose last name begins or ends with a blank, which is rarely meant. */
export const noteBlanks = (path: string): string =>
  /(?:^|\/)\s[^/]*\/?$|\s\/?$/.test(path) ? ", with a blank at an end of its name" : "";

export const countBytes = (bytes: number): string => `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;

/**
 * Renders a name or path on one line of a text for models. Quotes it like JSON if it has invisible
 * characters or a blank at an end, or could be mistaken for the place of a match, a line of a file, a count,
 * a mark, a note in brackets, or a quoted name.
 */
export const renderName = (name: string): string => (isMisleading.test(name) ? quoteVisibly(name) : name);

const isMisleading = /[\p{C}\p{Zl}\p{Zp}]|^\s|\s$|:\d+(?::|$)|^(?:"|…|\d+(?:[:-] |→)|--$|\[.* .*\]$)|: \d/u;
