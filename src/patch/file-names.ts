/** Reads the names of files in the headers of unified diffs. */

/** A name in a header; `undefined` for /dev/null, which means that the file does not exist. */
export type HeaderName = string | undefined;

/** The pairs of prefixes that git uses to distinguish both sides of a comparison. */
const prefixPairs: ReadonlySet<string> = new Set(["a/b/", "i/w/", "c/i/", "c/w/", "o/w/", "1/2/"]);

/**
 * Returns the name in a header line, without anything after it, or `undefined` if git's quotes are not closed
 * or their content is not UTF-8.
 */
export function readName(text: string): string | undefined {
  if (text.startsWith('"')) return readQuoted(text)?.name;
  const tab = text.indexOf("\t");
  return (tab < 0 ? text : text.slice(0, tab)).trimEnd();
}

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
  const half = (text.length - 1) / 2;
  const halves = [text.slice(0, half), text.slice(half + 1)] as const;
  if (text[half] === " " && withoutPrefixes(halves)[0] === withoutPrefixes(halves)[1]) return halves;
  const words = text.split(" ");
  return words.length === 2 ? [words[0]!, words[1]!] : undefined;
}

/**
 * Returns the names without the prefixes of git. A name whose other side does not exist has the prefix of its
 * side.
 */
export function withoutPrefixes([old, now]: readonly [HeaderName, HeaderName]): readonly [
  HeaderName,
  HeaderName,
] {
  if (old === undefined) return [old, now?.startsWith("b/") ? now.slice(2) : now];
  if (now === undefined) return [old.startsWith("a/") ? old.slice(2) : old, now];
  return prefixPairs.has(old.slice(0, 2) + now.slice(0, 2)) ? [old.slice(2), now.slice(2)] : [old, now];
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

/**
 * Reads a name in C quotes, as git writes one with non-ASCII characters, and returns it with the text after
 * it.
 */
function readQuoted(text: string): { readonly name: string; readonly rest: string } | undefined {
  const end = /^"(?:[^"\\]|\\.)*"/.exec(text)?.[0].length;
  if (end === undefined) return undefined;
  const parts: Buffer[] = [];
  for (const [part, octal, escaped] of text.slice(1, end - 1).matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gu)) {
    const byte = octal === undefined ? escapes[escaped ?? ""] : Number.parseInt(octal, 8);
    if (part.startsWith("\\") && (byte === undefined || byte > 255)) return undefined;
    parts.push(byte === undefined ? Buffer.from(part) : Buffer.from([byte]));
  }
  const bytes = Buffer.concat(parts);
  const name = bytes.toString();
  return Buffer.from(name).equals(bytes) ? { name, rest: text.slice(end) } : undefined;
}
