/**
 * Compares `coder::transact` with the functions that make one change: the trees and the refusals must be
 * equal, and the changes atomic.
 */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import { buildTree, snapshotTree, type Tree } from "../../tests/harness/tree.ts";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder } from "./services.ts";

const tree: Tree = {
  a: "one\n",
  b: { text: "two\n", mode: 0o600 },
  "s/a": "three\n",
  "s/t/x": { text: "four\n", mode: 0o755 },
  "s/t/ln": { link: "../a" },
  "u/": null,
  "v/.env": "denied",
  ln: { link: "s" },
};

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
const log = createLog({ level: "error", form: "text", write: (line) => process.stderr.write(line) });

/** Opens a worker that serves its own folder. */
async function open(name: string) {
  const folder = join(root, name);
  buildTree(folder, {});
  const config = { ...defaultConfig(), base_path: join(folder, "base"), fsync: false };
  const runtime = await openCoder(config, { environment: { XDG_STATE_HOME: join(root, `${name}-state`) } });
  const invoke = createInvoke(runtime, log);
  return {
    close: () => runtime.close(),
    build: () => buildTree(folder, tree),
    snapshot: () => snapshotTree(folder),
    async call(id: string, request: object): Promise<Answer> {
      const answer = await invoke(functions.find((definition) => definition.id === id)!, request);
      if ("error" in answer) return { error: JSON.parse(answer.error) };
      return answer.answer as Answer;
    },
  };
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details?: { readonly change?: number };
}

interface Answer {
  readonly error?: Failure;
  readonly plan?: string;
  readonly results?: readonly { readonly error?: string | Failure; readonly revision?: string }[];
}

const [single, together] = [await open("single"), await open("together")];
afterAll(async () => {
  await single.close();
  await together.close();
  rmSync(root, { recursive: true });
});

const path = fc.oneof(
  fc.constantFrom("a", "b", "s", "s/a", "s/t", "s/t/x", "u", "ln", "ln/a", "n", "n/a", "n/t/x", "u/n", "v"),
  fc
    .array(fc.constantFrom("a", "b", "s", "t", "u", "x", "ln", "n"), { minLength: 1, maxLength: 3 })
    .map((names) => names.join("/")),
);
const text = fc.constantFrom("new\n", "other\n", "");
const mostly = fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false));
const mode = fc.constantFrom("0644", "0600", "0755");

const change = fc.oneof(
  fc.record({ op: fc.constant("create"), path, content: text, mode, overwrite: mostly }),
  fc.record({
    op: fc.constant("update"),
    path,
    ops: fc.tuple(fc.record({ op: fc.constant("insert"), at_line: fc.constant(1), content: text })),
  }),
  fc.record({ op: fc.constant("delete"), path, recursive: fc.constant(true) }),
  fc.record({ op: fc.constant("move"), from: path, to: path, overwrite: mostly }),
  fc.record({ op: fc.constant("copy"), from: path, to: path, overwrite: mostly }),
  fc.record({ op: fc.constant("make-folder"), path, mode }),
) as fc.Arbitrary<Readonly<Record<string, unknown>> & { readonly op: string }>;

/** Returns the call that makes only this change. */
function singleCall({ op, ...fields }: Readonly<Record<string, unknown>>): [string, object] {
  const { path, recursive, mode } = fields;
  if (op === "delete") return ["coder::delete-file", { paths: [path], recursive }];
  if (op === "make-folder") return ["coder::make-folder", { paths: [path], mode }];
  const id = op === "create" || op === "update" ? `coder::${op}-file` : `coder::${op}`;
  return [id, { files: [fields] }];
}

async function failureOfSingle(change: Readonly<Record<string, unknown>>): Promise<Failure | undefined> {
  const { error, results } = await single.call(...singleCall(change));
  const failed = error ?? results?.[0]?.error;
  return typeof failed === "string" ? JSON.parse(failed) : failed;
}

test("the same tree as by single calls, or the first refusal and no change; a dry run says which", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 8 }),
      fc.boolean(),
      fc.boolean(),
      async (list, planned, skips) => {
        single.build();
        together.build();
        const before = together.snapshot();
        let failed: { at: number; failure: Failure } | undefined;
        // Half of the lists have only changes that can be made.
        const changes: object[] = [];
        for (const change of list) {
          const failure = await failureOfSingle(change);
          if (failure !== undefined && skips) continue;
          changes.push(change);
          if (failure === undefined) continue;
          failed = { at: changes.length - 1, failure };
          break;
        }
        if (changes.length === 0) return;
        const tried = await together.call("coder::transact", { changes, dry_run: true });
        expect(together.snapshot()).toEqual(before);
        const done = planned
          ? await together.call("coder::commit", { plan: tried.plan ?? "0f".repeat(16) })
          : await together.call("coder::transact", { changes });
        if (failed === undefined) {
          expect(done.error).toBeUndefined();
          expect(done.results).toEqual(tried.results!);
          expect(together.snapshot()).toEqual(snapshotOf(single));
        } else {
          const { code, message } = failed.failure;
          expect(tried.error).toMatchObject({ code, message, details: { change: failed.at } });
          expect(done.error).toEqual(planned ? expect.objectContaining({ code: "C221" }) : tried.error!);
          expect(together.snapshot()).toEqual(before);
        }
      },
    ),
    propertyRuns(100),
  );
});

const snapshotOf = ({ snapshot }: { snapshot: typeof single.snapshot }) => snapshot();
