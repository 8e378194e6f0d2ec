import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IIIClient, type InvocationError, registerWorker } from "iii-sdk";
import type { TestEngine } from "./engines/executable.ts";
import { startTestEngine } from "./engines/started.ts";
import { functionReferences } from "./golden.ts";
import { type CoderProcess, type Subject, startCoder } from "./subject.ts";
import { buildTree, expandPayload, type Snapshot, snapshotTree, type Tree } from "./tree.ts";

/** A worker that serves a folder of its own, with an engine and a client of its own. */
export interface WorkerFixture {
  readonly engine: TestEngine;
  readonly client: IIIClient;
  readonly worker: CoderProcess;
  /** The absolute path of the served folder. */
  readonly base: string;
  /** The absolute path of the folder above, which nothing but the tests may touch. */
  readonly root: string;
  build(tree: Tree): void;
  snapshot(): Snapshot;
  call(functionId: string, payload: unknown): Promise<ClientOutcome>;
  /** The path of the configuration file. */
  readonly configFile: string;
  /** Writes the configuration file, which the worker reads at its start and on SIGHUP. */
  configure(text: string): void;
  /**
   * Replaces the configuration while the worker runs. Resolves with `false` if the worker keeps the old one,
   * for example because a key needs a restart.
   */
  reload(config: ConfigFields): Promise<boolean>;
  /** Sends SIGTERM. Resolves with the exit code once everything is down and the folder removed. */
  stop(): Promise<number | null>;
}

/** The outcome that a client sees: an answer, or the error that the SDK threw. */
export interface ClientOutcome {
  readonly answer?: unknown;
  readonly error?: InvocationError;
}

export type ConfigFields = Readonly<Record<string, unknown>>;

/** The line that ends each reload, and how it ended. */
const reloadOutcome = /"message":"(reloaded|the configuration was not reloaded)".*\n/;

/** Creates a folder below the system's temporary one, and returns its canonical path. */
export const temporaryFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), "coder-")));

export interface WorkerOptions {
  /** An engine that is already running. It is stopped with the rest. */
  readonly engine?: TestEngine;
  /** The arguments of the worker in addition to `--config` and `--url`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts engine, worker and client, and waits until the worker has registered its functions. */
export async function startWorker(
  subject: Subject,
  config: ConfigFields = {},
  { engine: given, args = [], env = {} }: WorkerOptions = {},
): Promise<WorkerFixture> {
  const root = temporaryFolder();
  const settings = temporaryFolder();
  buildTree(root, {});
  const base = join(root, "base");
  const file = join(settings, "config.yaml");
  writeFileSync(file, JSON.stringify(configFor(base, config)));
  const engine = given ?? (await startTestEngine(subject));
  const worker = startCoder(subject, ["--config", file, "--url", engine.url, ...args], {
    env: { XDG_STATE_HOME: join(settings, "state"), ...env },
  });
  await waitForRegistration(engine, worker).catch(async (error: unknown) => {
    await engine.stop();
    throw error;
  });
  const client = connectClient(engine.url);
  const configure = (text: string) => writeFileSync(file, text);
  return {
    engine,
    client,
    worker,
    base,
    root,
    configFile: file,
    build: (tree) => buildTree(root, tree),
    snapshot: () => snapshotTree(root),
    call: (functionId, payload) => callThrough(client, functionId, payload),
    configure,
    async reload(fields) {
      const logged = worker.stderr().length;
      configure(JSON.stringify(configFor(base, fields)));
      worker.child.kill("SIGHUP");
      await worker.waitForStderr(reloadOutcome, logged);
      return reloadOutcome.exec(worker.stderr().slice(logged))![1] === "reloaded";
    },
    async stop() {
      worker.child.kill("SIGTERM");
      const code = await worker.exited;
      await client.shutdown();
      await engine.stop();
      for (const folder of [root, settings]) rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
}

/**
 * Returns a configuration that serves `base`, or the roots that it names, which are created. `<base>` in it
 * is replaced by `base`.
 */
export function configFor(base: string, config: ConfigFields): ConfigFields {
  const { roots, ...rest } = expandPayload(config, base) as ConfigFields;
  if (roots === undefined) return { base_path: base, ...rest };
  for (const { path } of roots as readonly { readonly path: string }[]) mkdirSync(path, { recursive: true });
  return { ...rest, roots };
}

let clients = 0;

/** Connects a client of the official SDK. An engine of 0.23 admits one of each name. */
export function connectClient(url: string): IIIClient {
  silenceSdk();
  return registerWorker(url, {
    workerName: `conformance-${++clients}`,
    otel: { enabled: false },
    enableMetricsReporting: false,
    reconnectionConfig: { initialDelayMs: 20, maxDelayMs: 100 },
  });
}

/** Makes one call. An error is an outcome, not an exception. */
export async function callThrough(
  client: IIIClient,
  functionId: string,
  payload: unknown,
): Promise<ClientOutcome> {
  try {
    return { answer: await client.trigger({ function_id: functionId, payload }) };
  } catch (error) {
    return { error: error as InvocationError };
  }
}

/** Resolves once the worker has registered all functions. Rejects if it ends first. */
export async function waitForRegistration(engine: TestEngine, worker: CoderProcess): Promise<void> {
  const all = functionReferences.map((entry) => engine.waitForFunction(entry.name));
  const ended = worker.exited.then(() => {
    throw new Error(`the worker ended before it served: ${worker.stderr()}`);
  });
  await Promise.race([Promise.all(all), ended]);
}

/** Silences the SDK, whose banner on stdout does not belong in a test report. */
function silenceSdk(): void {
  console.debug = () => undefined;
}
