/** Moves and copies for the crash suite: after a kill, each is either complete or has not happened. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Engine } from "../../src/embedded-engine/engine.ts";

/** A file or folder that is moved or copied over and over. */
export interface TreeWork {
  /** Makes one call. Rejects if it fails or the worker is gone. */
  next(engine: Engine): Promise<void>;
  /** Returns the faults that a kill has left, and removes the copy if this is one. */
  faults(): string[];
  /** The number of calls that were acknowledged. */
  readonly done: number;
}

/** Texts of files by their paths below an entry. The path "" means that the entry itself is a file. */
type Files = Readonly<Record<string, string>>;

const folder: Files = Object.fromEntries(
  Array.from({ length: 12 }, (_, index) => [`d${index % 3}/f${index}.txt`, `${index}\n`.repeat(1000)]),
);

/** Creates a file to move between two folders, a folder to rename, and a file and a folder to copy. */
export const openTreeWorks = (base: string): readonly TreeWork[] => [
  new Moved(base, ["here/moved.txt", "there/moved.txt"], { "": "moved\n".repeat(5000) }),
  new Moved(base, ["folder-a", "folder-b"], folder),
  new Copied(base, ["original.txt", "copy.txt"], { "": "copied\n".repeat(30_000) }),
  new Copied(base, ["original", "copy"], folder),
];

class Moved implements TreeWork {
  done = 0;
  readonly #base: string;
  readonly #names: readonly [string, string];
  readonly #files: Files;

  constructor(base: string, names: readonly [string, string], files: Files) {
    this.#base = base;
    this.#names = names;
    this.#files = files;
    write(join(base, names[0]), files);
    mkdirSync(dirname(join(base, names[1])), { recursive: true });
  }

  async next(engine: Engine): Promise<void> {
    const [from, to] = existsSync(join(this.#base, this.#names[0])) ? this.#names : this.#names.toReversed();
    await call(engine, "coder::move", { from, to });
    this.done++;
  }

  faults(): string[] {
    const there = this.#names.filter((name) => existsSync(join(this.#base, name)));
    if (there.length !== 1) return [`${this.#names.join(" and ")}: ${there.length} of them are there`];
    return differences(join(this.#base, there[0]!), this.#files);
  }
}

class Copied implements TreeWork {
  done = 0;
  readonly #base: string;
  readonly #names: readonly [string, string];
  readonly #files: Files;

  constructor(base: string, names: readonly [string, string], files: Files) {
    this.#base = base;
    this.#names = names;
    this.#files = files;
    write(join(base, names[0]), files);
  }

  async next(engine: Engine): Promise<void> {
    const [from, to] = this.#names;
    await call(engine, "coder::copy", { from, to });
    this.done++;
    this.#removeCopy();
  }

  faults(): string[] {
    const [from, to] = this.#names.map((name) => join(this.#base, name)) as [string, string];
    const faults = [from, to]
      .filter((path) => existsSync(path))
      .flatMap((path) => differences(path, this.#files));
    this.#removeCopy();
    return existsSync(from) ? faults : [...faults, `${from} is gone`];
  }

  #removeCopy(): void {
    rmSync(join(this.#base, this.#names[1]), { recursive: true, force: true });
  }
}

async function call(
  engine: Engine,
  functionId: string,
  entry: Readonly<Record<string, string>>,
): Promise<void> {
  const answer = await engine.call(functionId, { files: [entry] });
  const [result] = (answer as { results: { success: boolean; error?: unknown }[] }).results;
  if (!result!.success) throw new Error(JSON.stringify(result!.error));
}

function write(path: string, files: Files): void {
  for (const [key, text] of Object.entries(files)) {
    const file = key === "" ? path : join(path, key);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function differences(path: string, files: Files): string[] {
  if ("" in files) return readFileSync(path, "utf8") === files[""] ? [] : [`${path} is torn`];
  const found = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const wrong = Object.entries(files).filter(([key, text]) => textAt(join(path, key)) !== text);
  if (found.length === Object.keys(files).length && wrong.length === 0) return [];
  return [`${path} has ${found.length} files, and ${wrong.length} that are missing or torn`];
}

const textAt = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, "utf8") : undefined;
