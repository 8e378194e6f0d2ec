/**
 * A worker that makes one transaction of twenty changes (`transact`), or only starts and sweeps (`start`), and prints how many
 * calls of the file system that took. It is killed in between: see kill-at.ts. With `count` it makes many transactions, each of
 * which adds one to the numbers in all files; with `edit` as many edits of one file do.
 */
import { loadConfig, openCoder } from "../../src/coder/services.ts";
import { readNamed } from "../../src/config/source.ts";
import { createLog } from "../../src/log/log.ts";
import { deadlineIn } from "../../src/scheduling/deadline.ts";
import { PendingTree } from "../../src/transactions/pending-tree.ts";

const [mode, configFile] = process.argv.slice(2);
if (configFile === undefined) throw new Error("usage: transaction-child.ts transact|start|count|edit CONFIG");

const { fileCalls } = globalThis as unknown as { fileCalls: { count: number; isCounting: boolean } };
const log = createLog({ level: "info", form: "json", write: (line) => process.stderr.write(line) });
const { env: environment } = process;
const config = loadConfig({ config: await readNamed(configFile), basePath: undefined, environment });
if (mode === "start") fileCalls.isCounting = true;
const runtime = await openCoder(config, { environment, log });
if (mode === "start") await runtime.sweep!();
else if (mode === "transact") {
  fileCalls.isCounting = true;
  await transact(changeAll);
} else
  for (let round = 0; round < (mode === "count" ? 20 : 200); round++)
    await (mode === "count" ? transact(countAll) : edit());
fileCalls.isCounting = false;
console.log(fileCalls.count);
await runtime.close();

async function transact(change: (pending: PendingTree) => Promise<void>): Promise<void> {
  const { jail, transactions } = runtime;
  const requester = { deadline: deadlineIn(600_000), functionId: "coder::transact" };
  const { transaction } = await transactions!.run(
    async () => {
      const pending = new PendingTree({ jail, config }, { maxBytes: 1_000_000 });
      await change(pending);
      return { steps: pending.steps, keys: pending.keys, value: undefined };
    },
    { requester },
  );
  if (transaction === undefined) throw new Error("nothing was done");
}

/** Made again when another worker was faster, as a client does that gets C216. */
async function edit(): Promise<void> {
  const requester = { deadline: deadlineIn(600_000) };
  const change = (before: Buffer) => Buffer.from(String(Number(before) + 1));
  for (;;) {
    try {
      return await runtime.files.update("0.txt", change, requester);
    } catch (error) {
      if ((error as { reason?: string }).reason !== "io") throw error;
    }
  }
}

async function countAll(pending: PendingTree): Promise<void> {
  const requester = { deadline: deadlineIn(600_000) };
  for (let file = 0; file < 5; file++)
    await pending.update(`${file}.txt`, (before) => Buffer.from(String(Number(before) + 1)), requester);
}

/** Twenty changes of every kind, some of them of what others make. */
async function changeAll(pending: PendingTree): Promise<void> {
  const requester = { deadline: deadlineIn(600_000) };
  const create = (path: string, text: string, overwrite = false) =>
    pending.create(path, Buffer.from(text), { mode: 0o644, overwrite, parents: true }, requester);
  const edit = (path: string) =>
    pending.update(path, (before) => Buffer.concat([before, Buffer.from("more\n")]), requester);
  const remove = (path: string) => pending.remove(path, { recursive: true }, requester);
  const both = { overwrite: true, parents: true };
  const move = (from: string, to: string) => pending.move({ from, to, ...both }, requester);
  const copy = (from: string, to: string) => pending.copy({ from, to, ...both }, requester);
  const changes: readonly (() => unknown)[] = [
    () => create("new/deep/a.txt", "a\n"),
    () => create("new/b.txt", "b\n".repeat(1000)),
    () => create("c.txt", "c\n"),
    () => create("edited-1.txt", "overwritten\n", true),
    () => edit("edited-2.txt"),
    () => edit("folder/edited-3.txt"),
    () => edit("c.txt"),
    () => remove("removed.txt"),
    () => remove("removed"),
    () => remove("link"),
    () => move("moved.txt", "new/moved.txt"),
    () => move("folder", "new/folder"),
    () => edit("new/folder/inner/edited-4.txt"),
    () => move("over.txt", "under.txt"),
    () => copy("copied.txt", "copies/copied.txt"),
    () => copy("original", "copies/original"),
    () => edit("copies/original/deep/d.txt"),
    () => pending.makeFolder("made/empty", { mode: 0o750, parents: true, mayExist: true }, requester),
    () => pending.changeMode("moded.txt", { mode: 0o600 }),
    () => move("original", "moved-original"),
  ];
  for (const [index, change] of changes.entries()) {
    pending.change = index;
    await change();
  }
}
