import { describe, expect, test } from "bun:test";
import { type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import { functions } from "../../coder/functions.ts";
import { runAtOnce } from "../scheduling/time-slice.ts";
import { Nullable, UInt32 } from "./fragments.ts";
import { Mismatch, validate, validateInSteps } from "./validate.ts";

const read = (schema: TSchema, value: unknown) => validate(schema, value, { unknownKeys: "ignore" });

function complaint(schema: TSchema, value: unknown): string {
  try {
    read(schema, value);
  } catch (error) {
    if (error instanceof Mismatch) return error.message;
  }
  throw new Error("no mismatch");
}

const schemaOf = (id: string) => functions.find((definition) => definition.id === id)?.request as TSchema;

test("very many items of lists and maps are validated in steps", () => {
  const item = Type.Object({ name: Type.String(), tags: Type.Array(Type.String(), { default: [] }) });
  const schema = Type.Object({ list: Type.Array(item), map: Type.Record(Type.String(), Type.String()) });
  const names = Array.from({ length: 5000 }, (_, index) => `${index}`);
  const value = {
    list: names.map((name) => ({ name })),
    map: Object.fromEntries(names.map((name) => [name, name])),
  };
  const begin = (sent: unknown) => validateInSteps(schema, sent, { unknownKeys: "ignore" });
  expect([...begin(value)].length).toBeGreaterThanOrEqual(20);
  expect(runAtOnce(begin(value))).toEqual(validate(schema, value, { unknownKeys: "ignore" }));
  const wrong = { ...value, list: [...value.list, { name: 5 }] };
  expect(() => runAtOnce(begin(wrong))).toThrow("list[5000].name is 5; expected a string");
});

describe("what a caller is told", () => {
  const one = Type.Object({ path: Type.String() });
  const update = schemaOf("coder::update-file");
  const cases: [string, TSchema, unknown, string][] = [
    ["a missing field", one, {}, "path is missing; expected a string"],
    [
      "neither an object nor a text",
      Type.Union([one, Type.String()]),
      7,
      "the value is 7; expected an object with path or a string",
    ],
    [
      "an object without its field",
      Type.Union([one, Type.String()]),
      {},
      "path is missing; expected a string",
    ],
    ["a wrong type", one, { path: 7 }, "path is 7; expected a string"],
    ["no object", one, "a.txt", 'the value is the string "a.txt"; expected an object with path'],
    [
      "a number as text",
      schemaOf("coder::list-folder"),
      { page: "2" },
      'page is the string "2"; expected a whole number from 0 to 4294967295',
    ],
    [
      "a fraction",
      schemaOf("coder::list-folder"),
      { page: 1.5 },
      "page is 1.5; expected a whole number from 0 to 4294967295",
    ],
    [
      "null where allowed names both",
      schemaOf("coder::tree"),
      { max_depth: "x" },
      'max_depth is the string "x"; expected a whole number from 0 to 4294967295 or null',
    ],
    [
      "a deep field",
      update,
      { files: [{ path: "a", ops: [{ op: "remove", from_line: 1 }] }] },
      "files[0].ops[0].to_line is missing; expected a whole number from 0 to 4294967295",
    ],
    [
      "an unknown tag",
      update,
      { files: [{ path: "a", ops: [{ op: "replce" }] }] },
      'files[0].ops[0].op is the string "replce"; expected one of "insert", "remove", "update_lines", "replace", "str_replace"',
    ],
    [
      "an inherited tag",
      update,
      { files: [{ path: "a", ops: [{ op: "constructor" }] }] },
      'files[0].ops[0].op is the string "constructor"; expected one of "insert", "remove", "update_lines", "replace", "str_replace"',
    ],
    [
      "no tag",
      update,
      { files: [{ path: "a", ops: [{}] }] },
      'files[0].ops[0].op is missing; expected one of "insert", "remove", "update_lines", "replace", "str_replace"',
    ],
    [
      "half a surrogate pair",
      schemaOf("coder::read-file"),
      { path: "a\ud800" },
      "path holds half of a surrogate pair; expected well-formed Unicode text",
    ],
    [
      "a list for one",
      schemaOf("coder::delete-file"),
      { paths: "a.txt" },
      'paths is the string "a.txt"; expected an array',
    ],
  ];
  test.each(cases)("%s", (_, schema, value, sentence) => {
    expect(complaint(schema, value)).toBe(sentence);
  });
});

test("defaults are filled in, foreign keys are left out, and nothing is inherited", () => {
  const payload = JSON.parse('{"path":"src","__proto__":{"page":9},"_caller_worker_id":"x"}');
  const request = read(schemaOf("coder::list-folder"), payload) as Record<string, unknown>;
  expect(request).toEqual({ page: 1, page_size: null, path: "src" });
  expect(Object.getPrototypeOf(request)).toBe(Object.prototype);
});

test("an unknown key is refused where asked for", () => {
  const schema = Type.Object({ a: UInt32({ default: 1 }) });
  expect(() => validate(schema, { b: 1 }, { unknownKeys: "refuse" })).toThrow(
    "b is not a known key; the keys are a",
  );
});

test("further unknown keys are named, up to four", () => {
  const schema = Type.Object({ a: UInt32({ default: 1 }) });
  const refused = (value: object) => () => validate(schema, value, { unknownKeys: "refuse" });
  expect(refused({ b: 1, c: 1 })).toThrow("b is not a known key, and neither is c; the keys are a");
  expect(refused({ b: 1, c: 1, d: 1, e: 1, f: 1, g: 1 })).toThrow(
    "and neither is c, d, e, f and 1 more; the",
  );
});

test("a default is a fresh value for each call", () => {
  const schema = Type.Object({ list: Type.Array(Type.String(), { default: [] }) });
  const [first, second] = [read(schema, {}), read(schema, {})] as { list: string[] }[];
  first?.list.push("x");
  expect(second?.list).toEqual([]);
});

describe("agrees with TypeBox's own checker", () => {
  const schema = Type.Object({
    text: Type.String(),
    count: UInt32(),
    maybe: Nullable(UInt32()),
    flags: Type.Array(Type.Boolean()),
    op: Type.Union([
      Type.Object({ op: Type.Literal("a"), x: UInt32() }),
      Type.Object({ op: Type.Literal("b"), y: Type.String() }),
    ]),
    kind: Type.Union([Type.Literal("file"), Type.Literal("dir")]),
  });
  // The peer does not know that uint32 has a maximum, so no number here exceeds it.
  const anything = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double({ min: -9, max: 9 }),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
  );
  const field = (right: fc.Arbitrary<unknown>) =>
    fc.oneof({ arbitrary: right, weight: 6 }, { arbitrary: anything, weight: 1 });
  const payloads = fc.record(
    {
      text: field(fc.string()),
      count: field(fc.nat()),
      maybe: field(fc.option(fc.nat())),
      flags: field(fc.array(fc.boolean())),
      op: field(
        fc.oneof(
          fc.record({ op: fc.constant("a"), x: field(fc.nat()) }),
          fc.record({ op: fc.constant("b"), y: field(fc.string()) }),
        ),
      ),
      kind: field(fc.constantFrom("file", "dir")),
    },
    { requiredKeys: ["text", "count", "maybe", "flags", "op"] },
  );

  test("on random payloads", () => {
    let accepted = 0;
    fc.assert(
      fc.property(payloads, (payload) => {
        const wanted = Value.Check(schema, payload);
        let given = true;
        try {
          expect(read(schema, payload)).toEqual(payload as never);
          accepted++;
        } catch (error) {
          if (!(error instanceof Mismatch)) throw error;
          given = false;
        }
        expect(given).toBe(wanted);
      }),
      { numRuns: 2000, seed: 7 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});
