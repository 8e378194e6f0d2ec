/**
 * Carries out calls for a test as the worker does, but without the bus, so that a test can set its limits,
 * mounts and user, and can see it die. Prints `ready`, then a JSON line on standard output for each JSON line
 * of standard input. Ends when its input ends.
 */
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { createLog } from "../../src/base/log/log.ts";
import { createInvoke } from "../../src/calls/invoke.ts";
import { functions } from "../../src/coder/functions.ts";
import { loadConfig, openCoder } from "../../src/coder/services.ts";
import { readNamed } from "../../src/config/source.ts";
import { descriptorTargets } from "../harness/descriptors.ts";

export type DriverRequest =
  | { readonly method: "call"; readonly function: string; readonly payload: unknown }
  /** Collects garbage, then counts what the process holds. */
  | { readonly method: "measure" }
  /** Opens descriptors until the process has only `left` left. */
  | { readonly method: "exhaust"; readonly left: number }
  /** Closes the descriptors that `exhaust` has opened. */
  | { readonly method: "release" }
  | { readonly method: "sweep" };

export interface Measure {
  /** The number of open descriptors, including those of threads, which come and go. */
  readonly descriptors: number;
  /** The number of descriptors of the base and of the folders and files below it. */
  readonly held: number;
  readonly residentBytes: number;
  /** Maximum resident bytes so far (getrusage(2)). */
  readonly peakBytes: number;
}

const [configFile] = process.argv.slice(2);
if (configFile === undefined) throw new Error("usage: driver.ts CONFIG");

const user = Number(process.env["DRIVER_USER"] ?? 0);
if (user !== 0) becomeUser(user);

const log = createLog({ level: "error", form: "json", write: (line) => process.stderr.write(line) });
const found = await readNamed(configFile);
const config = loadConfig({ config: found, basePath: undefined, environment: process.env });
const runtime = await openCoder(config, { environment: process.env });
const invoke = createInvoke(runtime, log);
const exhausted: number[] = [];

const lines = createInterface({ input: process.stdin });
const replies = new Set<Promise<void>>();
lines.on("line", (line) => {
  const replying = reply(line).finally(() => replies.delete(replying));
  replies.add(replying);
});
lines.on("close", () => void end());
process.stdout.write("ready\n");

/** Replies to the pending requests, then ends the process. */
async function end(): Promise<void> {
  await Promise.all(replies);
  await runtime.close();
  process.exit();
}

async function reply(line: string): Promise<void> {
  const { id, request } = JSON.parse(line) as { id: number; request: DriverRequest };
  const answer = await answerTo(request);
  process.stdout.write(`${JSON.stringify({ id, answer })}\n`);
}

async function answerTo(request: DriverRequest): Promise<unknown> {
  switch (request.method) {
    case "call": {
      const outcome = await invoke(functions.find(({ id }) => id === request.function)!, request.payload);
      // A `WrittenAnswer` would be rendered as the answer alone.
      return "error" in outcome ? outcome : { answer: outcome.answer, bytes: outcome.bytes };
    }
    case "measure":
      return measure();
    case "exhaust":
      return exhaust(request.left);
    case "release":
      for (const descriptor of exhausted.splice(0)) closeSync(descriptor);
      return null;
    case "sweep":
      return runtime.tree.sweep();
  }
}

async function measure(): Promise<Measure> {
  Bun.gc(true);
  const open = await descriptorTargets();
  return {
    descriptors: open.length,
    held: open.filter((target) => `${target}/`.startsWith(`${config.base_path}/`)).length,
    residentBytes: process.memoryUsage.rss(),
    peakBytes: process.resourceUsage().maxRSS * 1024,
  };
}

function exhaust(left: number): number {
  try {
    for (;;) exhausted.push(openSync("/dev/null", "r"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EMFILE") throw error;
  }
  for (const descriptor of exhausted.splice(-left, left)) closeSync(descriptor);
  return exhausted.length;
}

function becomeUser(id: number): void {
  process.setgroups!([id]);
  process.setgid!(id);
  process.setuid!(id);
}
