import { describe, expect, test } from "bun:test";
import { Kind, type TObject, type TSchema } from "@sinclair/typebox";
import { Refusal } from "../../base/errors.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { Mismatch, validate } from "../../base/schema/validate.ts";
import { functions } from "../../coder/functions.ts";
import { shellFunctions } from "../../shell/functions.ts";
import { PlainRefusal } from "../../shell/programs/plain-refusal.ts";
import { fsScopeField } from "../contract/fs-scope.ts";
import { readPayload } from "./read-request.ts";
import { requireFit } from "./require-fit.ts";
import { isArray, isObject, literalsOf, mayBeLeftOut, objectsOf, withoutNull } from "./schemas.ts";

const definitions = new Map([...functions, ...shellFunctions].map((one) => [one.id, one]));

/** Returns the refusal of a payload, or `undefined` if it is taken. */
function refusalOf(id: string, payload: unknown): string | undefined {
  const definition = definitions.get(id)!;
  try {
    runAtOnce(
      requireFit(
        definition,
        readPayload(definition, payload, { isForgiving: true, unknownFields: "refuse" }),
      ),
    );
    return undefined;
  } catch (error) {
    if (error instanceof Refusal || error instanceof PlainRefusal) return error.message;
    throw error;
  }
}

test.each([
  // A number is named if it is the only one that was sent.
  ["coder::read-file", { path: "a", line_from: "L10" }, 'Send "line_from": 10.'],
  ["coder::read-file", { path: "a", tail: "5 lines" }, 'Send "tail": 5.'],
  ["coder::undo", { seq: [91] }, 'Send "seq": 91.'],
  ["coder::undo", { seq: [91, 92] }, "`seq` takes one value. Make a call for each."],
  // A list in a list cannot be meant as one value, and neither can a number that reading has rounded.
  [
    "coder::delete-file",
    { paths: [["a", "b"]] },
    "Each entry of `paths` is one value. Send each as an entry of its own.",
  ],
  ["coder::make-folder", { paths: ["a", { path: "b" }] }, 'Send "b".'],
  ["coder::make-folder", { paths: [{ path: "b", mode: "0700" }] }, undefined],
  ["coder::search", { query: 12 }, 'Send "query": "12".'],
  ["coder::search", { query: 2 ** 60 }, "Send it as a string, in quotes."],
  ["coder::read-file", { path: "a", tail: "9007199254740993 lines" }, undefined],
  ["coder::read-file", { path: "a", line_from: 10.5 }, undefined],
  ["coder::read-file", { path: "a", tail: -2 }, undefined],
  ["coder::tree", { max_nodes: -1 }, undefined],
  ["coder::undo", { steps: "#5" }, undefined],
  ["shell::exec", { command: "ls", timeout_ms: "30s" }, 'Send "timeout_ms": 30000.'],
  ["shell::exec", { command: "ls", max_output_bytes: "30s" }, undefined],
  // The refusal of an open question names the choices.
  [
    "coder::update-file",
    { path: "a", op: "insert", at_line: "end", content: "x" },
    "It is the number of the line before which the text goes; one more than the file has lines appends.",
  ],
  [
    "coder::update-file",
    { path: "a", ops: [{ op: "update_lines", from_line: 5, content: "x" }] },
    'For line 5 alone send "to_line": 5; for more, the number of the last line.',
  ],
  [
    "coder::update-file",
    { path: "a", op: "remove", from_line: 10 },
    'For line 10 alone send "to_line": 10; for more, the number of the last line.',
  ],
  // Lines are joined, and nothing is cut.
  [
    "coder::update-file",
    { path: "a", op: "insert", at_line: 1, content: ["// a", "// b"] },
    'Send "content": "// a\\n// b".',
  ],
  [
    "coder::create-file",
    { path: "a", content: ["x".repeat(200), "y".repeat(200)] },
    'Send one string, with "\\n" between lines.',
  ],
  ["coder::create-file", { path: "a", content: { a: 1 } }, "Send its JSON as a string."],
  ["coder::create-file", { path: "a", content: 123 }, 'Send "content": "123".'],
  ["coder::create-file", { path: "a", content: null }, undefined],
  // A number is not named in a field whose texts have a form that no number has.
  [
    "coder::changes",
    { since: 5 },
    'Send the position that an earlier answer ended with, such as "5f0c1a2b3c4d:17".',
  ],
  ["coder::apply-patch", { patch: 5 }, "Send the text of the patch."],
  ["coder::apply-patch", { patch: ["+a", "+b"] }, 'Send "patch": "+a\\n+b".'],
  ["coder::commit", { plan: 5 }, "Send the 32 hex digits that a dry run answered."],
  ["coder::search", { query: "a", cursor: 5 }, "Send the cursor of the answer before, or leave it out."],
  [
    "coder::create-file",
    { path: "a", content: "", expected_revision: true },
    'Send "sha256:" and 64 hex digits, as a read or a write answered them.',
  ],
  ["coder::undo", { transaction: 5 }, "Send the 16 hex digits that an earlier answer had."],
  ["coder::checkpoints", { path: 5 }, 'Send "path": "5".'],
  // 0 is in the published range, and no line has that number.
  [
    "coder::update-file",
    { path: "a", op: "remove", from_line: -1, to_line: 2 },
    "Lines are numbered from 1.",
  ],
  ["coder::update-file", { path: "a", op: "insert", at_line: -3, content: "" }, "Lines are numbered from 1."],
  ["coder::create-file", { path: "a", content: "", mode: 644 }, 'Send "mode": "0644".'],
  ["coder::create-file", { path: "a", content: "", mode: 420 }, 'Its digits are octal, such as "0644".'],
  // Paths are those that were sent.
  [
    "coder::search",
    { query: "a", path: ["lib", "test/", "./src"] },
    'Send "include_globs": ["lib","lib/**","test/**","src","src/**"].',
  ],
  [
    "coder::search",
    { query: "a", path: ["*.md", "[id].ts"] },
    'Send "include_globs": ["*.md","\\\\[id\\\\].ts","\\\\[id\\\\].ts/**"].',
  ],
  ["coder::read-file", { path: ["a", "b"] }, 'Send "paths": ["a","b"].'],
  ["coder::read-file", { path: ["a", "b"].map((name) => name.repeat(200)) }, "Send these in `paths`."],
  ["coder::list-folder", { path: ["a", "b"] }, "`path` takes one value. Make a call for each."],
  ["coder::list-folder", { path: ["a"] }, 'Send "path": "a".'],
  ["coder::read-file", { files: ["a.js"] }, 'Send {"path":"a.js"}.'],
  ["coder::read-file", { paths: 5 }, 'Send "paths": ["5"].'],
  [
    "coder::read-file",
    { paths: ["a", { path: "b", line_from: 3 }] },
    'Send "files": [{"path":"a"},{"path":"b","line_from":3}].',
  ],
  ["coder::move", { files: ["a", "b"] }, "It is an object with `from` and `to`."],
  ["coder::search", { query: ["a", "b"] }, 'Send "patterns": ["a","b"]. Lines that have any of them match.'],
  // A map has the form that tools show.
  [
    "shell::exec",
    { command: "ls", env: ["A=1"] },
    'Send a list with an entry for each: [{"key": "NAME", "value": "text"}].',
  ],
  [
    "shell::exec_bg",
    { command: "ls", env: "A=1" },
    'Send a list with an entry for each: [{"key": "NAME", "value": "text"}].',
  ],
  [
    "coder::delete-file",
    {
      paths: ["a"],
      expected_revisions: [
        { key: "a", value: "1" },
        { key: "a", value: "2" },
      ],
    },
    'The field expected_revisions has two entries with the key "a". Nothing was done. Send each key once.',
  ],
  // A similar word is a question.
  ["coder::read-file", { path: "a", numbered: 1 }, 'Send "numbered": true.'],
  ["coder::delete-file", { paths: ["a"], recursive: "yes" }, 'Send "recursive": true.'],
  ["coder::delete-file", { paths: ["a"], recursive: "maybe" }, undefined],
  ["coder::search", { query: "a", mode: "contents" }, 'Did you mean "content"?'],
  [
    "coder::update-file",
    { path: "a", ops: "remove two" },
    "Each entry is an object with `op` and the fields of that.",
  ],
  [
    "coder::update-file",
    { path: "a", op: "replace_lines", from_line: 1, to_line: 2, content: "x" },
    'Send "op": "update_lines".',
  ],
  [
    "coder::update-file",
    { path: "a", content: "x" },
    'Send "op": "insert", `at_line`; or "op": "update_lines", `from_line`, `to_line`; coder::create-file with "overwrite": true for a whole file.',
  ],
])("%s %j is refused with advice", (id, payload, advice) => {
  const refusal = refusalOf(id, payload);
  expect(refusal).toBeDefined();
  if (advice === undefined) expect(refusal).toMatch(/; expected [^.]+\.$/);
  else expect(refusal).toEndWith(advice);
});

test("a checkpoint is taken as answers write it", () => {
  for (const [id, field] of [
    ["coder::undo", "seq"],
    ["coder::checkpoints", "seq"],
    ["coder::checkpoints", "before_seq"],
    ["coder::changes", "checkpoint"],
  ] as const) {
    const definition = definitions.get(id)!;
    const rules = { isForgiving: true, unknownFields: "refuse" } as const;
    expect(readPayload(definition, { [field]: "#186" }, rules).payload).toEqual({ [field]: 186 });
    expect(refusalOf(id, { [field]: "#186" })).toBeUndefined();
  }
});

test.each([
  ["coder::update-file", { path: "a", op: "insert", at_line: "end", content: "x" }, "The field at_line is"],
  ["coder::update-file", { path: "a", ops: [{ op: "remove", from_line: 1 }] }, "The field ops[0].to_line is"],
  [
    "coder::update-file",
    { files: [{ path: "a", old_str: 5, new_str: "" }] },
    "The field files[0].old_str is",
  ],
  ["coder::update-file", { path: "a", ops: { op: "remove", from_line: 1 } }, "The field ops.to_line is"],
  ["coder::transact", { op: "create", path: "a" }, "The field content is missing"],
  ["coder::create-file", { files: [{ path: "a", content: 5 }] }, "The field files[0].content is"],
  ["coder::update-file", { path: "a", content: "x" }, "The field op is missing"],
  [
    "coder::update-file",
    { path: "a", op: "replace", old_str: "x" },
    '"op": "replace" has no field `old_str`.',
  ],
])("the refusal of %s %j names the field as it was sent", (id, payload, name) => {
  expect(refusalOf(id, payload)).toStartWith(name);
});

test.each([
  [{ path: "a", op: "replace", old_str: "x", new_str: "y" }, '`old_str` goes with "op": "str_replace".'],
  [{ path: "a", op: "str_replace", pattern: "x", replacement: "y" }, '`pattern` goes with "op": "replace".'],
  [
    { path: "a", ops: [{ op: "str_replace", old_str: "x", from_line: 1 }] },
    '`from_line` goes with "op": "remove" or "op": "update_lines".',
  ],
])("a field of another op is refused with that op: %j", (payload, advice) => {
  expect(refusalOf("coder::update-file", payload)).toContain(advice);
});

test.each(["start_line", "end_line", "line", "line_number", "view_range"])("%s goes with no text", (name) => {
  const ofText =
    "Send more of the text around it in `old_str`, so that it occurs once, or an op `update_lines`";
  const ofPattern = "Send a `pattern` that matches only there, or an op `update_lines`";
  const edit = { old_str: "x", new_str: "y", [name]: 2 };
  const pattern = { op: "replace", pattern: "x", replacement: "y", [name]: 2 };
  for (const [payload, advice] of [
    [{ path: "a", ops: [{ op: "str_replace", ...edit }] }, ofText],
    [{ path: "a", ...edit }, ofText],
    [{ files: [{ path: "a", ...edit }] }, ofText],
    [{ path: "a", ops: [pattern] }, ofPattern],
    [{ path: "a", ...pattern }, ofPattern],
  ] as const)
    expect(refusalOf("coder::update-file", payload)).toContain(
      `${advice} with \`from_line\` and \`to_line\` to replace lines by number.`,
    );
  expect(refusalOf("coder::update-file", { path: "a", content: "x", [name]: 2 })).not.toContain("old_str");
});

/** A field of a request: its path, and a payload with any value there. */
interface Place {
  readonly field: string;
  readonly schema: TSchema;
  readonly payload: (value: unknown) => unknown;
}

/** Texts that no field takes for anything but a text. */
let texts = 0;
const validText = () => `text-${++texts}`;

function validValue(schema: TSchema): unknown {
  const type = withoutNull(schema);
  const [object] = objectsOf(type);
  if (object !== undefined) return validObject(object);
  if (isArray(type)) return [validValue(type.items)];
  const [literal] = literalsOf(type) ?? [];
  if (literal !== undefined) return literal;
  if (type[Kind] === "Integer") return type["minimum"] ?? 0;
  if (type[Kind] === "Boolean") return true;
  if (type[Kind] === "Record") return {};
  return type["format"] === "uuid" ? "8e7f7f3e-3b1c-4f0e-9d9d-0a0a0a0a0a0a" : validText();
}

const validObject = ({ properties }: TObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) =>
      mayBeLeftOut(name, schema) ? [] : [[name, validValue(schema)]],
    ),
  );

function placesIn(object: TObject, field: string, payload: Place["payload"]): Place[] {
  return Object.entries(object.properties).flatMap(([name, schema]) => {
    if (name === fsScopeField) return [];
    const path = field === "" ? name : `${field}.${name}`;
    const at = (value: unknown) => payload({ ...validObject(object), [name]: value });
    const here = { field: path, schema, payload: at };
    const type = withoutNull(schema);
    if (isObject(type)) return [here, ...placesIn(type, path, at)];
    if (!isArray(type)) return [here];
    const item = (value: unknown) => at([value]);
    const inItems = objectsOf(type.items).flatMap((one) => placesIn(one, `${path}[0]`, item));
    return [here, { field: `${path}[0]`, schema: type.items, payload: item }, ...inItems];
  });
}

const wrong: readonly unknown[] = [
  "zzz",
  "L17",
  "#17",
  "17-19",
  "17s",
  "yes",
  7.5,
  -3,
  1,
  17_171_717_171,
  true,
  [],
  ["q1", "q2"],
  [17, 18],
  ["q".repeat(400), "q2"],
  { key: "q1" },
  { path: "q1" },
  [{ path: "q1" }],
  null,
  undefined,
];

/** Returns the values of a JSON, with arrays and objects taken apart. */
const leaves = (value: unknown): unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [value];

/** Returns whether a value says nothing that the request does not. */
function isDerived(value: unknown, sent: unknown): boolean {
  const all = leaves(sent);
  if (typeof value === "boolean")
    return all.some((one) => [1, 0, "yes"].includes(one as string) || one === value);
  const text = String(value);
  return (
    all.some((one) => String(one).includes(text.replace(/^0|000$/g, ""))) ||
    all.includes(text.replace(/\/\*\*$/, "")) ||
    text.split("\n").every((line) => all.includes(line))
  );
}

describe("advice on a wrong value in any field of any function", () => {
  const cases = [...definitions.values()].flatMap(({ id, request }) =>
    placesIn(request as unknown as TObject, "", (value) => value).map(
      (place) => [id, place.field, place] as const,
    ),
  );

  test("covers all functions", () => {
    expect(cases.length).toBeGreaterThan(300);
    for (const id of definitions.keys())
      if (Object.keys(definitions.get(id)!.request.properties).length > 1)
        expect(cases.some(([of]) => of === id)).toBe(true);
  });

  test.each(cases)("of %s, %s, names no value that was not sent", (id, field, { schema, payload }) => {
    for (const value of wrong) {
      const sent = payload(value);
      const [advice, values] =
        /\bSend (?:"\w+": )?("(?:\\.|[^"\\])*"|[[{].*[\]}]|-?\d[\d.]*\d|\d|true|false)(?=[.;])/.exec(
          refusalOf(id, sent) ?? "",
        ) ?? [];
      // A kind is named that has the fields which were sent.
      if (advice === undefined || field.endsWith(".op") || /^Send "op"/.test(advice)) continue;
      const named = JSON.parse(values!) as unknown;
      for (const leaf of leaves(named))
        expect({ advice, isDerived: isDerived(leaf, value) }).toEqual({ advice, isDerived: true });
      if (field.endsWith(/"(\w+)": /.exec(advice)?.[1] ?? "]"))
        expect(() => fit(schema, named)).not.toThrow(Mismatch);
    }
  });
});

const fit = (schema: TSchema, value: unknown) => validate(schema, value, { unknownKeys: "ignore" });
