/** An iii engine of the user, as a process with a folder and a port of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IIIClient, registerWorker } from "iii-sdk";
import type { Engine } from "../../../src/embedded-engine/engine.ts";

/** The interface of an engine that the suites need, embedded or an executable of iii. */
export type TestEngine = Pick<Engine, "url" | "call" | "waitForFunction" | "stop">;

/** The environment variable that names the executable. */
export const engineVariable = "CODER_TEST_ENGINE";

/** Maximum milliseconds for the engine to start or to register something, and to end. */
const longest = { start: 30_000, end: 5_000 } as const;
const pollMilliseconds = 50;

/**
 * Starts `executable` on `port` of loopback, 0 for a free one. Rejects with its output if it does not serve.
 */
export async function startExecutable(executable: string, port: number): Promise<TestEngine> {
  const folder = mkdtempSync(join(tmpdir(), "coder-engine-"));
  const number = port === 0 ? await freePort() : port;
  writeFileSync(join(folder, "config.yaml"), configuration(number));
  const engine = new EngineProcess(executable, folder);
  const url = `ws://127.0.0.1:${number}`;
  const client = connect(url);
  const call: TestEngine["call"] = (functionId, payload, { metadata } = {}) =>
    client.trigger({ function_id: functionId, payload, metadata, timeoutMs: longest.start } as never);
  const stop = async (): Promise<void> => {
    await client.shutdown();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await engine.unlessEnded(call("engine::workers::list", {}));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, call, stop, waitForFunction: (id) => engine.unlessEnded(waitForFunction(call, id)) };
}

/** Returns the minimal configuration of an engine. Without a host it would listen on every address. */
const configuration = (port: number): string => `workers:
  - name: iii-worker-manager
    config:
      port: ${port}
      host: 127.0.0.1
`;

class EngineProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #output = "";

  constructor(executable: string, folder: string) {
    this.#child = spawn(executable, ["--config", "config.yaml"], {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, III_TELEMETRY_ENABLED: "false" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output = (this.#output + text).slice(-10_000);
      });
    this.#ended = new Promise((resolve) => {
      this.#child.once("error", (error) => {
        this.#output += error.message;
        resolve();
      });
      this.#child.once("exit", () => resolve());
    });
  }

  /** Resolves with `work`, or rejects with the engine's last output if it ends first. */
  unlessEnded<Value>(work: Promise<Value>): Promise<Value> {
    const ended = this.#ended.then(() => {
      throw new Error(`the engine ended: ${this.#output}`);
    });
    return Promise.race([work, ended]);
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const late = setTimeout(() => this.#child.kill("SIGKILL"), longest.end);
    await this.#ended;
    clearTimeout(late);
  }
}

/** Polls for a function, because the engine does not announce registrations. */
async function waitForFunction(call: TestEngine["call"], id: string): Promise<void> {
  const until = Date.now() + longest.start;
  while (Date.now() < until) {
    const answer = await call("engine::functions::list", { prefix: id });
    const { functions } = answer as { functions: { function_id: string }[] };
    if (functions.some(({ function_id }) => function_id === id)) return;
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
  }
  throw new Error(`${id} was not registered within ${longest.start} ms`);
}

function connect(url: string): IIIClient {
  // The SDK prints a banner on stdout, and errors on stderr until the engine is up.
  console.debug = () => undefined;
  console.error = () => undefined;
  return registerWorker(url, {
    workerName: "test-engine",
    otel: { enabled: false },
    enableMetricsReporting: false,
    reconnectionConfig: { initialDelayMs: pollMilliseconds, maxDelayMs: pollMilliseconds },
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
