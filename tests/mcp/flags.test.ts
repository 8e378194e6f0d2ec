/**
 * `isError` of a result is true if the call failed or if an entry has `success: false`, and absent otherwise.
 * Clients turn the flag into an exception, and a model would then repeat an edit that was made. The tests
 * call every example of every function. The text is equal with and without `--structured`, and the fields of
 * `structuredContent` fit the schema of the tool.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { TObject, TSchema } from "@sinclair/typebox";
import { Ajv } from "ajv";
import type { FunctionDefinition } from "../../src/calls/contract/definition.ts";
import { workers as offered } from "../../src/serve/workers.ts";
import { defaultSubjects, type Subject } from "../harness/subject.ts";
import { buildTree, type Tree } from "../harness/tree.ts";
import { connectStdio, type McpFixture } from "./client.ts";
import { toolOf } from "./suite-worker.ts";

type Payload = Record<string, unknown>;
type Call = McpFixture["call"];

/** A tree that lets every example of `coder::*` succeed. */
const coderTree: Tree = {
  "old.txt": "old\n",
  "docs/draft.md": "# Draft\n",
  "build/out.js": "out\n",
  "src/main.ts": `import { trim } from "./utils.ts";\n\nfunction main() {\n  const timeout = 30;\n  start(timeout);\n}\n\ngetUser();\n// TODO\nexport function run() {\n}\n`,
  "src/utils.ts": "export const trim = 1;\n",
  "src/search.test.ts": "",
  "server.log": "up\n",
  "package.json": "{}\n",
  "run.sh": "#!/bin/bash\n",
  "notes.md": "notes\n",
  "draft.md": "# Read me\n",
  "README.md": "See docs/draft.md.\n",
  "settings.example.yaml": "a: 1\n",
  "fixes/timeout.patch":
    "--- a/src/main.ts\n+++ b/src/main.ts\n@@ -4 +4 @@\n-  const timeout = 20;\n+  const timeout = 30;\n",
  "templates/index.html": "<html></html>\n",
  "public/index.html": "",
};

const shellTree: Tree = {
  "a.txt": "a\n",
  "run.sh": "#!/bin/sh\n",
  "src/user.ts": "getUser(); // TODO\n",
  "notes.txt": "notes\n",
  "old/a": "",
};

interface Worker {
  readonly definitions: readonly FunctionDefinition[];
  readonly args: readonly string[];
  readonly tree: Tree;
  config(base: string): Payload;
  /** By function, makes earlier calls and returns the fields of an example that depend on their answers. */
  readonly prepare: Readonly<Record<string, (call: Call, example: Payload) => Promise<Payload>>>;
  /** Functions whose requests have no field that could be wrong. */
  readonly neverFails: readonly string[];
  /** By function, a call with an entry that fails, for functions whose entries fail one by one. */
  readonly failedEntries: Readonly<Record<string, Payload>>;
}

const textOf = ({ content }: Awaited<ReturnType<Call>>): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");

const edited = async (call: Call): Promise<Payload> => {
  const file = { path: "src/main.ts", content: "edited\n", overwrite: true };
  await call("coder_create_file", { files: [file] });
  return { seq: Number(/^#?(\d+)/m.exec(textOf(await call("coder_checkpoints", {})))?.[1]) };
};

const job = async (call: Call): Promise<Payload> => {
  const started = textOf(
    await call("shell_exec_bg", { command: "tail", args: ["-n", "0", "-f", "<base>/a.txt"] }),
  );
  return { job_id: /job-[\w-]+/.exec(started)?.[0] };
};

const workers: Readonly<Record<string, Worker>> = {
  coder: {
    definitions: offered.coder.functions,
    args: ["--tools", "all"],
    tree: coderTree,
    config: () => ({}),
    prepare: {
      "coder::commit": async (call) => {
        const planned = await call("coder_transact", {
          changes: [{ op: "delete", path: "old.txt" }],
          dry_run: true,
        });
        return { plan: /\b[0-9a-f]{32}\b/.exec(textOf(planned))?.[0] };
      },
      "coder::undo": async (call, example) => {
        const { seq } = await edited(call);
        return "seq" in example ? { seq } : {};
      },
      "coder::changes": async (call, example) => {
        const next = /\b[\w-]+:\d+\b/.exec(textOf(await call("coder_changes", {})))?.[0];
        return "since" in example ? { since: next } : {};
      },
    },
    neverFails: ["coder::config-status", "coder::info"],
    failedEntries: {
      "coder::read-file": { paths: ["old.txt", "none"] },
      "coder::delete-file": { paths: ["old.txt", "../x"] },
      "coder::update-file": { files: [{ path: "none", ops: [{ op: "remove", from_line: 1, to_line: 1 }] }] },
      "coder::create-file": { files: [{ path: "old.txt", content: "" }] },
      "coder::move": { files: [{ from: "none", to: "to" }] },
      "coder::copy": { files: [{ from: "none", to: "to" }] },
      "coder::make-folder": { paths: ["../x"] },
    },
  },
  shell: {
    definitions: offered.shell.functions.filter(({ needsBus }) => !needsBus),
    args: ["--worker", "shell", "--tools", "all"],
    tree: shellTree,
    config: (base) => ({ base_path: undefined, fs: { host_root: base }, working_dir: base }),
    prepare: { "shell::status": job, "shell::kill": job },
    neverFails: ["shell::list"],
    failedEntries: {
      "shell::fs::sed": { files: ["<base>/none"], pattern: "a", replacement: "b" },
    },
  },
};

/** Whether the answer has one entry per item of a batch, with the success of each. */
function hasEntries({ response }: FunctionDefinition): boolean {
  const results = (response as TObject).properties["results"] as TSchema | undefined;
  const entry = (results?.["items"] ?? {}) as { readonly properties?: object };
  return "success" in (entry.properties ?? {});
}

/** Returns the names of the fields of a request, each of which could get a value of a wrong type. */
const fieldsOf = ({ request }: FunctionDefinition): string[] => Object.keys((request as TObject).properties);

/** Returns a function for calls whose paths are replaced by those of the served folder. */
const callIn =
  (connected: McpFixture): Call =>
  (tool, payload) => {
    const text = JSON.stringify(payload).replaceAll("/srv/data", "<base>");
    return connected.call(tool, JSON.parse(text.replaceAll("<base>", connected.base)) as Payload);
  };

const examplesOf = (definitions: readonly FunctionDefinition[]) =>
  definitions.flatMap(({ id, examples }) =>
    examples.map(({ title, request }) => [id, title, request] as const),
  );

const cases = Object.entries(workers).flatMap(([name, worker]) =>
  ([[], ["--structured"]] as const).flatMap((form) =>
    defaultSubjects.map(
      (subject) => [`${subject} as ${[name, ...form].join(" ")}`, subject, form, worker] as const,
    ),
  ),
);

describe.each(cases)("the %s", (_, subject: Subject, form, worker) => {
  const { definitions, prepare, neverFails, failedEntries } = worker;
  const isStructured = form.length > 0;
  let connected: McpFixture;

  beforeAll(async () => {
    connected = await connectStdio(subject, {
      args: [...worker.args, ...form],
      configure: worker.config,
    });
  });

  afterAll(() => connected[Symbol.asyncDispose]());

  const call: Call = (...sent) => callIn(connected)(...sent);

  test.each(examplesOf(definitions))("%s: %s is no error", async (id, _, example) => {
    buildTree(connected.root, worker.tree);
    const prepared = (await prepare[id]?.(call, example)) ?? {};
    expect(Object.values(prepared)).not.toContain(undefined);
    const result = await call(toolOf(id), { ...example, ...prepared });
    expect(textOf(result)).not.toBe("");
    expect("isError" in result).toBe(false);
    expect("structuredContent" in result).toBe(isStructured);
  });

  const failing = definitions.flatMap((definition) => {
    const { id } = definition;
    return fieldsOf(definition)
      .slice(0, 1)
      .map((field) => [id, { [field]: { wrong: true } }] as const);
  });

  test("every function has a call that fails", () => {
    const without = definitions.filter(({ id }) => !failing.some(([failed]) => failed === id));
    expect(without.map(({ id }) => id).sort()).toEqual([...neverFails]);
  });

  test.each(failing)("%s %j is an error", async (id, payload) => {
    buildTree(connected.root, worker.tree);
    const result = await call(toolOf(id), payload);
    expect(result.isError).toBe(true);
    expect(textOf(result)).not.toBe("");
    expect("structuredContent" in result).toBe(false);
  });

  test("every function with entries has a call of which an entry fails", () => {
    const ids = definitions.filter(hasEntries).map(({ id }) => id);
    expect(Object.keys(failedEntries).sort()).toEqual(ids.sort());
  });

  test.each(Object.entries(failedEntries))(
    "%s %j has a failed entry, and is an error",
    async (id, payload) => {
      buildTree(connected.root, worker.tree);
      const result = await call(toolOf(id), payload);
      expect(result.isError).toBe(true);
      expect("structuredContent" in result).toBe(isStructured);
    },
  );
});

/** Replaces the parts of a text that depend on the process or on the time. */
const plainText = (text: string, { root }: McpFixture): string =>
  text
    .replaceAll(root, "<root>")
    // The number of foreign changes that the feed has seen so far depends on the time.
    .replaceAll(/\b[\da-f]{12}:\d+/g, "<id>:<number>")
    .replaceAll(/\b(?!\d+\b)[\da-f]{12,}\b|job-[\w-]+/g, "<id>")
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\b\d{13}\b|\d+(\.\d+)? m?s\b/g, "<time>")
    .replaceAll(/"(pid|uptime_ms|memory_bytes|duration_ms)":\d+/g, '"$1":0');

describe.each(Object.entries(workers))("the executable as %s, with --structured and without", (_, worker) => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  let forms: readonly [plain: McpFixture, structured: McpFixture];
  let outputSchemas: ReadonlyMap<string, object>;

  beforeAll(async () => {
    const open = (form: readonly string[]) =>
      connectStdio("executable", { args: [...worker.args, ...form], configure: worker.config });
    forms = [await open([]), await open(["--structured"])];
    const { tools } = await forms[1].client.listTools();
    outputSchemas = new Map(tools.map(({ name, outputSchema = {} }) => [name, outputSchema]));
  });

  afterAll(() => Promise.all(forms.map((form) => form[Symbol.asyncDispose]())));

  const failed = Object.entries(worker.failedEntries).map(
    ([id, request]) => [id, "with a failed entry", request] as const,
  );

  test.each([...examplesOf(worker.definitions), ...failed])(
    "%s: %s has the same text and flag, and fields that fit their schema",
    async (id, _, example) => {
      const results = [];
      for (const connected of forms) {
        buildTree(connected.root, worker.tree);
        const call = callIn(connected);
        const prepared = (await worker.prepare[id]?.(call, example)) ?? {};
        results.push(await call(toolOf(id), { ...example, ...prepared }));
      }
      const [plain, structured] = results as [CallToolResult, CallToolResult];
      expect(plain.isError).toBe(structured.isError);
      expect(plainText(textOf(plain), forms[0])).toBe(plainText(textOf(structured), forms[1]));
      expect(
        ajv.validate(outputSchemas.get(toolOf(id))!, structured.structuredContent),
        ajv.errorsText(),
      ).toBe(true);
      // Models know only tools and relative paths.
      expect(textOf(plain)).not.toMatch(/\b(coder|shell)::/);
      if (id.startsWith("coder::")) expect(textOf(plain)).not.toContain(forms[0].root);
    },
  );
});
