import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The program under test: its sources, bundled so that they start in a third of the time, or the compiled
 * executable.
 */
export type Subject = "source" | "executable";

export const subjects: readonly Subject[] = ["source", "executable"];

/**
 * The subjects of tests whose outcome depends on the code and not on how it was built: the executable, as
 * users have it. Both contain the same code; `npm run suite -- subjects` runs these tests on both.
 */
export const defaultSubjects: readonly Subject[] =
  process.env["CODER_SUBJECTS"] === "all" ? subjects : ["executable"];

/** The root of the repository. */
export const repository = join(import.meta.dirname, "../..");

/** Returns the command that starts the subject. Throws if it has not been built. */
export const commandOf = (subject: Subject): [string, ...string[]] =>
  subject === "source"
    ? [process.execPath, bundled("src/base/program/main.js")]
    : [requireBuilt(join(repository, "dist/coder"))];

/**
 * Returns the bundle of a program, by its path in the repository: one of those that `scripts/build.ts`
 * bundles.
 */
export const bundled = (path: string): string => requireBuilt(join(repository, ".work/source", path));

function requireBuilt(path: string): string {
  if (!existsSync(path)) throw new Error(`${path} is missing: run "npm run build" before these tests`);
  return path;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The standard input. Default: empty. */
  readonly input?: string;
}

export interface ProcessResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the subject to its end. */
export async function runCoder(
  subject: Subject,
  args: readonly string[],
  options: RunOptions = {},
): Promise<ProcessResult> {
  const running = startCoder(subject, args, options);
  const code = await running.exited;
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

export interface CoderProcess {
  readonly child: ChildProcess;
  /** Returns everything written so far. */
  stdout(): string;
  stderr(): string;
  /**
   * Resolves when text written to stderr matches, without its first `from` characters. Rejects if the program
   * ends first.
   */
  waitForStderr(pattern: RegExp, from?: number): Promise<void>;
  /** Resolves to the exit code, or to null if a signal ended it, after all output has been read. */
  readonly exited: Promise<number | null>;
}

/** Starts the subject with an unusual umask, and without the environment variables that it reads. */
export function startCoder(
  subject: Subject,
  args: readonly string[],
  options: RunOptions = {},
): CoderProcess {
  const child = spawn("sh", ["-c", 'umask 027 && exec "$@"', "sh", ...commandOf(subject), ...args], {
    cwd: options.cwd ?? repository,
    env: { ...plainEnvironment(), ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  let ended = false;
  const waiting = new Set<() => void>();
  const checkAll = () => {
    for (const check of waiting) check();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    checkAll();
  });
  // A program that ends without reading its input closes the pipe, which is not a failure of the test.
  child.stdin.on("error", () => undefined).end(options.input ?? "");
  const exited = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject).on("close", (code) => {
      ended = true;
      checkAll();
      resolve(code);
    });
  });
  const waitForStderr = (pattern: RegExp, from = 0) =>
    new Promise<void>((resolve, reject) => {
      const isThere = () => pattern.test(stderr.slice(from));
      const check = () => {
        if (!isThere() && !ended) return;
        waiting.delete(check);
        if (isThere()) resolve();
        else reject(new Error(`ended without saying ${pattern}: ${stderr}`));
      };
      waiting.add(check);
      check();
    });
  return { child, stdout: () => stdout, stderr: () => stderr, waitForStderr, exited };
}

/**
 * Returns this process's environment without the variables that the program reads, and with a state folder of
 * its own.
 */
function plainEnvironment(): Record<string, string> {
  const steering = /^(III_|CODER_LOG$|OTEL_)/;
  const plain = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !steering.test(entry[0]),
  );
  return { ...Object.fromEntries(plain), XDG_STATE_HOME: stateFolder() };
}

/**
 * The options of Bun's compiler that `npm test` sets, for programs that do not get the whole environment.
 */
export const compilerOptions: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env as Record<string, string>).filter(([name]) => name.startsWith("BUN_JSC_")),
);

let state: string | undefined;

/** Returns the state folder of the programs of this process, which is removed at its end. */
export function stateFolder(): string {
  if (state !== undefined) return state;
  const made = mkdtempSync(join(tmpdir(), "coder-state-"));
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  state = made;
  return made;
}
