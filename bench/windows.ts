/**
 * Compares reads of lines deep in a file of 2 GiB: with the preceding lines still to be counted, and with a
 * known count.
 */
import { closeSync, openSync, rmSync, utimesSync, writeSync } from "node:fs";
import { join } from "node:path";
import { randomFrom } from "../tests/harness/random.ts";
import { type Comparison, ExternalCost } from "./comparison.ts";
import { type ComparisonSet, makeWorkFolder } from "./disk.ts";
import { type InProcessCoder, openInProcess } from "./in-process.ts";
import { makeLines } from "./lines.ts";

export async function openWindowComparisons(): Promise<ComparisonSet> {
  const folder = makeWorkFolder("windows");
  const file = join(folder, "log");
  writeLog(file);
  const local = await openInProcess(folder);
  return {
    comparisons: windowsOf(local, file),
    async [Symbol.asyncDispose]() {
      await local[Symbol.asyncDispose]();
      rmSync(file);
    },
  };
}

function windowsOf(local: InProcessCoder, file: string): Comparison[] {
  const group = "100 lines of 2 GiB";
  const first = 40_000_000;
  const read = (from: number) =>
    local.call("coder::read-file", { path: "log", line_from: from, line_to: from + 99 });
  let page = first;
  return [
    {
      group,
      name: "from line 40,000,000, counted",
      ours() {
        // A file modified just now could change again with equal stamps, so all preceding lines are counted.
        utimesSync(file, new Date(), new Date());
        return read(first);
      },
      peers: [
        {
          name: "tail -n + | head",
          target: 1,
          run: () => runShell(`tail -n +${first} '${file}' | head -100`),
        },
      ],
    },
    {
      group,
      name: "the next ones",
      ours() {
        page += 100;
        return read(page);
      },
      peers: [{ name: "from line 1,000", target: 2, run: () => read(1000) }],
      times: 20,
    },
  ];
}

function runShell(command: string): ExternalCost {
  const { resourceUsage } = Bun.spawnSync(["sh", "-c", command]);
  return new ExternalCost(Number(resourceUsage.cpuTime.total) / 1000);
}

/** Writes 68 million lines like those of source trees. */
function writeLog(file: string): void {
  const block = Buffer.from(`${makeLines(randomFrom(7), 40_000).join("\n")}\n`);
  const descriptor = openSync(file, "w");
  for (let bytes = 0; bytes < 2 * 1024 ** 3; ) bytes += writeSync(descriptor, block);
  closeSync(descriptor);
}
