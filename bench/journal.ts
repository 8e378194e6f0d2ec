/** Measures the cost of a journal: equal edits of equal files in this process, with and without one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Comparison } from "./comparison.ts";
import { type ComparisonSet, makeNote, makeWorkFolder } from "./disk.ts";
import { type InProcessCoder, openInProcess } from "./in-process.ts";

const group = "in process, with a journal";

export async function openJournalComparisons(): Promise<ComparisonSet> {
  const dir = mkdtempSync(join(tmpdir(), "coder-state-"));
  const journal = { dir, max_bytes: 64 * 1024 * 1024, max_records: 500 };
  const opened: InProcessCoder[] = [];
  const open = async (name: string, changes: Readonly<Record<string, unknown>>) => {
    const folder = makeWorkFolder(name);
    makeNote(folder);
    const local = await openInProcess(folder, changes);
    opened.push(local);
    return local;
  };
  return {
    comparisons: [
      compareEdits(await open("kept", { journal }), await open("plain", {}), {
        name: "update-file, one line in 1 KiB, with a journal",
        target: 1.5,
        times: 100,
      }),
      compareEdits(
        await open("kept-unflushed", { journal, fsync: false }),
        await open("plain-unflushed", { fsync: false }),
        { name: "the same, no fsync", times: 500 },
      ),
    ],
    async [Symbol.asyncDispose]() {
      for (const local of opened) await local[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true });
    },
  };
}

function compareEdits(
  kept: InProcessCoder,
  plain: InProcessCoder,
  { name, target, times }: { readonly name: string; readonly target?: number; readonly times: number },
): Comparison {
  return {
    group,
    name,
    ours: () => edit(kept),
    peers: [{ name: "without", run: () => edit(plain), ...(target !== undefined && { target }) }],
    times,
  };
}

let edits = 0;

function edit(local: InProcessCoder): Promise<unknown> {
  const op = { op: "update_lines", from_line: 1, to_line: 1, content: `edit ${edits++}\n` };
  return local.call("coder::update-file", { files: [{ path: "one/two/note.txt", ops: [op] }] });
}
