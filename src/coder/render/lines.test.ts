import { expect, test } from "bun:test";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import { wordingFor } from "../../calls/contract/wording.ts";
import { functions } from "../functions.ts";
import { joinLines, renderEach } from "./lines.ts";

/** Does the work, and returns its result and the number of its steps. */
function countSteps<T>(steps: Generator<void, T>): { readonly value: T; readonly steps: number } {
  for (let count = 1; ; count++) {
    const { done, value } = steps.next();
    if (done) return { value, steps: count };
  }
}

test("long lists are rendered in steps, of fewer items if these are long", () => {
  const short = countSteps(renderEach(Array.from({ length: 10_000 }), (_, index) => `${index}`));
  expect(short.value).toEqual(Array.from({ length: 10_000 }, (_, index) => `${index}`));
  expect(short.steps).toBeGreaterThan(9);
  const long = countSteps(renderEach(Array.from({ length: 100 }), () => "x".repeat(64 * 1024)));
  expect(long.steps).toBeGreaterThan(99);
});

test("many lines are joined in steps", () => {
  const lines = Array.from({ length: 100_000 }, (_, index) => `${index}`);
  const { value, steps } = countSteps(joinLines(lines));
  expect(value).toBe(lines.join("\n"));
  expect(steps).toBeGreaterThan(5);
});

const many = Array.from({ length: 20_000 }, (_, index) => `file-${index}.txt`);
const batch = (fields: object) => ({ results: many.map((path) => ({ path, success: true, ...fields })) });
const transfers = (fields: object) => ({
  results: many.map((from) => ({ from, to: "to", success: true, ...fields })),
});
const entry = { kind: "file", mtime: 1, size: 1, non_accessible: false };
const node = { name: "a", ...entry, path: "a" };
const cause = { by: "call", function_id: "coder::move" };
const net = many.map((path) => ({ kind: "created", path, by: ["me"], checkpoints: [] }));
const changes = many.map((path) => ({ kind: "created", path, cause }));
const file = { path: "a", change: "modified" };

test.each<[string, object]>([
  ["coder::create-file", batch({ bytes_written: 1 })],
  ["coder::delete-file", batch({ removed: true })],
  ["coder::make-folder", batch({ created: true })],
  ["coder::move", transfers({ moved: true })],
  ["coder::copy", transfers({ copied: true })],
  ["coder::list-folder", { entries: many.map((name) => ({ ...entry, name })), page: 1, total: 20_000 }],
  ["coder::tree", { root: { ...node, kind: "dir", children: many.map(() => node) } }],
  ["coder::changes", { changes, external: true }],
  ["coder::changes", { changes: [], external: true, net }],
  [
    "coder::checkpoints",
    { checkpoints: many.map((_, seq) => ({ seq, ts: "2026-01-01T00:00:00Z", files: [file] })) },
  ],
])("the answer of %s is rendered in steps, however long", (id, answer) => {
  const { render } = functions.find((one) => one.id === id) as FunctionDefinition;
  const rendered = render!(
    answer as never,
    wordingFor((name) => name),
    {},
  );
  const { value, steps } = countSteps(rendered as Generator<void, string>);
  expect(value.split("\n").length).toBeGreaterThanOrEqual(many.length);
  expect(steps).toBeGreaterThan(9);
});
