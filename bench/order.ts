/**
 * Measures the cost of a session's order for calls that do not depend on each other: equal concurrent calls,
 * with and without an order.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CallOrder } from "../src/calls/call-order.ts";
import { type ComparisonSet, makeWorkFolder } from "./disk.ts";
import { openInProcess } from "./in-process.ts";

const atOnce = 32;

/** Maximum ratio. The excess over 1 allows for noise of the machine. */
const target = 1.15;

export async function openOrderComparisons(): Promise<ComparisonSet> {
  const folder = makeWorkFolder("ordered");
  const names = Array.from({ length: atOnce }, (_, index) => `note${index}.txt`);
  for (const name of names) writeFileSync(join(folder, name), "a line of text\n".repeat(70));
  const order = new CallOrder();
  const plain = await openInProcess(folder, { fsync: false });
  const ordered = await openInProcess(folder, { fsync: false }, (invoke) => async (definition, payload) => {
    const call = order.arrive().call();
    try {
      return await invoke(definition, payload, { ordered: call });
    } finally {
      call.leave();
    }
  });
  const compare = (name: string, id: string, payloadOf: (path: string) => object, times: number) => {
    const run = (coder: typeof plain) => () =>
      Promise.all(names.map((path) => coder.call(id, payloadOf(path))));
    return {
      group: "in process, calls of one session at once",
      name: `${atOnce} × ${name}`,
      ours: run(ordered),
      peers: [{ name: "without an order", target, run: run(plain) }],
      times,
    };
  };
  let written = 0;
  // A file that has the text already would not be written.
  const nextText = () => `${String(written++).padStart(8, "0")}\n${"another line\n".repeat(80)}`;
  return {
    comparisons: [
      compare("read-file, 1 KB", "coder::read-file", (path) => ({ path }), 50),
      compare(
        "create-file, 1 KB",
        "coder::create-file",
        (path) => ({ files: [{ path, content: nextText(), overwrite: true }] }),
        10,
      ),
    ],
    async [Symbol.asyncDispose]() {
      for (const one of [ordered, plain]) await one[Symbol.asyncDispose]();
    },
  };
}
