/**
 * For tests: another program that changes a tree. Each line of its standard input is a JSON array of an
 * operation and its paths. The program carries it out and prints a line.
 */
import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** The operations that a line of standard input may name. */
export const operations = {
  write: (path: string) => appendFileSync(path, "other\n"),
  /** Saves like an editor: a new file takes the name. */
  save: (path: string) => {
    writeFileSync(`${path}~`, "saved\n");
    renameSync(`${path}~`, path);
  },
  empty: (path: string) => writeFileSync(path, ""),
  touch: (path: string) => utimesSync(path, 1, Date.now() / 1000),
  chmod: (path: string) => chmodSync(path, 0o600),
  remove: (path: string) => rmSync(path, { recursive: true }),
  move: (from: string, to: string) => renameSync(from, to),
  mkdir: (path: string) => mkdirSync(path),
} as const;

export type Operation = readonly [keyof typeof operations, ...string[]];

/** The program, running in a process of its own. */
export class OtherProgram implements Disposable {
  readonly #child: Bun.Subprocess<"pipe", "pipe", "inherit">;
  readonly #reader: { read(): Promise<{ readonly done: boolean }> };

  constructor() {
    this.#child = Bun.spawn([process.execPath, import.meta.path], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    this.#reader = this.#child.stdout.getReader();
  }

  /** Carries out the operation. Resolves when it is done. */
  async run(operation: Operation): Promise<void> {
    this.#child.stdin.write(`${JSON.stringify(operation)}\n`);
    this.#child.stdin.flush();
    const { done } = await this.#reader.read();
    if (done) throw new Error(`the other program failed: ${operation.join(" ")}`);
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }
}

if (import.meta.main)
  for await (const line of createInterface({ input: process.stdin })) {
    const [name, ...paths] = JSON.parse(line) as Operation;
    (operations[name] as (...paths: string[]) => void)(...paths);
    process.stdout.write(".");
  }
