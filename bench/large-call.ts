/** Makes one call from a process of its own: `large-call.ts URL FILE`, where the file has its function and payload. */
import { readFileSync } from "node:fs";
import { openClient } from "./programs.ts";

const [url = "", file = ""] = process.argv.slice(2);
const { id, payload } = JSON.parse(readFileSync(file, "utf8")) as { id: string; payload: object };
const client = openClient(url);
const answer = await client
  .trigger({ function_id: id, payload, timeoutMs: 120_000 })
  .then(JSON.stringify, (error: Error) => error.message);
process.stdout.write(`${answer.slice(0, 200)}\n`, () => process.exit(0));
