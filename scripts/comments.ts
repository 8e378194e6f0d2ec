import { join } from "node:path";
import { bannedPhrases } from "./vocabulary.ts";

interface Comment {
  /** The 1-based number of its first line. */
  readonly line: number;
  /** The text without its delimiters, with the line breaks of the source. */
  readonly text: string;
}

/** A line that begins with a comment, or is inside one. */
const wholeLine = /^\s*(?:\/\/|\/\*+|\*(?=\s|$))\s?(.*?)\s*(?:\*\/)?$/;

/**
 * A comment after code. The code ends with punctuation, so that the `//` of an address in a string does not
 * count.
 */
const trailing = /[;,{}()[\]]\s+\/\/\s?(.*)$/;

/**
 * Returns the comments of a file. Lines without code between them are one comment, so that no phrase hides in
 * a line break. An indented line of a comment is code.
 */
export function commentsOf(source: string): Comment[] {
  const found: { line: number; text: string }[] = [];
  let isOpen = false;
  for (const [index, line] of source.split("\n").entries()) {
    const whole = wholeLine.exec(line)?.[1];
    const text = commentOfLine(line)?.replace(/^ {4}.*/, "");
    if (text !== undefined && whole !== undefined && isOpen) found.at(-1)!.text += `\n${text}`;
    else if (text !== undefined) found.push({ line: index + 1, text });
    isOpen = whole !== undefined;
  }
  return found;
}

/** Returns the comment that a line is, is part of, or ends with. */
export const commentOfLine = (line: string): string | undefined =>
  (wholeLine.exec(line) ?? trailing.exec(line))?.[1];

/** Finds phrases in comments that only this project uses, one sentence each. */
export async function findBannedPhrases(root: string): Promise<string[]> {
  const paths = [...new Bun.Glob("{src,scripts,tests,bench}/**/*.{ts,tsx,mjs}").scanSync(root)].sort();
  const faults = await Promise.all(
    paths.map(async (path) =>
      commentsOf(await Bun.file(join(root, path)).text()).flatMap(({ line, text }) =>
        bannedPhrasesIn(text).map((phrase) => `${path}:${line}: a comment says ${phrase}`),
      ),
    ),
  );
  return faults.flat();
}

const phrases = Object.entries(bannedPhrases).map(([phrase, instead]) => ({
  pattern: new RegExp(`\\b${phrase}\\b`, "i"),
  fault: `"${phrase}"; ${instead}`,
}));

/**
 * Finds the banned phrases in prose, each with its replacement. Words in backticks are names, which other
 * rules check.
 */
export const bannedPhrasesIn = (text: string): string[] => {
  const prose = text.replace(/`[^`]*`/g, "``").replace(/\s+/g, " ");
  return phrases.filter(({ pattern }) => pattern.test(prose)).map(({ fault }) => fault);
};
