/** Every text, list and map of a request has a bound, or a reason. */
import { describe, expect, test } from "bun:test";
import type { TObject, TSchema } from "@sinclair/typebox";
import { requestFieldsOf } from "../../../tests/harness/request-fields.ts";
import { functions } from "../../coder/functions.ts";
import { shellFunctions } from "../../shell/functions.ts";
import { type FieldBound, fieldBounds, maxObjects, nameOfBound } from "./field-bounds.ts";
import { readPayload } from "./read-request.ts";

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
