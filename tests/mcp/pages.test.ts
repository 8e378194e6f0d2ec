/** Tests that a model which follows the text of a search gets all of its matches. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connectStdio, type McpFixture, textOf } from "./client.ts";

let connected: McpFixture;

const tree = {
  ...Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [
      `src/f${index}.ts`,
      `${"needle\n".repeat(index % 4)}b needle\n`,
    ]),
  ),
  "src/needle.ts": "",
  "dist/f.ts": "needle\n",
  ".gitignore": "f3.ts\n",
};

beforeAll(async () => {
  connected = await connectStdio("executable", { tree });
});
afterAll(() => connected[Symbol.asyncDispose]());

/** Returns the matching lines of a text as `path:line`, followed by the matching paths. */
function matchesIn(text: string): string[] {
  const [contents = "", paths = ""] = text
    .split("\n")
    .filter((line) => !/^\[(?!paths)/.test(line))
    .join("\n")
    .split("[paths that match]");
  const matches = contents.split("\n\n").flatMap((ofFile) => {
    const [path, ...lines] = ofFile.split("\n").filter((line) => line !== "");
    return lines.map((line) => `${path}:${/^(\d+)→/.exec(line)?.[1]}`);
  });
  return [...matches, ...paths.split("\n").filter((line) => line !== "")];
}

const cursorIn = (text: string): string | undefined => /"cursor": "([\w-]+)"/.exec(text)?.[1];

test.each([
  { query: "needle", max_matches: 1 },
  { query: "needle", max_matches: 4 },
  { query: "e", every_match: true, max_matches: 3 },
  { query: "needle\nb", multiline: true, max_bytes: 1 },
  { query: "srcts", fuzzy_paths: true, max_matches: 2 },
])("%j", async (args) => {
  const { max_matches: _, max_bytes: __, ...query } = { max_matches: 0, max_bytes: 0, ...args };
  const whole = textOf(await connected.call("coder_search", query));
  expect(whole).toContain(
    "[not searched: dist/ excluded (use_default_excludes: false), src/f3.ts ignored (respect_gitignore: false)]",
  );
  const found: string[] = [];
  let pages = 0;
  for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages++) {
    const text = textOf(await connected.call("coder_search", { ...args, ...(cursor && { cursor }) }));
    found.push(...matchesIn(text));
    cursor = cursorIn(text);
    expect(text.includes("stopped by")).toBe(cursor !== undefined);
  }
  // The matches of one line may be split between two pages.
  const sorted = (all: readonly string[]) => [...new Set(all)].sort();
  expect(sorted(found)).toEqual(sorted(matchesIn(whole)));
  expect(found.length).toBeGreaterThan(4);
  expect(pages).toBeGreaterThan(2);
});
