import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { entryErrors, faultsOf, parseError } from "../harness/errors.ts";
import { schemaFaults } from "../harness/golden.ts";
import { type Config, temporaryFolder } from "../harness/served.ts";
import { repository } from "../harness/subject.ts";
import { buildTree, type Snapshot, snapshotTree, type Tree } from "../harness/tree.ts";
import type { Measure, Question } from "./driver.ts";

/** What a call came to: an answer, or its error string. */
export interface Outcome {
  readonly answer?: unknown;
  readonly error?: string;
}

/** A driver (see driver.ts) over a folder of its own. */
export interface Driven {
  /** Absolute path of the folder that holds the base. */
  readonly root: string;
  /** Absolute path of the base, by which this process sees what the driver sees, also in the driver's own mounts. */
  readonly base: string;
  readonly child: ChildProcess;
  snapshot(): Snapshot;
  /** What it has logged: failures that nobody foresaw, with their stacks. */
  log(): string;
  call(functionId: string, payload: unknown): Promise<Outcome>;
  measure(): Promise<Measure>;
  ask(question: Question): Promise<unknown>;
  /** Ends it, and removes its folder. */
  stop(): Promise<void>;
}

export interface DriveOptions {
  readonly config?: Config;
  readonly tree?: Tree;
  /**
   * Commands of sh that run in the process before it becomes the driver, for limits and mounts; "$BASE" is the base.
   */
  readonly before?: string;
  /** Whether mounts are the driver's own and go with it. */
  readonly ownMounts?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Very many folders and files will be made: they are to lie in memory, where this machine has such a place. */
  readonly isVast?: boolean;
}

const memory = "/dev/shm";

/** Starts a driver over a folder with `tree` in it. Flushing to the disk is off unless the configuration says otherwise. */
export async function drive(options: DriveOptions = {}): Promise<Driven> {
  const root =
    options.isVast && existsSync(memory) ? realpathSync(mkdtempSync(`${memory}/coder-`)) : temporaryFolder();
  chmodSync(root, 0o755);
  buildTree(root, options.tree ?? {});
  const base = join(root, "base");
  const configFile = join(root, "config.yaml");
  writeFileSync(configFile, JSON.stringify({ base_path: base, fsync: false, ...options.config }));
  const child = start({ configFile, base }, options);
  const dialogue = new Dialogue(child);
  await dialogue.ready;
  const view = options.ownMounts ? `/proc/${child.pid}/root` : "";
  return {
    root,
    base: view + base,
    child,
    snapshot: () => snapshotTree(view + root),
    log: () => dialogue.stderr,
    call: (functionId, payload) =>
      dialogue.ask({ does: "call", function: functionId, payload }) as Promise<Outcome>,
    measure: () => dialogue.ask({ does: "measure" }) as Promise<Measure>,
    ask: (question) => dialogue.ask(question),
    async stop() {
      child.stdin!.end();
      await dialogue.ended;
      // rmSync gives up on folders that are nested deeper than a path is long.
      execFileSync("rm", ["-rf", root]);
    },
  };
}

/** Lets `use` work with a driver, which must live to the end and close everything it opened. */
export async function onDriven(options: DriveOptions, use: (driven: Driven) => Promise<void>): Promise<void> {
  const driven = await drive(options);
  try {
    await use(driven);
  } finally {
    await driven.stop();
  }
}

function start(
  { configFile, base }: { configFile: string; base: string },
  options: DriveOptions,
): ChildProcess {
  const driver = [process.execPath, join(import.meta.dirname, "driver.ts"), configFile];
  const shell = ["sh", "-c", `set -e; ${options.before ?? ":"}; exec "$@"`, "sh", ...driver];
  const [command, ...args] = options.ownMounts ? [...ownMounts(), ...shell] : shell;
  return spawn(command!, args, {
    cwd: repository,
    env: { ...process.env, BASE: base, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** Root has a mount namespace for the asking; others need a user namespace around it. */
export const ownMounts = (): string[] =>
  process.getuid!() === 0 ? ["unshare", "--mount"] : ["unshare", "--user", "--map-root-user", "--mount"];

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/** Questions and replies by number. When the driver ends, what was asked is rejected. */
class Dialogue {
  readonly ready: Promise<unknown>;
  readonly ended: Promise<void>;
  /** Everything it has written there so far. */
  stderr = "";
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #pieces: string[] = [];
  #asked = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.ready = new Promise((resolve, reject) => this.#waiting.set(0, { resolve, reject }));
    child.stdout!.setEncoding("utf8").on("data", (text: string) => this.#hear(text));
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    child.stdin!.on("error", () => undefined);
    this.ended = new Promise((resolve) => {
      child.on("close", (code, signal) => {
        const end = new Error(`the driver ended (${code ?? signal}): ${this.stderr}`);
        for (const { reject } of this.#waiting.values()) reject(end);
        resolve();
      });
    });
  }

  ask(question: Question): Promise<unknown> {
    const number = ++this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#child.stdin!.write(`${JSON.stringify({ number, question })}\n`);
    });
  }

  #hear(text: string): void {
    const [end, ...starts] = text.split("\n");
    this.#pieces.push(end!);
    for (const start of starts) {
      this.#settle(this.#pieces.join(""));
      this.#pieces = [start];
    }
  }

  #settle(line: string): void {
    const { number, answer } = line === "ready" ? { number: 0, answer: null } : JSON.parse(line);
    this.#waiting.get(number)?.resolve(answer);
    this.#waiting.delete(number);
  }
}

/** The codes in an outcome: of the call, or else of the entries of a batch, "" for an entry that succeeded. */
export function codesOf({ answer, error }: Outcome): string[] {
  if (error !== undefined) return [parseError(error)?.code ?? error];
  const { results } = (answer ?? {}) as { results?: { error?: string }[] };
  return (results ?? []).map((result) => (result.error === undefined ? "" : parseError(result.error)!.code));
}

/** What is wrong with an outcome, whatever the call: its form, its schema, what its messages give away. */
export function outcomeFaults(
  { answer, error }: Outcome,
  given: { readonly functionId: string; readonly payload: unknown; readonly root: string },
): string[] {
  // The entries of a large batch fail alike.
  const errors = error === undefined ? new Set(entryErrors(answer)) : [error];
  return [
    ...(error === undefined ? schemaFaults(given.functionId, answer) : []),
    ...[...errors].flatMap((text) => {
      const parsed = parseError(text);
      return parsed === undefined ? [`not the error form: ${text}`] : faultsOf(parsed, given);
    }),
  ];
}
