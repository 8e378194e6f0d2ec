/**
 * A worker that makes one transaction (`transact`), or only starts and sweeps (`start`), and prints the
 * number of calls of the file system that this took. kill-at.ts can kill it at one of them. With `count`, it
 * makes many transactions, each of which adds a line to all files; with `edit`, it makes many edits of one
 * file.
 */

import { createLog } from "../../src/base/log/log.ts";
import { createInvoke } from "../../src/calls/invoke.ts";
import { functions } from "../../src/coder/functions.ts";
import { loadConfig, openCoder } from "../../src/coder/services.ts";
import { readNamed } from "../../src/config/source.ts";

const [mode, configFile] = process.argv.slice(2);
if (configFile === undefined) throw new Error("usage: transaction-child.ts transact|start|count|edit CONFIG");

const { fileCalls } = globalThis as unknown as { fileCalls: { count: number; isCounting: boolean } };
const log = createLog({ level: "info", form: "json", write: (line) => process.stderr.write(line) });
const { env: environment } = process;
const config = loadConfig({ config: await readNamed(configFile), basePath: undefined, environment });
if (mode === "start") fileCalls.isCounting = true;
const runtime = await openCoder(config, { environment, log });
const invoke = createInvoke(runtime, log);
if (mode === "start") await runtime.sweep!();
else if (mode === "transact") {
  fileCalls.isCounting = true;
  await call("coder::transact", { changes: config.roots === null ? twentyChanges() : changesInRoots() });
} else for (let round = 0; round < (mode === "count" ? 20 : 200); round++) await addLines(mode === "count");
fileCalls.isCounting = false;
console.log(fileCalls.count);
await runtime.close();

async function call(functionId: string, payload: unknown): Promise<string> {
  const outcome = JSON.stringify(await invoke(functions.find(({ id }) => id === functionId)!, payload));
  if (outcome.includes('"error"') && !outcome.includes("C216")) throw new Error(outcome);
  return outcome;
}

/** Adds a line, and tries again after C216, as a client does if another worker was faster. */
async function addLines(isTransaction: boolean): Promise<void> {
  const ops = [{ op: "insert", at_line: 1, content: "more" }];
  const files = Array.from({ length: 5 }, (_, index) => ({ path: `${index}.txt`, ops }));
  const changes = files.map((file) => ({ op: "update", ...file }));
  const again = () =>
    isTransaction
      ? call("coder::transact", { changes })
      : call("coder::update-file", { files: files.slice(0, 1) });
  while ((await again()).includes('"error"'));
}

/** Returns changes in the roots `one` and `two`, and from one into the other. */
function changesInRoots(): readonly object[] {
  const ops = [{ op: "insert", at_line: 1, content: "more" }];
  const move = (from: string, to: string) => ({ op: "move", from, to, overwrite: true, parents: true });
  return [
    { op: "create", path: "one/new/a.txt", content: "a\n", parents: true },
    { op: "update", path: "two/edited.txt", ops },
    move("one/folder", "two/made/folder"),
    { op: "update", path: "two/made/folder/deep/f.txt", ops },
    move("one/whole", "two/whole"),
    move("two/moved.txt", "one/over.txt"),
    move("one/link", "two/link"),
    { op: "delete", path: "one/removed", recursive: true },
    { ...move("one/original", "two/copied"), op: "copy" },
  ];
}

/** Returns changes of every kind, some of which act on the results of others. */
function twentyChanges(): readonly object[] {
  const ops = [{ op: "insert", at_line: 1, content: "more" }];
  const create = (path: string, content: string) => ({ op: "create", path, content, parents: true });
  const update = (path: string) => ({ op: "update", path, ops });
  const remove = (path: string) => ({ op: "delete", path, recursive: true });
  const move = (from: string, to: string) => ({ op: "move", from, to, overwrite: true, parents: true });
  return [
    create("new/deep/a.txt", "a\n"),
    create("new/b.txt", "b\n".repeat(1000)),
    create("c.txt", "c\n"),
    { ...create("edited-1.txt", "overwritten\n"), overwrite: true },
    update("edited-2.txt"),
    update("folder/edited-3.txt"),
    update("c.txt"),
    remove("removed.txt"),
    remove("removed"),
    remove("link"),
    move("moved.txt", "new/moved.txt"),
    move("folder", "new/folder"),
    update("new/folder/inner/edited-4.txt"),
    move("over.txt", "under.txt"),
    { ...move("copied.txt", "copies/copied.txt"), op: "copy" },
    { ...move("original", "copies/original"), op: "copy" },
    update("copies/original/deep/d.txt"),
    { op: "make-folder", path: "made/empty", mode: "0750", parents: true },
    { op: "chmod", path: "moded.txt", mode: "0600" },
    move("original", "moved-original"),
  ];
}
