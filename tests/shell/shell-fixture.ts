import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type IIIClient, registerWorker } from "iii-sdk";
import { EngineFailure } from "../../src/embedded-engine/engine.ts";
import type { TestEngine } from "../harness/engines/executable.ts";
import { startProduction } from "../harness/engines/production-router.ts";
import { deliveryTo, startTestEngine } from "../harness/engines/started.ts";
import { type CoderProcess, type Subject, startCoder } from "../harness/subject.ts";
import {
  type ClientOutcome,
  type ConfigFields,
  callThrough,
  connectClient,
  temporaryFolder,
} from "../harness/worker-fixture.ts";
import { Sandbox } from "./sandbox.ts";

export type { ClientOutcome, ConfigFields };

/** The shell worker with an engine, a client and a new folder. */
export interface ShellFixture {
  readonly engine: TestEngine;
  readonly client: IIIClient;
  readonly worker: CoderProcess;
  /** The sandbox worker, which gets the calls whose target is a sandbox. */
  readonly sandbox: Sandbox;
  /** The absolute canonical path of the folder. It is served if the configuration names it. */
  readonly folder: string;
  call(functionId: string, payload: unknown): Promise<ClientOutcome>;
  /** Connects another client, which `stop` shuts down too. */
  connect(): IIIClient;
  /** Sends SIGTERM. Resolves to the exit code once everything has stopped and the folder is removed. */
  stop(): Promise<number | null>;
}

/** The configuration of the end-to-end cases in section 12 of the specification. */
export const endToEnd: ConfigFields = {
  max_timeout_ms: 5000,
  default_timeout_ms: 1500,
  max_output_bytes: 4096,
  inherit_env: false,
  allowed_env: ["PATH", "HOME", "LANG", "HARNESS_TEST_VAR"],
  allowlist: ["echo", "ls", "cat", "sleep", "pwd", "printf", "sh", "false", "true", "env"],
  denylist_patterns: ["harness_denylist_marker", String.raw`rm\s+-rf\s+/`],
  max_concurrent_jobs: 2,
  job_retention_secs: 2,
  fs: {
    host_root: null,
    allow_unjailed: true,
    max_read_bytes: 1024 * 1024,
    max_write_bytes: 1024 * 1024,
    denylist_paths: ["/etc/passwd", "/etc/shadow"],
  },
};

const environment = { HARNESS_TEST_VAR: "harness-allowed-value", HARNESS_NOT_ALLOWED: "harness-secret" };

const renderConfig = (config: ConfigFields): string =>
  JSON.stringify(
    Object.fromEntries(Object.entries({ ...endToEnd, ...config }).filter(([, value]) => value !== null)),
  );

/** Unusual conditions around the worker. */
export interface ShellOptions {
  /** Whether the engine refuses to create channels. */
  readonly isWithoutChannels?: boolean;
  /** Additional environment variables of the worker. */
  readonly env?: Readonly<Record<string, string>>;
}

const noChannels = new Map([
  [
    "engine::channels::create",
    () => {
      throw new EngineFailure({ code: "invocation_failed", message: "too many channels" });
    },
  ],
]);

/**
 * Starts engine, worker and client. Keys of `config` replace those of the end-to-end configuration, and null
 * removes one. In `config` and in variables, `<folder>` stands for the folder.
 */
export async function startShell(
  subject: Subject,
  config: ConfigFields = {},
  { isWithoutChannels = false, env = {} }: ShellOptions = {},
): Promise<ShellFixture> {
  const root = temporaryFolder();
  const folder = join(root, "served");
  mkdirSync(folder);
  const expand = (text: string) => text.replaceAll("<folder>", folder);
  const file = join(root, "shell.yaml");
  writeFileSync(file, expand(renderConfig(config)));
  const engine = isWithoutChannels
    ? await startProduction({ delivery: deliveryTo(subject), builtins: noChannels })
    : await startTestEngine(subject);
  const args = ["--worker", "shell", "--config", file, "--url", engine.url];
  const worker = startCoder(subject, args, {
    env: { ...environment, ...JSON.parse(expand(JSON.stringify(env))) },
  });
  const ended = worker.exited.then(() => {
    throw new Error(`the worker ended before it served: ${worker.stderr()}`);
  });
  // Functions are registered in the order of the reference, and this is the last one.
  await Promise.race([engine.waitForFunction("shell::list"), ended]);
  const sandbox = await Sandbox.start(engine);
  const clients = [connectClient(engine.url)];
  const client = clients[0] as IIIClient;
  return {
    engine,
    client,
    worker,
    sandbox,
    folder,
    call: (functionId, payload) => callThrough(client, functionId, payload),
    connect() {
      const another = registerWorker(engine.url, {
        workerName: `another-${clients.length}`,
        otel: { enabled: false },
        enableMetricsReporting: false,
      });
      clients.push(another);
      return another;
    },
    async stop() {
      worker.child.kill("SIGTERM");
      const code = await worker.exited;
      sandbox.stop();
      for (const each of clients) await each.shutdown();
      await engine.stop();
      rmSync(root, { recursive: true, force: true });
      return code;
    },
  };
}
