/**
 * A part of `npm test -- --only names`: finds patterns that make a comment read as translated, each with a
 * native alternative. `sentence-counts.json` has the maximum count of each in the tree. A count may only
 * fall: `bun scripts/names.ts --lower` writes the current counts.
 */
import { join } from "node:path";
import { commentOfLine, commentsOf } from "./comments.ts";

interface Pattern {
  readonly name: string;
  readonly instead: string;
  /** A global expression, so that each occurrence counts. */
  readonly expression: RegExp;
}

/** The place of one occurrence. */
interface Occurrence {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** The start of a sentence. */
const opens = "(?:^\\s*|[.!?]\\s+)";

export const patterns: readonly Pattern[] = [
  {
    name: "what-as-noun",
    instead: 'open with "The …", or with a verb such as "Returns …"',
    expression: new RegExp(`${opens}(?:What|Where|Who|Whom|How|Which)\\b(?![^.]*\\?)`, "g"),
  },
  {
    name: "by-which",
    instead: "split the sentence",
    expression: /(?<!\b(?:each|all|both|some|none|one) )\b(?:by|of|to|from|with|for) which\b/gi,
  },
  {
    name: "is-no",
    instead: '"is not a …"',
    expression: /(?<!\bthere )\b(?:is|are) (?:none\b|no (?!longer\b|more\b|less\b)\w)/gi,
  },
  {
    name: "undefined-where",
    instead: '"`undefined` if …"',
    expression: /\bundefined`? (?:where|when|while|as long)\b/gi,
  },
  {
    name: "the-same",
    instead: '"Like `name`, but …", or the noun itself',
    expression: new RegExp(`${opens}(?:The same|Those)\\b`, "g"),
  },
  {
    name: "as-it-was",
    instead: '"unchanged", or "if"',
    expression: /\bas (?:it|they) (?:was|were|stands?|stood)\b|\bas far as\b/gi,
  },
  { name: "of-lines", instead: "repeat the noun", expression: new RegExp(`${opens}Of\\b`, "g") },
  {
    name: "most-lines",
    instead: '"Maximum …", "Minimum …"',
    expression: new RegExp(`${opens}(?:Most|Least|Fewest|Longest|Shortest|Largest|Smallest)\\b`, "g"),
  },
  {
    name: "where-there-is",
    instead: '"if any"',
    expression:
      /\b(?:if|when) there (?:is|are|was|were) (?:one|any|some|none)\b|\bwhere there (?:is|are|was|were)\b/gi,
  },
  { name: "behind", instead: '"after"', expression: /\bbehind\b/gi },
  { name: "ask", instead: '"requested", "reads", "calls"', expression: /\bask(?:s|ed|ing)?\b/gi },
  {
    name: "meanwhile",
    instead: "name the event",
    expression: /\b(?:meanwhile|by now|until then|by then)\b/gi,
  },
  { name: "no-more", instead: '"no longer"', expression: /\b(?:no|any|not) more\b(?! than)/gi },
  {
    name: "looks-at",
    instead: '"reads", "checks", "the query"',
    expression: /\blook(?:s|ed|ing)? (?:at|for)\b/gi,
  },
  {
    name: "another-than",
    instead: '"different from"',
    expression: /\banother\b[^.;,]* than\b/gi,
  },
];

/** Maximum words of a comment that a better name should replace. */
const fewWords = 4;

/** The column where the formatter breaks code. */
const lastColumn = 110;

const instructions: Readonly<Record<string, string>> = {
  ...Object.fromEntries(patterns.map(({ name, instead }) => [name, `say ${instead}`])),
  "few-words": "give the thing a better name, or say more than the name does",
  "long-line": `break the line at column ${lastColumn}`,
};

/** A comment for a tool. */
const directive = /^(?:biome-ignore|@ts-|#)/;

/** A comment that cites a name defined elsewhere: a constant, a header, a manual page or another comment. */
const citation = /^(?:(?:Documented at|Implements|See) `|[\w./-]+\.h\b|[A-Z]+_[A-Z_*]+\b|\w+\(\d\))/;

/** A line that begins with its comment. Others have code before it, and the comment names a value there. */
const commentLine = /^\s*(?:\/[/*]|\*)/;

/** Returns whether a short comment is meant as a sentence. */
const isProse = (text: string, firstLine: string): boolean =>
  commentLine.test(firstLine) && !directive.test(text.trim()) && !citation.test(text.trim());

const globs = ["{src,scripts,tests,bench}/**/*.{ts,tsx,mjs}"];

/** Files whose comments belong to texts that tests edit. */
const fixtures: ReadonlySet<string> = new Set(["src/text/edits/explain-miss.test-kit.ts"]);

/** The maximum counts of the tree, beside this file. */
const tablePath = "scripts/sentence-counts.json";

export type Counts = Readonly<Record<string, number>>;

type Occurrences = ReadonlyMap<string, readonly Occurrence[]>;

/** Finds every pattern in the comments of the project at `root`. */
export async function findSentences(root: string): Promise<Occurrences> {
  const found = new Map<string, Occurrence[]>(Object.keys(instructions).map((name) => [name, []]));
  const paths = globs
    .flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)])
    .filter((path) => !fixtures.has(path))
    .sort();
  for (const path of paths) {
    const source = await Bun.file(join(root, path)).text();
    for (const { name, line, text } of sentencesIn(source)) found.get(name)?.push({ path, line, text });
  }
  return found;
}

/** Finds the patterns in the comments of one file. */
export function sentencesIn(source: string): { name: string; line: number; text: string }[] {
  const found: { name: string; line: number; text: string }[] = [];
  const lines = source.split("\n");
  for (const { line: first, text } of commentsOf(source)) {
    const prose = maskNames(text);
    const lineAt = (index: number): number => first + text.slice(0, index).split("\n").length - 1;
    for (const { name, expression } of patterns)
      for (const { 0: match, index } of prose.matchAll(expression)) {
        const start = index + match.search(/\w/);
        found.push({ name, line: lineAt(start), text: prose.slice(start, start + 60).trim() });
      }
    const words = text.split(/\s+/).filter((word) => word !== "");
    if (words.length > 0 && words.length <= fewWords && isProse(text, lines[first - 1]!))
      found.push({ name: "few-words", line: lineAt(text.search(/\S/)), text: words.join(" ") });
  }
  for (const [index, line] of lines.entries()) {
    const text = line.length > lastColumn ? commentOfLine(line) : undefined;
    if (text !== undefined && !directive.test(text))
      found.push({ name: "long-line", line: index + 1, text: text.slice(0, 60) });
  }
  return found;
}

/**
 * Masks names in backticks, which are not prose, without changing their length, and replaces line breaks by
 * spaces.
 */
const maskNames = (text: string): string =>
  text
    .replaceAll("\n", " ")
    .replace(/`[^`]*`/g, (name) => (name === "`undefined`" ? name : `\`${"·".repeat(name.length - 2)}\``));

/** Maximum occurrences that a fault lists. */
const maxListed = 40;

/**
 * Compares the tree with the table. `isNew` returns whether a line differs from the main branch: a fault
 * lists only such lines, if any has the pattern. A count that fell is not a fault.
 */
export function compareCounts(
  found: Occurrences,
  allowed: Counts,
  isNew: (path: string, line: number) => boolean,
): { faults: string[]; falls: string[] } {
  const faults: string[] = [];
  const falls: string[] = [];
  for (const [name, occurrences] of found) {
    const most = allowed[name] ?? 0;
    const count = occurrences.length;
    if (count < most) falls.push(`${name}: ${count}, ${most} allowed`);
    if (count <= most) continue;
    const fresh = occurrences.filter(({ path, line }) => isNew(path, line));
    const listed = fresh.length > 0 ? fresh : occurrences;
    const places = listed.slice(0, maxListed).map(({ path, line, text }) => `\n  ${path}:${line} ${text}`);
    const what = fresh.length > 0 ? "the lines of this branch" : "all of them";
    faults.push(
      `comments: "${name}" stands ${count} times, ${most} allowed; rewrite ${count - most}: ` +
        `${instructions[name]}. Of ${what}, the first ${places.length}:${places.join("")}`,
    );
  }
  return { faults, falls };
}

/** Reads the table of the project at `root`. */
export async function readCounts(root: string): Promise<Counts> {
  const file = Bun.file(join(root, tablePath));
  return (await file.exists()) ? ((await file.json()) as Counts) : {};
}

/** Writes the counts that have fallen, plus a slack that leaves room for parallel work. */
export async function lowerCounts(root: string, slack = 0): Promise<void> {
  const allowed = await readCounts(root);
  const found = await findSentences(root);
  const counts = [...found].map(([name, { length }]) => [
    name,
    Math.min(allowed[name] ?? Number.POSITIVE_INFINITY, length + slack),
  ]);
  await Bun.write(join(root, tablePath), `${JSON.stringify(Object.fromEntries(counts), undefined, 2)}\n`);
}

/** Reads from git which lines of the tree are not on the main branch. Without git, no line counts as new. */
export function readNewLines(root: string): (path: string, line: number) => boolean {
  const git = (...args: string[]): string => {
    const { exitCode, stdout } = Bun.spawnSync(["git", "-C", root, ...args], { stderr: "ignore" });
    return exitCode === 0 ? stdout.toString() : "";
  };
  const base = git("merge-base", "HEAD", "main").trim() || "HEAD";
  const untracked = new Set(git("ls-files", "--others", "--exclude-standard").split("\n"));
  const lines = new Set<string>();
  let path = "";
  for (const line of git("diff", "--no-ext-diff", "-U0", base, "--").split("\n")) {
    path = /^\+\+\+ b\/(.*)$/.exec(line)?.[1] ?? path;
    const [, start, count = "1"] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (start !== undefined)
      for (let offset = 0; offset < Number(count); offset += 1)
        lines.add(`${path}:${Number(start) + offset}`);
  }
  return (file, line) => untracked.has(file) || lines.has(`${file}:${line}`);
}
