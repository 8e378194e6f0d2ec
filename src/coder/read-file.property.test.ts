/** Compares `coder::read-file` with a plain definition of it, on random files and requests. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { defaultConfig } from "./config.ts";
import { readFile } from "./read-file.ts";
import { openCoder } from "./services.ts";

const maxReadBytes = 40;
const base = mkdtempSync(join(tmpdir(), "coder-"));
const runtime = await openCoder({ ...defaultConfig(), base_path: base, max_read_bytes: maxReadBytes });
const invoke = createInvoke(runtime, createLog({ level: "error", form: "json", write: () => {} }));

afterAll(async () => {
  await runtime.close();
  rmSync(base, { recursive: true });
});

interface Answer {
  readonly content?: string;
  readonly is_utf8?: boolean;
  readonly lines_returned?: number;
  readonly total_lines?: number;
  readonly more_lines?: boolean;
  readonly success?: boolean;
  readonly error?: string;
  readonly size: number;
}

/** Returns the answer, after checking its stated size, or the error. */
async function call<T = Answer>(
  request: object,
): Promise<T | { code: string; details?: { line_to?: number } }> {
  const outcome = await invoke(readFile, request);
  if ("error" in outcome) return JSON.parse(outcome.error);
  expect(outcome.bytes).toBe(Buffer.byteLength(JSON.stringify(outcome.answer)));
  return outcome.answer as T;
}

const body = fc
  .array(fc.constantFrom("\n", "\n", "\r\n", "a", "bb", "é", "😀", "\r", '"', "x".repeat(15)), {
    maxLength: 30,
  })
  .map((parts) => parts.join(""));

const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const count = fc.integer({ min: 1, max: 35 });
const request = fc.record(
  {
    part: fc.oneof(
      fc.constant({}),
      fc.record({ tail: count }),
      fc
        .tuple(count, count)
        .map(([one, other]) => ({ line_from: Math.min(one, other), line_to: Math.max(one, other) })),
      fc.record({ line_from: count }),
    ),
    numbered: fc.boolean(),
    max_output_bytes: fc.nat(60),
  },
  { requiredKeys: ["part"] },
);

/** Returns the lines of a request, with the number of the first. */
function expectedLines(
  lines: readonly string[],
  part: { line_from?: number; line_to?: number; tail?: number },
) {
  const from = part.tail === undefined ? (part.line_from ?? 1) : Math.max(1, lines.length - part.tail + 1);
  return { from, lines: lines.slice(from - 1, part.line_to) };
}

test("a read is the slice of the file, or refused for the budget that it is over", () =>
  fc.assert(
    fc.asyncProperty(body, request, async (text, { part, ...rest }) => {
      writeFileSync(join(base, "f"), text);
      const answer = await call({ path: "f", revision: false, ...part, ...rest });
      const { from, lines } = expectedLines(linesOf(text), part);
      const numbered = lines
        .map((line, index) => (rest.numbered ? `${from + index}→${line}` : line))
        .join("");
      const isWhole = Buffer.byteLength(text) <= maxReadBytes;
      const isTooLarge =
        (!isWhole && (Object.keys(part).length === 0 || Buffer.byteLength(lines.join("")) > maxReadBytes)) ||
        Buffer.byteLength(numbered) > (rest.max_output_bytes ?? Number.POSITIVE_INFINITY);
      if (isTooLarge) return expect(answer).toMatchObject({ code: "C213" });
      expect(answer).toMatchObject({
        content: numbered,
        is_utf8: true,
        lines_returned: lines.length,
        more_lines: from + lines.length - 1 < linesOf(text).length && lines.length > 0,
      });
      if (isWhole) expect(answer).toMatchObject({ total_lines: linesOf(text).length });
    }),
    { numRuns: 500 },
  ));

test("what a refusal says would fit does", () =>
  fc.assert(
    fc.asyncProperty(body, request, async (text, { part, ...rest }) => {
      writeFileSync(join(base, "f"), text);
      const sent = { path: "f", ...part, ...rest };
      const answer = await call(sent);
      if (!("details" in answer) || answer.details?.line_to === undefined) return;
      const { line_to } = answer.details;
      expect(await call({ ...sent, line_to })).toHaveProperty("content");
      expect(await call({ ...sent, line_to: line_to + 1 })).toMatchObject({ code: "C213" });
    }),
    { numRuns: 500 },
  ));

test("windows that follow each other make up the file, however large it is", () =>
  fc.assert(
    fc.asyncProperty(body, fc.integer({ min: 1, max: 2 }), async (text, step) => {
      writeFileSync(join(base, "f"), text);
      let joined = "";
      for (let from = 1, more: boolean | undefined = true; more; from += step) {
        const answer = (await call({ path: "f", line_from: from, line_to: from + step - 1 })) as Answer;
        if (answer.content === undefined) return;
        joined += answer.content;
        more = answer.more_lines;
      }
      expect(joined).toBe(text);
    }),
  ));

test("files of a batch have their share, and what one does not need another may have", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(30), { minLength: 1, maxLength: 8 }),
      fc.nat(60),
      async (sizes, budget) => {
        sizes.forEach((size, index) => {
          writeFileSync(join(base, `f${index}`), "x".repeat(size));
        });
        const paths = sizes.map((_, index) => `f${index}`);
        const { results } = (await call<{ results: Answer[] }>({ paths, max_output_bytes: budget })) as {
          results: Answer[];
        };
        const answered = sizes.filter((_, index) => results[index]!.success);
        const refused = sizes.filter((_, index) => !results[index]!.success);
        const sum = answered.reduce((total, size) => total + size, 0);
        expect(sum).toBeLessThanOrEqual(budget);
        // A refused file does not fit together with all files that are not larger.
        for (const size of refused) {
          expect(size).toBeGreaterThan(budget / sizes.length);
          expect(size).toBeGreaterThanOrEqual(Math.max(0, ...answered));
          expect(sum + size).toBeGreaterThan(budget);
        }
      },
    ),
    { numRuns: 300 },
  ));
