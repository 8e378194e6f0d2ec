import { describe, expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { requestFieldsOf } from "../../../tests/harness/request-fields.ts";
import { Refusal } from "../../base/errors.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { validateInSteps } from "../../base/schema/validate.ts";
import { functions } from "../../coder/functions.ts";
import { shellFunctions } from "../../shell/functions.ts";
import type { FunctionDefinition } from "../contract/definition.ts";
import { readPayload, readPayloadInSteps } from "./read-request.ts";
import { requireFit } from "./require-fit.ts";

const definitions = new Map([...functions, ...shellFunctions].map((one) => [one.id, one]));
const forgiving = { isForgiving: true, unknownFields: "refuse" } as const;

function read(id: string, payload: unknown, rules: Parameters<typeof readPayload>[2] = forgiving) {
  const { sentAs: _sentAs, ...read } = readPayload(definitions.get(id)!, payload, rules);
  return read;
}

function refusalOf(id: string, payload: unknown): Refusal {
  try {
    read(id, payload);
  } catch (error) {
    if (error instanceof Refusal) return error;
  }
  throw new Error("not refused");
}

const oneEdit = { files: [{ path: "a", ops: [{ op: "str_replace", old_str: "x", new_str: "y" }] }] };

describe("names of other tool sets", () => {
  test.each([
    ["coder::read-file", { file_path: "a" }, { path: "a" }, ["file_path as path"]],
    ["coder::read-file", { filePath: "a" }, { path: "a" }, ["filePath as path"]],
    ["coder::read-file", { path: "a", lineFrom: 2 }, { path: "a", line_from: 2 }, ["lineFrom as line_from"]],
    ["coder::delete-file", { path: "a" }, { paths: ["a"] }, ["path as paths"]],
    [
      "coder::move",
      { source: "a", destination: "b" },
      { files: [{ from: "a", to: "b" }] },
      ["source as from", "destination as to"],
    ],
    [
      "coder::apply-patch",
      { input: "p", dryRun: true },
      { patch: "p", dry_run: true },
      ["input as patch", "dryRun as dry_run"],
    ],
    ["coder::search", { query: "a", "-i": true }, { query: "a", ignore_case: true }, ["-i as ignore_case"]],
    [
      "coder::replace",
      { search: "a", replacement: "b" },
      { query: "a", replacement: "b" },
      ["search as query"],
    ],
    [
      "coder::update-file",
      { files: [{ path: "a", ops: [{ op: "str_replace", old: "x", new: "y" }] }] },
      oneEdit,
      ["old as old_str", "new as new_str"],
    ],
    ["shell::exec", { cmd: "ls" }, { command: "ls" }, ["cmd as command"]],
    ["shell::fs::mv", { from: "/a", to: "/b" }, { src: "/a", dst: "/b" }, ["from as src", "to as dst"]],
    ["shell::status", { jobId: "j" }, { job_id: "j" }, ["jobId as job_id"]],
  ])("%s %j", (id, payload, expected, notes) => {
    expect(read(id, payload)).toEqual({ payload: expected, notes });
  });

  test.each([
    { file_path: "a", old_string: "x", new_string: "y" },
    { path: "a", oldText: "x", newText: "y" },
    { path: "a", edits: [{ oldString: "x", newString: "y" }] },
    { files: [{ filename: "a", old_str: "x", new_str: "y" }] },
  ])("an edit as %j", (payload) => {
    expect(read("coder::update-file", payload).payload).toEqual(oneEdit);
  });

  test("are said once", () => {
    const ops = [
      { oldText: "a", newText: "b" },
      { oldText: "c", newText: "d" },
    ];
    expect(read("coder::update-file", { path: "a", ops }).notes).toEqual([
      "oldText as old_str",
      "newText as new_str",
    ]);
  });

  test("say each operation that was sent without its kind", () => {
    const ops = [
      { old_str: "a", new_str: "b" },
      { op: "remove", from_line: 1, to_line: 1 },
      { at_line: 1, content: "x" },
    ];
    const files = [{ path: "a", ops }];
    expect(read("coder::update-file", { files }).inferred).toEqual([
      "files[0].ops[0]: str_replace",
      "files[0].ops[2]: insert",
    ]);
    expect(read("coder::update-file", { path: "a", ops: ops.slice(0, 1) }).inferred).toEqual([
      "files[0].ops[0]: str_replace",
    ]);
    expect(
      read("coder::update-file", { files: [{ path: "a", ops: ops.slice(1, 2) }] }).inferred,
    ).toBeUndefined();
  });

  test("two names of one field are one if their values are, and are refused otherwise", () => {
    expect(read("coder::read-file", { path: "a", file_path: "a" }).payload).toEqual({ path: "a" });
    expect(read("coder::read-file", { path: "", file_path: "a" }).payload).toEqual({ path: "a" });
    const { reason, message } = refusalOf("coder::read-file", { path: "a", file_path: "b" });
    expect(reason).toBe("bad-input");
    expect(message).toContain("`file_path` and `path` mean the same");
  });
});

describe("a map that is sent as a list", () => {
  const listed = (...pairs: [key: unknown, value: unknown][]) =>
    pairs.map(([key, value]) => ({ key, value }));

  test.each([
    [listed(["a", "r1"], ["b", "r2"]), { a: "r1", b: "r2" }],
    [[], {}],
    [JSON.stringify(listed(["a", "r1"])), { a: "r1" }],
    [{ a: "r1" }, { a: "r1" }],
    ['{"a":"r1"}', { a: "r1" }],
  ])("%j is %j", (sent, map) => {
    const { payload } = read("coder::apply-patch", { patch: "p", expected_revisions: sent });
    expect((payload as { expected_revisions?: unknown }).expected_revisions ?? {}).toEqual(map);
    expect(read("shell::exec", { command: "a", env: sent }).payload).toMatchObject(
      Object.keys(map).length === 0 ? {} : { env: map },
    );
  });

  test.each([[listed(["a", "r1"], ["a", "r2"])], [["a"]], [[{ key: "a" }]], [listed([1, "r"])]])(
    "%j is left for the schema to refuse",
    (sent) => {
      const { payload } = read("coder::apply-patch", { patch: "p", expected_revisions: sent });
      expect(payload).toMatchObject({ expected_revisions: sent });
    },
  );
});

describe("a field that is unknown", () => {
  test.each([
    ["coder::read-file", { path: "a", offset: 1 }, "offset", "Send `line_from` and `line_to`"],
    ["coder::read-file", { path: "a", head: 1 }, "head", "Send `line_to`"],
    ["coder::read-file", { path: "a", numbred: true }, "numbred", "Did you mean `numbered`?"],
    ["coder::search", { query: "a", glob: "*.ts" }, "glob", "Send `include_globs`"],
    ["coder::search", { pattern: "a" }, "pattern", "Send `query`, and `regex`: true"],
    ["coder::list-folder", { limit: 5 }, "limit", "Send `page_size`"],
    [
      "coder::update-file",
      { files: [{ ...oneEdit.files[0], dry_run: true }] },
      "files[0].dry_run",
      "Send `dry_run` at the top level, not in `files[0]`.",
    ],
    [
      "coder::create-file",
      { files: [{ path: "a", content: "" }], overwrite: true },
      "overwrite",
      "Send `overwrite` in an entry of `files`.",
    ],
    [
      "coder::update-file",
      { path: "a", ops: [{ op: "insert", line: 3, content: "" }] },
      "ops[0].line",
      "with `at_line`",
    ],
    ["coder::delete-file", { paths: ["a"], recursiv: true }, "recursiv", "Did you mean `recursive`?"],
    ["coder::info", { x: 1 }, "x", "It has no fields at all."],
    ["shell::exec", { command: "ls", timeout: 3 }, "timeout", "Send `timeout_ms`, in milliseconds."],
    ["shell::fs::grep", { path: "/a", pattern: "x", glob: "*" }, "glob", "Send `include_glob`"],
    ["shell::exec", { command: "ls", target: { kind: "host", id: 1 } }, "target.id", "`kind`"],
  ])("%s %j", (id, payload, field, advice) => {
    const { reason, message, details } = refusalOf(id, payload);
    expect(reason).toBe("unknown-field");
    expect(details).toEqual({ field });
    expect(message).toContain("Nothing was done.");
    expect(message).toContain(advice);
  });

  test("is refused in every function, and at most 12 fields that its tool shows are named", () => {
    for (const { id, request, examples, busFields = [] } of definitions.values()) {
      const { message } = refusalOf(id, { ...examples[0]!.request, zzzz: 1 });
      const { properties } = request as TObject;
      const isShown = (name: string) =>
        name !== "fs_scope" && !busFields.includes(name) && !("isRare" in properties[name]!);
      const named = Object.keys(properties).filter((name) => message.includes(`\`${name}\``));
      const shown = Object.keys(properties).filter(isShown);
      expect(named.filter((name) => !isShown(name))).toEqual([]);
      expect(named.length).toBe(Math.min(shown.length, 12));
      expect(message.includes(` and ${shown.length - 12} more`)).toBe(shown.length > 12);
    }
  });

  test("is followed by the most similar fields", () => {
    const { message } = refusalOf("coder::search", { query: "a", context_line: 1 });
    expect(message).toMatch(/Its fields are `context_lines_after`, .*`context_lines_before`/);
  });

  test.each([
    ["coder::create-file", { path: "a", files: [{ path: "b", content: "" }] }, "path", "files"],
    ["coder::create-file", { content: "x", files: [{ path: "b", content: "" }] }, "content", "files"],
    ["coder::update-file", { file_path: "a", files: oneEdit.files }, "path", "files"],
    ["coder::move", { from: "a", to: "b", files: [{ from: "c", to: "d" }] }, "from", "files"],
    ["coder::transact", { op: "delete", changes: [{ op: "delete", path: "a" }] }, "op", "changes"],
  ])("%s %j is one entry and a list of them", (id, payload, field, list) => {
    const { reason, message } = refusalOf(id, payload);
    expect(reason).toBe("unknown-field");
    expect(message).toContain(` and \`${list}\` exclude each other:`);
    expect(message).toEndWith(`Nothing was done. Send \`${field}\` in an entry of \`${list}\`.`);
  });

  test("is dropped where the configuration says so, and refused without forgiveness where it says that", () => {
    const payload = { path: "a", offset: 1 };
    expect(read("coder::read-file", payload, { isForgiving: true, unknownFields: "ignore" }).payload).toEqual(
      {
        path: "a",
      },
    );
    const strict = { isForgiving: false, unknownFields: "refuse" } as const;
    expect(() => read("coder::read-file", payload, strict)).toThrow("no field `offset`");
    expect(() => read("coder::read-file", { file_path: "a" }, strict)).toThrow("no field `file_path`");
    expect(read("coder::read-file", { paths: "a" }, strict).payload).toEqual({ paths: "a" });
  });

  test("of the engine is accepted at the top only", () => {
    const payload = { path: "a", content: "", _caller_worker_id: "x" };
    expect(read("coder::create-file", payload).payload).toEqual({ files: [{ path: "a", content: "" }] });
    const inside = { files: [{ path: "a", content: "", _caller_worker_id: "x" }] };
    expect(refusalOf("coder::create-file", inside).reason).toBe("unknown-field");
  });

  test("is not a scope of the call, which functions without one refuse themselves", () => {
    const payload = { fs_scope: { root: "a" } };
    expect(read("coder::info", payload)).toEqual({ payload, notes: [] });
  });

  test("with any name of a prototype is one as well", () => {
    const payload = JSON.parse('{"path":"a","__proto__":{"tail":1}}');
    expect(refusalOf("coder::read-file", payload).details).toEqual({ field: "__proto__" });
    expect(refusalOf("coder::read-file", { path: "a", constructor: 1 }).details).toEqual({
      field: "constructor",
    });
  });
});

describe("a value of another type", () => {
  test.each([
    [
      "coder::read-file",
      { path: "a", line_from: "2", numbered: "True" },
      { path: "a", line_from: 2, numbered: true },
    ],
    ["coder::read-file", { paths: "a" }, { paths: ["a"] }],
    ["coder::read-file", { paths: '["a", "b"]' }, { paths: ["a", "b"] }],
    ["coder::search", { query: "a", include_globs: "[ab].ts" }, { query: "a", include_globs: ["[ab].ts"] }],
    ["coder::search", { query: "a", mode: "files_with_matches" }, { query: "a", mode: "files" }],
    ["coder::search", { query: "a", mode: "count" }, { query: "a", mode: "counts" }],
    ["coder::search", { query: "a", mode: "Files" }, { query: "a", mode: "files" }],
    ["coder::search", { query: "a", mode: "files_with_matches" }, { query: "a", mode: "files" }],
    ["coder::search", { query: "a", mode: "count" }, { query: "a", mode: "counts" }],
    ["coder::update-file", JSON.stringify(oneEdit), oneEdit],
    ["coder::update-file", { files: JSON.stringify(oneEdit.files) }, oneEdit],
    ["coder::update-file", { files: oneEdit.files[0] }, oneEdit],
    ["coder::update-file", { path: "a", ops: JSON.stringify(oneEdit.files[0]!.ops) }, oneEdit],
    ["coder::update-file", { path: "a", ops: [JSON.stringify(oneEdit.files[0]!.ops[0])] }, oneEdit],
    [
      "coder::delete-file",
      { paths: "a", expected_revisions: '{"a":"r"}' },
      { paths: ["a"], expected_revisions: { a: "r" } },
    ],
    [
      "shell::exec",
      { command: "ls", args: "-l", env: '{"A":"b"}' },
      { command: "ls", args: ["-l"], env: { A: "b" } },
    ],
    [
      "shell::exec",
      { command: "ls", target: '{"kind":"host"}' },
      { command: "ls", target: { kind: "host" } },
    ],
  ])("%s %j", (id, payload, expected) => {
    expect(read(id, payload)).toEqual({ payload: expected, notes: [] });
  });

  test.each([
    ["coder::read-file", { path: "a", line_from: "2.5" }],
    ["coder::read-file", { path: "a", line_from: "9007199254740993" }],
    ["coder::read-file", { path: "a", numbered: "yes" }],
    ["coder::read-file", { path: "a", numbered: 1 }],
    ["coder::read-file", { paths: 5 }],
    ["coder::update-file", { files: [{ path: "a", ops: "remove line 3" }] }],
    ["coder::transact", { changes: [{ from: "a", to: "b" }] }],
    ["coder::transact", { changes: [{ path: "a" }] }],
    ["coder::read-file", { path: "a", fs_scope: { root: "b", grants: [] } }],
    ["coder::read-file", { path: "a", fs_scope: '{"root":"b"}' }],
  ])("%s %j stays as it is", (id, payload) => {
    expect(read(id, payload)).toEqual({ payload, notes: [] });
  });
});

test.each([
  [
    "coder::search",
    { query: "a", cursor: "", file_types: [], max_matches: 0, mode: "", path: null },
    { query: "a" },
  ],
  [
    "coder::read-file",
    { path: "a", paths: [], line_from: 0, tail: null, encoding: "", stat: null },
    { path: "a" },
  ],
  ["coder::read-file", { path: "", paths: ["a"] }, { paths: ["a"] }],
  // Undo reads a zero itself, since the newest change must not be undone by mistake.
  ["coder::undo", { seq: 0, transaction: "", paths: [], steps: 1 }, { seq: 0, steps: 1 }],
  ["coder::list-folder", { page: 0, page_size: 0, path: "" }, {}],
  ["coder::search", { query: "", exclude_globs: [] }, { query: "", exclude_globs: [] }],
  ["coder::create-file", { files: [{ path: "a", content: "" }] }, { files: [{ path: "a", content: "" }] }],
  ["coder::update-file", { files: [{ ...oneEdit.files[0], expected_revision: "" }] }, oneEdit],
  ["coder::tree", { max_depth: 0, max_nodes: 0 }, { max_depth: 0 }],
  ["shell::exec", { command: "ls", args: [], cwd: "", timeout_ms: 0 }, { command: "ls", args: [] }],
  [
    "shell::fs::grep",
    { path: "/a", pattern: "x", max_matches: 0 },
    { path: "/a", pattern: "x", max_matches: 0 },
  ],
])("%s %j has placeholders in fields that it does not use", (id, payload, expected) => {
  expect(read(id, payload).payload).toEqual(expected);
});

const opOf = (fields: object): object | undefined =>
  (read("coder::update-file", { path: "a", ops: [fields] }).payload as typeof oneEdit).files[0]!.ops[0];

test.each([
  [
    { old_str: "x", new_str: "y" },
    { op: "str_replace", old_str: "x", new_str: "y" },
  ],
  [{ old_str: "x" }, { op: "str_replace", old_str: "x", new_str: "" }],
  [
    { op: "str_replace", old_str: "x" },
    { op: "str_replace", old_str: "x", new_str: "" },
  ],
  [
    { op: "", at_line: 1, content: "" },
    { op: "insert", at_line: 1, content: "" },
  ],
  [
    { from_line: 1, to_line: 2 },
    { op: "remove", from_line: 1, to_line: 2 },
  ],
  [
    { from_line: 1, to_line: 2, content: "c" },
    { op: "update_lines", from_line: 1, to_line: 2, content: "c" },
  ],
  [
    { pattern: "x", replacement: "" },
    { op: "replace", pattern: "x", replacement: "" },
  ],
  [
    { op: "updateLines", from_line: 1, to_line: 2, content: "" },
    { op: "update_lines", from_line: 1, to_line: 2, content: "" },
  ],
])("the op %j is %j", (sent, op) => {
  expect(opOf(sent)).toEqual(op);
});

test("a change of a transaction may be an edit, and have another name", () => {
  const changes = [
    { path: "a", old_str: "x", new_str: "y" },
    { op: "str_replace", path: "a", old_str: "x", new_str: "y" },
    { op: "rename", from: "a", to: "b" },
    { path: "c", content: "" },
    { op: "mkdir", path: "d" },
  ];
  const update = { op: "update", ...oneEdit.files[0] };
  expect(read("coder::transact", { changes }).payload).toEqual({
    changes: [
      update,
      update,
      { op: "move", from: "a", to: "b" },
      { op: "create", path: "c", content: "" },
      { op: "make-folder", path: "d" },
    ],
  });
  expect(read("coder::transact", { op: "delete", path: "a" }).payload).toEqual({
    changes: [{ op: "delete", path: "a" }],
  });
});

describe("fields of a schema that are sent because it shows them", () => {
  const others = { at_line: null, from_line: null, pattern: null, content: null, ignore_case: null };
  const edit = { op: "str_replace", old_str: "x", new_str: "y" };

  test.each([
    ["null in fields of other operations", { files: [{ path: "a", ops: [{ ...edit, ...others }] }] }],
    [
      "empty ones",
      { files: [{ path: "a", ops: [{ ...edit, at_line: 0, content: "", ignore_case: false }] }] },
    ],
    ["the list, beside the one entry", { path: "a", ops: [edit], files: null }],
    ["the list, empty, beside the one entry", { path: "a", ops: [edit], files: [], answer: null }],
    ["the one entry, beside the list", { ...oneEdit, path: null, ops: null }],
    ["the one entry, empty, beside the list", { ...oneEdit, path: "", ops: [] }],
    ["a name of another tool set, with ours null", { file_path: "a", path: null, ops: [edit] }],
  ])("%s", (_, payload) => {
    expect(read("coder::update-file", payload).payload).toEqual(oneEdit);
  });

  test("a change of a transaction has those of the others", () => {
    const change = { op: "move", from: "a", to: "b", path: null, ops: null, content: null, mode: null };
    expect(read("coder::transact", { changes: [change] }).payload).toEqual({
      changes: [{ op: "move", from: "a", to: "b" }],
    });
  });

  test.each([
    ["coder::update-file", { files: [{ path: "a", ops: [{ ...edit, at_line: 1 }] }] }],
    ["coder::update-file", { ...oneEdit, path: "b" }],
    ["coder::update-file", { ...oneEdit, colour: "" }],
    ["coder::read-file", { path: "a", colour: 0 }],
  ])("%s %j is refused: it says something, or is in no schema", (id, payload) => {
    expect(refusalOf(id, payload).reason).toBe("unknown-field");
  });

  test("without forgiveness they are unknown", () => {
    const rules = { isForgiving: false, unknownFields: "refuse" } as const;
    const payload = { files: [{ path: "a", ops: [{ ...edit, at_line: null }] }] };
    expect(() => read("coder::update-file", payload, rules)).toThrow("at_line");
  });
});

test("very many entries are read, validated and checked in steps of few", () => {
  const read = (id: string, payload: object) => {
    const definition = definitions.get(id)!;
    let steps = 0;
    const count = <T>(running: Steps<T>): T => {
      for (;;) {
        const { done, value } = running.next();
        if (done) return value;
        steps++;
      }
    };
    const result = count(readPayloadInSteps(definition, payload, forgiving));
    const ofReading = steps;
    count(requireFit(definition, result));
    return { payload: result.payload, ofReading, ofFit: steps - ofReading };
  };
  const many = <T>(entry: (index: number) => T) => Array.from({ length: 1000 }, (_, index) => entry(index));
  const files = many((index) => ({ file_path: `f${index}`, content: "x" }));
  const created = read("coder::create-file", { files });
  expect(created.payload).toEqual({ files: many((index) => ({ path: `f${index}`, content: "x" })) });
  expect(created.ofReading).toBeGreaterThan(30);
  expect(created.ofFit).toBeGreaterThan(14);
  const ops = many((index) => ({ at_line: `${index + 1}`, content: "x" }));
  const updated = read("coder::update-file", { path: "f", ops });
  const expected = many((index) => ({ op: "insert", at_line: index + 1, content: "x" }));
  expect(updated.payload).toEqual({ files: [{ path: "f", ops: expected }] });
  expect(updated.ofReading).toBeGreaterThan(30);
});

describe("very many entries of the profile contract", () => {
  const count = 20_000;
  const lists = [...definitions.values()].flatMap((definition) =>
    requestFieldsOf(definition.request)
      .filter(({ kind, pointer }) => kind === "Array" && !pointer.startsWith("/fs_scope"))
      .map((field) => [`${definition.id}${field.pointer}`, definition, field] as const),
  );

  /** Returns the steps of reading a payload, as `invoke` reads it. */
  function* stepsOf(definition: FunctionDefinition, payload: unknown): Steps<unknown> {
    if (definition.parse !== undefined) return yield* definition.parse(payload);
    const context = { profile: {} } as never;
    const normal =
      definition.normalize === undefined ? payload : yield* definition.normalize(payload, context);
    return yield* validateInSteps(definition.request, normal, { unknownKeys: "ignore" });
  }

  test.each(lists)("of %s are read in steps", (_, definition, { requestWith, largeValue }) => {
    const steps = [...stepsOf(definition, requestWith(largeValue(count)))].length;
    expect(steps).toBeGreaterThan(count / 5000);
  });

  test.each(lists)("of %s that do not fit are refused", (_, definition, { requestWith }) => {
    const run = () => [...stepsOf(definition, requestWith(Array(count).fill(0)))];
    expect(run).toThrow(/0|number/);
  });
});

test("texts that stand for lists are parsed up to a million characters", () => {
  const listOf = (length: number) => JSON.stringify([{ path: "x".repeat(length) }]);
  const { payload } = read("coder::read-file", { files: listOf(60_000) });
  expect(payload).toEqual({ files: [{ path: "x".repeat(60_000) }] });
  const edits = {
    files: [
      { path: "a", ops: listOf(999_000) },
      { path: "b", ops: listOf(2000) },
    ],
  };
  const { files } = read("coder::update-file", edits, { ...forgiving, unknownFields: "ignore" }).payload as {
    files: { ops: unknown }[];
  };
  expect(files.map(({ ops }) => typeof ops)).toEqual(["object", "string"]);
});

test.each([
  ["coder::read-file", { paths: "[".repeat(100_000) }, "`paths`"],
  ["coder::read-file", { files: [`{"path": ${"[".repeat(1000)}`] }, "`files[0]`"],
  ["coder::update-file", { path: "a", ops: "[".repeat(1000) }, "`ops`"],
  ["coder::create-file", { files: [`{"path": ${"1".repeat(2000)}}`] }, "`files[0]`"],
  ["coder::apply-patch", { expected_revisions: `{"a": ${"[".repeat(1000)}` }, "`expected_revisions`"],
])("a text of %s with nesting or a number that no field needs is refused", (id, payload, field) => {
  const { reason, message } = refusalOf(id, payload);
  expect(reason).toBe("bad-input");
  expect(message).toContain(`The JSON in ${field} `);
  expect(message).toMatch(/127 levels|1000 characters/);
});

test("errors name the fields that were sent", () => {
  const { message } = refusalOf("coder::read-file", { file_path: "a", filename: "b" });
  expect(message).toContain("The fields `filename` and `file_path` mean the same");
  expect(refusalOf("coder::read-file", { path: "a", filename: "b" }).message).toContain(
    "The fields `filename` and `path` mean the same",
  );
  const ops = Array(1001).fill({ op: "insert", at_line: 1, content: "x" });
  expect(refusalOf("coder::update-file", { path: "a", ops }).message).toStartWith("`ops` has 1001 entries");
  const pattern = "x".repeat(70_000);
  const replace = { path: "a", ops: [{ op: "replace", pattern, replacement: "" }] };
  expect(refusalOf("coder::update-file", replace).message).toStartWith('"ops[0].pattern" has 70000');
});
