import { expect, test } from "bun:test";
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import type { CoderContext } from "../define.ts";
import { bytesOfContent } from "./content-encoding.ts";
import { notesOnReplaced } from "./replaced-text.ts";

const context = { config: { encodings: {} } } as unknown as CoderContext;
const encode = (content: string, encoding: string) =>
  bytesOfContent({ path: "f", content, encoding }, undefined, context);

/** Maximum characters that are encoded in one step. */
const piece = 128 * 1024;

function stepsOf(steps: Steps<unknown>): number {
  let count = 1;
  while (!steps.next().done) count++;
  return count;
}

test("a large content is encoded, and compared with the old text, piece by piece", () => {
  const text = "ж".repeat(10 * piece);
  expect(stepsOf(encode(text, "utf-8"))).toBe(10);
  // They are joined, checked and decoded.
  expect(stepsOf(encode(`${"QUJD".repeat((10 * piece) / 4)}\n`, "base64"))).toBeGreaterThan(30);
  const before = { marked: undefined, likely: ["windows-1251"], lineEnds: undefined };
  expect(stepsOf(notesOnReplaced({ content: text }, before))).toBeGreaterThan(10);
  expect(runAtOnce(notesOnReplaced({ content: text }, before))[0]).toStartWith("UTF-8 now");
  expect(runAtOnce(notesOnReplaced({ content: "a" }, before))).toEqual([]);
});

test("base64 is decoded across pieces, with its fill at the end alone", () => {
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 251));
  expect(runAtOnce(encode(bytes.toString("base64"), "base64")).bytes.equals(bytes)).toBe(true);
  const full = "A".repeat(piece - 1);
  const refusals: [content: string, problem: string][] = [
    [`${full}==`, `has ${piece + 1} characters`],
    [`${full}===`, `holds "=" at character ${piece}`],
    [`${full}=A==`, `holds "=" at character ${piece}`],
    [`${full}A-AA`, `holds "-" at character ${piece + 1}`],
  ];
  for (const [content, problem] of refusals)
    expect(() => runAtOnce(encode(content, "base64"))).toThrow(problem);
});
