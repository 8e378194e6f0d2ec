/** The text of a search in pages: together, they show the lines of the one answer without pages. */
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import { SessionsFixture } from "./sessions.test-kit.ts";

const fixture = new SessionsFixture();
const { text } = fixture.open();

afterAll(() => fixture[Symbol.asyncDispose]());

/** Returns the lines of an answer, each with its file, without what stands between them. */
function linesOf(answer: string): string[] {
  const lines: string[] = [];
  let file = "";
  for (const line of answer.split("\n"))
    if (line === "a" || line === "b") file = line;
    else if (/^\d/.test(line)) lines.push(`${file}:${line}`);
  return lines;
}

/** Returns the texts of all pages, whose limits take turns. */
async function readPages(request: object, limits: readonly object[]): Promise<string[]> {
  const pages: string[] = [];
  for (let cursor: string | undefined; pages.length === 0 || cursor !== undefined; ) {
    const page = await text("coder::search", {
      ...request,
      ...limits[pages.length % limits.length],
      ...(cursor !== undefined && { cursor }),
    });
    pages.push(page);
    cursor = /"cursor": "([\w-]+)"/.exec(page)?.[1];
  }
  return pages;
}

const line = fc.constantFrom("x", "x x", "-", "--", "", "x-");
const file = fc.array(line, { maxLength: 30 }).map((lines) => lines.join("\n"));
const requests = fc.record({
  query: fc.constantFrom("x", "^-", "x$"),
  regex: fc.constant(true),
  context_lines_before: fc.nat(10),
  context_lines_after: fc.nat(10),
  every_match: fc.boolean(),
  invert: fc.boolean(),
});
const spans = fc.record({
  query: fc.constantFrom("x\\n-", "-\\n+x", "(?s)x.*?-"),
  regex: fc.constant(true),
  multiline: fc.constant(true),
  context_lines_before: fc.nat(4),
  context_lines_after: fc.nat(4),
  every_match: fc.boolean(),
});
const limits = fc.array(
  fc.record({
    max_matches: fc.constantFrom(1, 2, 3, 100),
    max_bytes: fc.constantFrom(0, 600, 900, 100_000),
  }),
  { minLength: 1, maxLength: 4 },
);

test("a line is shown once, as a match or as one around it, on whatever page", async () => {
  await fc.assert(
    fc.asyncProperty(file, file, fc.oneof(requests, spans), limits, async (a, b, request, turns) => {
      writeFileSync(fixture.at("a"), a);
      writeFileSync(fixture.at("b"), b);
      const whole = linesOf(await text("coder::search", request));
      const pages = (await readPages(request, turns)).flatMap(linesOf);
      // Matches of one line can be on several pages, which each show the line.
      const isRepeated = "every_match" in request && request.every_match;
      expect(isRepeated ? [...new Set(pages)] : pages).toEqual(whole);
      expect(new Set(whole).size).toBe(whole.length);
    }),
    propertyRuns(100),
  );
}, 600_000);
