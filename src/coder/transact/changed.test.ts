/** Tests changes by another program between the plan of a transaction and its steps. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../base/log/log.ts";
import { createInvoke } from "../../calls/invoke.ts";
import { revisionOfBytes } from "../../filesystem/files/revision.ts";
import { defaultConfig } from "../config.ts";
import { functions } from "../functions.ts";
import { openCoder } from "../services.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
});
afterEach(() => rmSync(root, { recursive: true }));

const log = createLog({ level: "error", form: "text", write: () => undefined });
const edit = { op: "update", path: "a", ops: [{ op: "str_replace", old_str: "one", new_str: "two" }] };

/** Opens a worker that makes each of `changes` after planning a transaction and before its steps. */
async function openOvertaken(changes: readonly string[]) {
  const environment = { XDG_STATE_HOME: join(root, "state") };
  const base = join(root, "base");
  mkdirSync(base);
  writeFileSync(join(base, "a"), "one\n");
  const runtime = await openCoder({ ...defaultConfig(), base_path: base }, { environment, log });
  const left = [...changes];
  const { transactions } = runtime;
  const overtaken: NonNullable<typeof transactions> = {
    ...transactions!,
    run: (plan, committing) =>
      transactions!.run(async () => {
        const made = await plan();
        const change = left.shift();
        if (change !== undefined) writeFileSync(join(base, "a"), change);
        return made;
      }, committing),
  };
  const invoke = createInvoke({ ...runtime, transactions: overtaken } as typeof runtime, log);
  return {
    text: () => readFileSync(join(base, "a"), "utf8"),
    async call(id: string, payload: object) {
      const outcome = await invoke(functions.find((one) => one.id === id)!, payload);
      return "error" in outcome ? JSON.parse(outcome.error) : outcome.answer;
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}

test("is changed by the transaction as if it had been there before", async () => {
  await using worker = await openOvertaken(["one, of another program\n"]);
  expect(await worker.call("coder::transact", { changes: [edit] })).toMatchObject({ committed: true });
  expect(worker.text()).toBe("two, of another program\n");
});

test("is not what expected_revision says: C221", async () => {
  await using worker = await openOvertaken(["one, of another program\n"]);
  const expected_revision = revisionOfBytes([Buffer.from("one\n")]);
  const answer = await worker.call("coder::transact", { changes: [{ ...edit, expected_revision }] });
  expect(answer).toMatchObject({ code: "C221", details: { change: 0, path: "a" } });
  expect(worker.text()).toBe("one, of another program\n");
});

test("is not what a plan was made for: C221", async () => {
  await using worker = await openOvertaken(["one, of another program\n"]);
  const { plan } = await worker.call("coder::transact", { changes: [edit], dry_run: true });
  const answer = await worker.call("coder::commit", { plan });
  expect(answer).toMatchObject({ code: "C221", details: { paths: ["a"] } });
  expect(worker.text()).toBe("one, of another program\n");
});

test("is changed again and again: C216, and nothing is changed", async () => {
  await using worker = await openOvertaken(["one 1\n", "one 22\n"]);
  expect(await worker.call("coder::transact", { changes: [edit] })).toMatchObject({
    code: "C216",
    details: { change: 0 },
  });
  expect(worker.text()).toBe("one 22\n");
});

test("is touched again and again, with what a plan was made for in it: C221", async () => {
  await using worker = await openOvertaken(["one\n", "one\n"]);
  const { plan } = await worker.call("coder::transact", { changes: [edit], dry_run: true });
  const answer = await worker.call("coder::commit", { plan });
  expect(answer).toMatchObject({ code: "C221", details: { change: 0 } });
  expect(await worker.call("coder::commit", { plan })).toMatchObject({ committed: true });
});
