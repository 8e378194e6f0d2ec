import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { entryErrors, faultsOf, parseEntryError, parseError } from "../harness/errors.ts";
import { schemaFaults } from "../harness/golden.ts";
import { bundled, repository } from "../harness/subject.ts";
import { buildTree, type Snapshot, snapshotTree, type Tree } from "../harness/tree.ts";
import { type ConfigFields, temporaryFolder } from "../harness/worker-fixture.ts";
import type { DriverRequest, Measure } from "./driver.ts";

/** The outcome of a call: an answer or an error string. */
export interface DriverOutcome {
  readonly answer?: unknown;
  readonly error?: string;
}

/** A driver (see driver.ts) and the folder that it serves. */
export interface DriverFixture {
  /** Absolute path of the folder that holds the base. */
  readonly root: string;
  /** Absolute path of the base as this process reaches it, also if the driver has its own mounts. */
  readonly base: string;
  readonly child: ChildProcess;
  snapshot(): Snapshot;
  /** Returns the log so far: unexpected failures with their stacks. */
  log(): string;
  call(functionId: string, payload: unknown): Promise<DriverOutcome>;
  measure(): Promise<Measure>;
  request(request: DriverRequest): Promise<unknown>;
  /** Ends the driver and removes its folders. */
  stop(): Promise<void>;
}

export interface DriverOptions {
  readonly config?: ConfigFields;
  readonly tree?: Tree;
  /**
   * Commands for sh that run in the process before it becomes the driver, to set limits and mounts. `$BASE`
   * is the base.
   */
  readonly before?: string;
  /** Whether the driver has its own mounts, which end with it. */
  readonly ownMounts?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Whether the test creates very many files and folders, which then lie in memory if this machine has
   * /dev/shm.
   */
  readonly isVast?: boolean;
}

const memory = "/dev/shm";

/**
 * Starts a driver that serves a folder with `tree` in it. Does not flush to the disk unless `config` says so.
 */
export async function startDriver(options: DriverOptions = {}): Promise<DriverFixture> {
  const root =
    options.isVast && existsSync(memory) ? realpathSync(mkdtempSync(`${memory}/coder-`)) : temporaryFolder();
  chmodSync(root, 0o755);
  buildTree(root, options.tree ?? {});
  const base = join(root, "base");
  const configFile = join(root, "config.yaml");
  writeFileSync(configFile, JSON.stringify({ base_path: base, fsync: false, ...options.config }));
  // The driver may become any user.
  const state = temporaryFolder();
  chmodSync(state, 0o777);
  const child = start({ configFile, base, state }, options);
  const connection = new DriverConnection(child);
  await connection.ready;
  const view = options.ownMounts ? `/proc/${child.pid}/root` : "";
  return {
    root,
    base: view + base,
    child,
    snapshot: () => snapshotTree(view + root),
    log: () => connection.stderr,
    call: (functionId, payload) =>
      connection.request({ method: "call", function: functionId, payload }) as Promise<DriverOutcome>,
    measure: () => connection.request({ method: "measure" }) as Promise<Measure>,
    request: (request) => connection.request(request),
    async stop() {
      child.stdin!.end();
      await connection.ended;
      // rmSync fails on folders that are nested deeper than a path may be long.
      execFileSync("rm", ["-rf", root, state]);
    },
  };
}

/** Runs `use` with a driver, and stops the driver afterwards. */
export async function withDriver(
  options: DriverOptions,
  use: (driven: DriverFixture) => Promise<void>,
): Promise<void> {
  const driven = await startDriver(options);
  try {
    await use(driven);
  } finally {
    await driven.stop();
  }
}

function start(
  { configFile, base, state }: { configFile: string; base: string; state: string },
  options: DriverOptions,
): ChildProcess {
  const driver = [process.execPath, bundled("tests/faults/driver.ts"), configFile];
  const shell = ["sh", "-c", `set -e; ${options.before ?? ":"}; exec "$@"`, "sh", ...driver];
  const [command, ...args] = options.ownMounts ? [...ownMounts(), ...shell] : shell;
  return spawn(command!, args, {
    cwd: repository,
    env: { ...process.env, BASE: base, XDG_STATE_HOME: state, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/**
 * Returns the command that runs a program with its own mounts. Users other than root need a user namespace
 * for that.
 */
export const ownMounts = (): string[] =>
  process.getuid!() === 0 ? ["unshare", "--mount"] : ["unshare", "--user", "--map-root-user", "--mount"];

interface Pending {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/**
 * Sends requests to the driver and matches the answers by ID. Pending requests are rejected when the driver
 * ends.
 */
class DriverConnection {
  readonly ready: Promise<unknown>;
  readonly ended: Promise<void>;
  /** The output of the driver on stderr so far. */
  stderr = "";
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #pieces: string[] = [];
  #lastId = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.ready = new Promise((resolve, reject) => this.#pending.set(0, { resolve, reject }));
    child.stdout!.setEncoding("utf8").on("data", (text: string) => this.#receive(text));
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    child.stdin!.on("error", () => undefined);
    this.ended = new Promise((resolve) => {
      child.on("close", (code, signal) => {
        const end = new Error(`the driver ended (${code ?? signal}): ${this.stderr}`);
        for (const { reject } of this.#pending.values()) reject(end);
        resolve();
      });
    });
  }

  request(request: DriverRequest): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#child.stdin!.write(`${JSON.stringify({ id, request })}\n`);
    });
  }

  #receive(text: string): void {
    const [end, ...starts] = text.split("\n");
    this.#pieces.push(end!);
    for (const start of starts) {
      this.#settle(this.#pieces.join(""));
      this.#pieces = [start];
    }
  }

  #settle(line: string): void {
    const { id, answer } = line === "ready" ? { id: 0, answer: null } : JSON.parse(line);
    this.#pending.get(id)?.resolve(answer);
    this.#pending.delete(id);
  }
}

/**
 * Returns the code of a call, or the codes of the entries of a batch, with "" for an entry that succeeded.
 */
export function codesOf({ answer, error }: DriverOutcome): string[] {
  if (error !== undefined) return [parseError(error)?.code ?? error];
  const { results } = (answer ?? {}) as { results?: { error?: unknown }[] };
  return (results ?? []).map((result) =>
    result.error === undefined ? "" : parseEntryError(result.error)!.code,
  );
}

/** Returns the faults of an outcome in its form, in its schema, and in what its messages reveal. */
export function outcomeFaults(
  { answer, error }: DriverOutcome,
  given: { readonly functionId: string; readonly payload: unknown; readonly root: string },
): string[] {
  // The entries of a large batch usually fail alike.
  const errors = error === undefined ? new Set(entryErrors(answer)) : [error];
  return [
    ...(error === undefined ? schemaFaults(given.functionId, answer) : []),
    ...[...errors].flatMap((text) => {
      const parsed = parseError(text);
      return parsed === undefined ? [`not the error form: ${text}`] : faultsOf(parsed, given);
    }),
  ];
}
