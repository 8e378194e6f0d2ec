import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareCounts, findSentences, lowerCounts, patterns, readCounts, sentencesIn } from "./sentences.ts";

const namesIn = (source: string): string[] => sentencesIn(source).map(({ name }) => name);

/** A sentence for each pattern, and its replacement. */
const examples: Readonly<Record<string, readonly [translated: string, native: string]>> = {
  "what-as-noun": [
    "Reads the file. What it says of the size is kept.",
    "Reads the file, and keeps its size. What if it grows?",
  ],
  "by-which": ["The key by which calls of it are found.", "The key that finds the calls of a caller."],
  "is-no": [
    "The path that it leads to is no folder.",
    "There is no folder, and the path is no longer valid.",
  ],
  "undefined-where": [
    "The limit of it, undefined where it has none.",
    "The limit, or `undefined` if it has none.",
  ],
  "the-same": ["The same, of a folder and its files.", "Like `copyFile`, for the same kind of folder."],
  "as-it-was": ["Puts the file back as it was before.", "Puts the file back unchanged, just as it is."],
  "of-lines": ["Of lines, the maximum for one hunk.", "The maximum lines of one hunk, of all kinds."],
  "most-lines": ["Most lines that an answer may have.", "Maximum lines of an answer, at most 100."],
  "where-there-is": ["The next page, where there is one.", "The cursor of the next page, if any."],
  behind: ["The bytes behind the last line feed.", "The bytes after the last line feed."],
  ask: ["The depth that the call asked for.", "The depth that the call requested."],
  meanwhile: ["Throws if it has changed meanwhile.", "Throws if it has changed since it was read."],
  "no-more": ["Stops when there are no more bytes.", "Stops when no bytes are left, no more than 10."],
  "looks-at": ["Looks at the first bytes of it.", "Reads the first bytes of the file."],
  "another-than": ["Throws for another file than before.", "Throws if the file differs from before."],
  "few-words": ["The longest name.", "The longest name of all entries."],
  "long-line": [`The ${"very ".repeat(30)}long name.`, `The ${"very ".repeat(10)}long name.`],
};

test("each pattern has an example, found in the sentence that has it and not in the better one", () => {
  expect(Object.keys(examples)).toEqual([...patterns.map(({ name }) => name), "few-words", "long-line"]);
  for (const [name, [translated, native]] of Object.entries(examples)) {
    expect([name, namesIn(`/** ${translated} */`)]).toEqual([name, [name]]);
    expect([name, namesIn(`/** ${native} */`)]).toEqual([name, []]);
  }
});

test("a name in backticks, code and a comment for a tool are not prose", () => {
  const source = [
    "/** Calls `ask` with the path of the file. */",
    'const text = "behind"; const behind = ask(text);',
    "// biome-ignore lint/x: y",
    `const long = "${"long ".repeat(30)}";`,
    "  *list() {",
  ];
  expect(namesIn(source.join("\n"))).toEqual([]);
});

test("an occurrence is placed in the line where it starts, in a comment of several", () => {
  const source = "\n/**\n * Reads the file of the\n * caller, by\n * which it is kept.\n */\n";
  expect(sentencesIn(source)).toEqual([{ name: "by-which", line: 4, text: "by which it is kept." }]);
});

test("a planted sentence fails with its file and line, and a fall lowers the table, which nothing raises", async () => {
  const root = mkdtempSync(join(tmpdir(), "coder-"));
  const write = (...sentences: string[]) =>
    writeFileSync(join(root, "src/a.ts"), sentences.map((sentence) => `/** ${sentence} */\nf();\n`).join(""));
  const compare = async (isNew: (path: string, line: number) => boolean = () => false) =>
    compareCounts(await findSentences(root), await readCounts(root), isNew);
  const [behind] = examples["behind"]!;
  try {
    mkdirSync(join(root, "src"));
    mkdirSync(join(root, "scripts"));
    write(behind, behind);
    await lowerCounts(root);
    expect(await compare()).toEqual({ faults: [], falls: [] });

    write(behind, behind, behind);
    const all = (await compare()).faults;
    expect(all).toHaveLength(1);
    expect(all[0]).toContain('"behind" stands 3 times, 2 allowed; rewrite 1: say "after"');
    expect(all[0]).toContain("src/a.ts:1 ");
    expect(all[0]).toContain("src/a.ts:5 behind the last line feed.");
    const fresh = (await compare((_, line) => line === 3)).faults;
    expect(fresh[0]).toContain("src/a.ts:3 ");
    expect(fresh[0]).not.toContain("src/a.ts:5 ");

    await lowerCounts(root);
    expect((await compare()).faults).toHaveLength(1);

    write(behind);
    expect(await compare()).toEqual({ faults: [], falls: ["behind: 1, 2 allowed"] });
    await lowerCounts(root);
    expect((await readCounts(root))["behind"]).toBe(1);
    expect(await compare()).toEqual({ faults: [], falls: [] });
  } finally {
    rmSync(root, { recursive: true });
  }
});
