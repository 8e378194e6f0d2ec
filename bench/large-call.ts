/**
 * Makes calls from a process of its own: `large-call.ts URL`. Each line of standard input is the path of a
 * file with the function and the payload of a call. Each line of standard output is the beginning of an
 * answer. One process makes all calls, because an undo reverts only changes of the same caller.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { openClient } from "./programs.ts";

const client = openClient(process.argv[2]!);
for await (const file of createInterface({ input: process.stdin })) {
  const { id, payload } = JSON.parse(readFileSync(file, "utf8")) as { id: string; payload: object };
  const answer = await client
    .trigger({ function_id: id, payload, timeoutMs: 300_000 })
    .then(JSON.stringify, (error: Error) => error.message);
  process.stdout.write(`${answer.slice(0, 200)}\n`);
}
process.exit(0);
