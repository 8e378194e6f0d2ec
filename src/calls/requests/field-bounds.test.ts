/** Every text, list and map of a request has a bound, or a reason. */
import { describe, expect, spyOn, test } from "bun:test";
import type { TObject, TSchema } from "@sinclair/typebox";
import { requestFieldsOf } from "../../../tests/harness/request-fields.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { functions } from "../../coder/functions.ts";
import { shellFunctions } from "../../shell/functions.ts";
import type { FunctionDefinition } from "../contract/definition.ts";
import { type FieldBound, fieldBounds, maxObjects, nameOfBound } from "./field-bounds.ts";
import { maxComparedLength } from "./field-names.ts";
import { readPayload, readPayloadInSteps } from "./read-request.ts";
import { requireFit } from "./require-fit.ts";

const boundOf = (id: string, pointer: string): FieldBound | undefined =>
  fieldBounds[nameOfBound(id, pointer) ?? ""];

const definitions = [...functions, ...shellFunctions];

const all = definitions.flatMap((definition) =>
  requestFieldsOf(definition.request).map(
    (field) => [`${definition.id}${field.pointer}`, definition, field] as const,
  ),
);

test("there are fields, also in entries of lists, in ops and in maps", () => {
  const names = all.map(([name]) => name);
  for (const name of [
    "coder::update-file/files/*/ops/*/new_str",
    "coder::transact/changes/*/ops/*/content",
    "coder::apply-patch/expected_revisions/*",
    "coder::search/query",
    "coder::search/fs_scope/grants/*/path",
    "shell::exec/args/*",
    "shell::exec/env/*",
    "shell::fs::grep/include_glob/*",
  ])
    expect(names).toContain(name);
});

test("each has a bound or a reason, and each of these is that of a field", () => {
  const unbounded = all.filter(([, { id }, { pointer }]) => boundOf(id, pointer) === undefined);
  expect(unbounded.map(([name]) => name)).toEqual([]);
  const used = new Set(all.map(([, { id }, { pointer }]) => nameOfBound(id, pointer)));
  expect(Object.keys(fieldBounds).filter((name) => !used.has(name))).toEqual([]);
});

test("a bound in a schema is the same", () => {
  for (const [, { id, request }, { pointer }] of all) {
    const field = pointer
      .split("/")
      .slice(1)
      .reduce<TSchema | undefined>(
        (schema, name) => (schema as TObject | undefined)?.properties?.[name],
        request,
      );
    const longest = field?.["maxLength"];
    if (longest !== undefined) expect(boundOf(id, pointer)).toEqual({ max: longest });
  }
});

const rules = { unknownFields: "refuse", isForgiving: true } as const;

describe("what is larger is refused, and the largest is read", () => {
  const bounded = all.flatMap(([name, definition, field]) => {
    const bound = boundOf(definition.id, field.pointer);
    return bound !== undefined && "max" in bound ? [[name, definition, field, bound.max] as const] : [];
  });

  test.each(bounded)("%s", (_, definition, field, max) => {
    const read = (size: number) => readPayload(definition, field.requestWith(field.largeValue(size)), rules);
    expect(() => read(max)).not.toThrow();
    const unit = field.kind === "String" ? "characters" : "entries";
    expect(() => read(max + 1)).toThrow(`has ${max + 1} ${unit}, and may have ${max}`);
    expect(() =>
      readPayload(definition, field.requestWith(field.largeValue(max + 1)), { ...rules, isForgiving: false }),
    ).not.toThrow("may have");
  });
});

test("a request has 2,500 objects, and an object 200 fields", () => {
  const update = functions.find(({ id }) => id === "coder::update-file")!;
  const op = { op: "insert", at_line: 1, content: "x" };
  const read = (ops: number) =>
    readPayload(
      update,
      { files: [999, 999, ops].map((count) => ({ path: "a", ops: Array(count).fill(op) })) },
      rules,
    );
  expect(() => read(maxObjects - 2 * 999 - 4)).not.toThrow();
  expect(() => read(maxObjects - 2 * 999 - 3)).toThrow("more than 2500 objects");
  const fields = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`f${index}`, null]));
  expect(() => readPayload(update, fields, rules)).toThrow("The request has 201 fields, and may have 200");
  const long = "f".repeat(5_000_000);
  expect(() => readPayload(update, { [long]: null }, rules)).toThrow(
    'f" has 5000000 characters, and may have 200',
  );
});

test("what is too large is refused before it is compared with kinds of ops, or made a map", () => {
  const read = (id: string, payload: unknown) =>
    readPayload(functions.find((one) => one.id === id)!, payload, rules);
  const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 0]));
  for (const op of [fields, JSON.stringify(fields)])
    expect(() => read("coder::update-file", { files: [{ path: "a", ops: [op] }] })).toThrow(
      '"files[0].ops[0]" has 50000 fields, and may have 200',
    );
  let keysRead = 0;
  const entry = {
    get key() {
      return String(keysRead++);
    },
    value: "absent",
  };
  const expected_revisions = Array.from({ length: 1001 }, () => entry);
  expect(() => read("coder::delete-file", { paths: ["a"], expected_revisions })).toThrow(
    "`expected_revisions` has 1001 entries, and may have 1000",
  );
  expect(keysRead).toBe(0);
  read("coder::delete-file", { paths: ["a"], expected_revisions: expected_revisions.slice(1) });
  expect(keysRead).toBeGreaterThanOrEqual(1000);
});

test("a key of a map has 4,096 characters", () => {
  const read = (id: string, payload: unknown) =>
    readPayload(definitions.find((one) => one.id === id)!, payload, rules);
  const delete_ = (expected_revisions: unknown) =>
    read("coder::delete-file", { paths: ["a"], expected_revisions });
  const [longest, longer] = ["k".repeat(4096), "]".repeat(4097)];
  expect(() => delete_({ [longest]: "r" })).not.toThrow();
  for (const map of [{ [longer]: 5 }, [{ key: longer, value: "r" }]])
    expect(() => delete_(map)).toThrow(']" has 4097 characters, and may have 4096');
  expect(() => read("shell::exec", { command: "a", env: { [longer]: "b" } })).toThrow("may have 4096");
});

describe("names and words as long as a request", () => {
  const update = functions.find(({ id }) => id === "coder::update-file")!;
  const transact = functions.find(({ id }) => id === "coder::transact")!;

  /** Reads a payload, and checks it; returns the error, and the maximum length of what was compared. */
  function compared(definition: FunctionDefinition, payload: unknown) {
    const spies = (["toLowerCase", "replace", "replaceAll", "trim"] as const).map((name) =>
      spyOn(String.prototype, name),
    );
    let message = "";
    try {
      runAtOnce(requireFit(definition, readPayload(definition, payload, rules)));
    } catch (error) {
      ({ message } = error as Error);
    }
    const lengths = spies.flatMap(({ mock }) => mock.contexts.map((text) => String(text).length));
    for (const spy of spies) spy.mockRestore();
    return { message, longest: Math.max(...lengths) };
  }

  const long = "-B".repeat(100_000);

  test.each([
    ["of a choice", "coder::read-file", { path: "a", sort: long }, "The field sort is the string"],
    ["of a number", "coder::read-file", { path: "a", line_from: long }, "expected a whole number"],
    ["of a boolean", "coder::read-file", { path: "a", numbered: long }, "expected true or false"],
    [
      "of an op",
      "coder::update-file",
      { files: [{ path: "a", ops: [{ op: long }] }] },
      'expected one of "insert"',
    ],
    ["of a field of a change", "coder::transact", { changes: [{ [long]: 0 }] }, "and may have 200"],
  ])("%s are compared with no name", (_, id, payload, expected) => {
    const { message, longest } = compared(functions.find((one) => one.id === id)!, payload);
    expect(message).toContain(expected);
    expect(longest).toBeLessThan(1000);
  });

  test("are longer than every field and every word of a choice", () => {
    const names = JSON.stringify(definitions.map(({ request }) => request)).match(/"[\w-]+"/g)!;
    expect(Math.max(...names.map(({ length }) => length - 2))).toBeLessThan(maxComparedLength);
  });

  test("are compared with few kinds of changes, and in steps of few fields", () => {
    const snakes = spyOn(String.prototype, "toLowerCase");
    const unknown = Object.fromEntries(
      Array.from({ length: 198 }, (_, index) => [`${"aB".repeat(25)}${index}`, 7]),
    );
    readPayload(transact, { changes: Array(32).fill(unknown) }, rules);
    expect(snakes.mock.calls.length).toBeLessThan(32 * 20);
    snakes.mockRestore();
    const nulls = Object.fromEntries(Object.keys(unknown).map((name) => [name, null]));
    const file = { ...nulls, ops: [] };
    const stepsOf = (count: number) =>
      [...readPayloadInSteps(update, { files: Array(count).fill(file) }, rules)].length;
    expect(stepsOf(2)).toBe(0);
    expect(stepsOf(32)).toBeGreaterThan(8);
    expect(stepsOf(1000)).toBeGreaterThan(8 * 31);
  });
});
