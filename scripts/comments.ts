import { join } from "node:path";
import { bannedPhrases } from "./vocabulary.ts";

/** A comment, in one line. */
interface Comment {
  /** 1-based: where it starts. */
  readonly line: number;
  readonly text: string;
}

/** The line begins with a comment, or is inside one. */
const wholeLine = /^\s*(?:\/\/|\/\*+|\*(?!\/))\s?(.*?)\s*(?:\*\/)?$/;

/** Behind code, so that the `//` of an address in a string is none. */
const trailing = /[;,{}()[\]]\s+\/\/\s?(.*)$/;

/**
 * The comments of a file. Lines without code between them are one comment, so that no phrase hides in a line break. An
 * indented line of a comment is code.
 */
export function commentsOf(source: string): Comment[] {
  const found: { line: number; text: string }[] = [];
  let isOpen = false;
  for (const [index, line] of source.split("\n").entries()) {
    const whole = wholeLine.exec(line)?.[1];
    const text = (whole ?? trailing.exec(line)?.[1])?.replace(/^ {4}.*/, "");
    if (text !== undefined && whole !== undefined && isOpen) found.at(-1)!.text += ` ${text}`;
    else if (text !== undefined) found.push({ line: index + 1, text });
    isOpen = whole !== undefined;
  }
  return found;
}

/** Phrases in comments that only this project uses, one sentence each. */
export async function findBannedPhrases(root: string): Promise<string[]> {
  const paths = [...new Bun.Glob("{src,scripts,tests,bench}/**/*.{ts,mjs}").scanSync(root)].sort();
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

/** The banned phrases in prose, each with what to say instead. Words in backticks are names, which other rules judge. */
export const bannedPhrasesIn = (text: string): string[] => {
  const prose = text.replace(/`[^`]*`/g, "``").replace(/\s+/g, " ");
  return phrases.filter(({ pattern }) => pattern.test(prose)).map(({ fault }) => fault);
};
