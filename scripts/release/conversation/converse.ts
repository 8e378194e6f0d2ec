import { deepStrictEqual } from "node:assert/strict";
import { type IIIClient, registerWorker } from "iii-sdk";
import type { WorkerName } from "../../../src/base/about.ts";
import type { Asking } from "./ask.ts";
import { talkToCoder } from "./coder.ts";
import { talkToShell } from "./shell.ts";

/** Maximum milliseconds of a conversation, which is slow with an emulated worker. */
const longest = 120_000;

const talks: Readonly<Record<WorkerName, (asking: Asking, base: string) => Promise<void>>> = {
  coder: talkToCoder,
  shell: talkToShell,
};

/**
 * Starts the worker of `command` with its own engine over the empty folder `base`, and makes a client of the
 * official SDK use its functions. Throws the first fault, with the worker's log.
 */
export async function converse(
  worker: WorkerName,
  command: readonly string[],
  base: string,
  milliseconds = longest,
): Promise<void> {
  const running = Bun.spawn([...command, "--engine", "embedded:0", "--base-path", base], {
    cwd: base,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: milliseconds,
    killSignal: "SIGKILL",
  });
  const until = performance.now() + milliseconds;
  const log = readLog(running.stderr);
  try {
    const url = await log.url;
    await asClient(url, (client) => talks[worker]({ client, url, until }, base));
    running.kill("SIGTERM");
    const ended = { code: await running.exited, stdout: await running.stdout.text() };
    deepStrictEqual(ended, { code: 0, stdout: "" });
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${log.text()}`);
  } finally {
    running.kill("SIGKILL");
  }
}

/** Reads a log to its end, and finds the address in the first line that has one. */
function readLog(stream: ReadableStream<Uint8Array>): { url: Promise<string>; text: () => string } {
  const { promise: url, resolve, reject } = Promise.withResolvers<string>();
  const decoder = new TextDecoder();
  let text = "";
  const read = async () => {
    for await (const bytes of stream) {
      text += decoder.decode(bytes, { stream: true });
      const found = text.match(/"message":"(?:engine listening|serving)","url":"([^"]+)"/)?.[1];
      if (found !== undefined) resolve(found);
    }
    reject(new Error("the worker ended before it served"));
  };
  read().catch(reject);
  return { url, text: () => text };
}

async function asClient(url: string, act: (client: IIIClient) => Promise<void>): Promise<void> {
  console.debug = () => undefined; // the SDK says there that it has connected
  const client = registerWorker(url, {
    workerName: "try-targets",
    otel: { enabled: false },
    enableMetricsReporting: false,
  });
  try {
    await act(client);
  } finally {
    await client.shutdown();
  }
}
