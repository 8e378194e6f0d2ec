/** Reads the names of files in the headers of unified diffs. */

/** A name in a header; `undefined` for /dev/null, which means that the file does not exist. */
export type HeaderName = string | undefined;

/** The pairs of prefixes that git uses to distinguish both sides of a comparison, which `-R` exchanges. */
const prefixPairs: ReadonlySet<string> = new Set(
  ["a/b/", "i/w/", "c/i/", "c/w/", "o/w/", "1/2/"].flatMap((pair) => [
    pair,
    pair.slice(2) + pair.slice(0, 2),
  ]),
);

/**
 * Returns the name in a header line, without anything after it, or `undefined` if git's quotes are not closed
 * or their content is not UTF-8. git and diff write a tab after a name with blanks, so those before a tab
 * belong to it.
 */
export function readName(text: string): string | undefined {
  if (text.startsWith('"')) return readQuoted(text)?.name;
  const tab = text.indexOf("\t");
  return tab < 0 ? text.trimEnd() : text.slice(0, tab);
}

/** Returns the name in a line of git that has nothing after the name, not even a tab. */
export const readWholeName = (text: string): string | undefined =>
  text.startsWith('"') ? readName(text) : text;

/**
 * Returns both names of a `diff --git` line, which follow each other and are usually equal, or `undefined` if
 * that is ambiguous.
 */
export function readNamePair(text: string): readonly [string, string] | undefined {
  if (text.startsWith('"')) {
    const first = readQuoted(text);
    const second = first === undefined ? undefined : readName(first.rest.trimStart());
    return second === undefined ? undefined : [first!.name, second];
  }
  if (text.endsWith('"')) {
    const start = text.indexOf(' "');
    const second = start < 0 ? undefined : readName(text.slice(start + 1));
    return second === undefined ? undefined : [text.slice(0, start), second];
  }
  const halves = readHalves(text);
  if (halves !== undefined) return halves;
  const space = text.indexOf(" ");
  const isPair = space >= 0 && text.indexOf(" ", space + 1) < 0;
  return isPair ? [text.slice(0, space), text.slice(space + 1)] : undefined;
}

/** Maximum UTF-16 units of two names: twice PATH_MAX of Linux, and their quotes. */
const maxPairUnits = 2 * 4096 + 8;

/** Returns both names if they are equal, or but for their first parts. */
function readHalves(text: string): readonly [string, string] | undefined {
  if (text.length > maxPairUnits) return undefined;
  const half = (text.length - 1) / 2;
  if (text[half] === " " && text.slice(0, half) === text.slice(half + 1))
    return [text.slice(0, half), text.slice(half + 1)];
  const oldSlash = text.indexOf("/");
  let nowSlash = -1;
  for (let at = text.indexOf(" ", oldSlash + 1); at >= 0; at = text.indexOf(" ", at + 1)) {
    if (nowSlash <= at) nowSlash = text.indexOf("/", at + 1);
    if (oldSlash < 0 || nowSlash < 0) return undefined;
    // It grows with `at`, so the rest of both names has one length at a single blank.
    const excess = at - oldSlash - (text.length - nowSlash);
    if (excess < 0) continue;
    const old = excess === 0 ? text.slice(oldSlash + 1, at) : "";
    return old !== "" && text.endsWith(old) ? [text.slice(0, at), text.slice(at + 1)] : undefined;
  }
  return undefined;
}

/**
 * Returns the number of leading parts that are prefixes of git: 1 or 0. A name whose other side does not
 * exist has the prefix of its side.
 */
export function prefixPartsOf([old, now]: readonly [HeaderName, HeaderName]): number {
  if (old === undefined) return now?.startsWith("b/") ? 1 : 0;
  if (now === undefined) return old.startsWith("a/") ? 1 : 0;
  return prefixPairs.has(old.slice(0, 2) + now.slice(0, 2)) ? 1 : 0;
}

/** Returns the name without some leading parts, or `undefined` if it does not have more. */
export function withoutParts(name: string, parts: number): string | undefined {
  let at = 0;
  for (let left = parts; left > 0; left--) {
    const slash = name.indexOf("/", at);
    if (slash < 0) return undefined;
    at = slash + 1;
  }
  return at < name.length ? name.slice(at) : undefined;
}

/**
 * Returns whether a header line says that the file did not exist: `diff -N` gives such a file the time zero.
 * A time without a zone counts too.
 */
export function hasZeroTime(text: string): boolean {
  const found = /\t(1969-12-31|1970-01-01)[ T](\d\d:\d\d:\d\d)(?:\.0+)?(?: ([-+]\d\d):?(\d\d))?\s*$/.exec(
    text,
  );
  if (found === null) return false;
  const [, date, time, hours = "+00", minutes = "00"] = found;
  return Date.parse(`${date}T${time}${hours}:${minutes}`) === 0;
}

const escapes: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 0x22,
  "\\": 0x5c,
};

/** Maximum UTF-16 units of a name in quotes: PATH_MAX of Linux with each byte in octal, and both quotes. */
const maxQuotedUnits = 4 * 4096 + 2;

/**
 * Reads a name in C quotes, as git writes one with non-ASCII characters, and returns it with the text after
 * it. A name that is longer than any path counts as one that is not closed.
 */
function readQuoted(text: string): { readonly name: string; readonly rest: string } | undefined {
  const end = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(0, maxQuotedUnits))?.[0].length;
  if (end === undefined) return undefined;
  const quoted = Buffer.allocUnsafe(3 * end);
  let length = 0;
  for (const [part, octal, escaped] of text.slice(1, end - 1).matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gu)) {
    const byte = octal === undefined ? escapes[escaped ?? ""] : Number.parseInt(octal, 8);
    if (part.startsWith("\\") && (byte === undefined || byte > 255)) return undefined;
    if (byte === undefined) length += quoted.write(part, length);
    else quoted[length++] = byte;
  }
  const bytes = quoted.subarray(0, length);
  const name = bytes.toString();
  return Buffer.from(name).equals(bytes) ? { name, rest: text.slice(end) } : undefined;
}
