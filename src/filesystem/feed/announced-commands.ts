/**
 * The commands that other workers run on the same folder, also in other processes. Each is a file in the
 * state folder, whose name says whether it still runs, so that a feed can distinguish their changes from
 * those of other programs.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StateFolder } from "../state/state-folder.ts";
import type { Cause } from "./change.ts";

const folder = "commands";

/** Milliseconds after which the file of a command that has ended is removed. */
const keptMs = 60_000;

/** Maximum commands that are read at once, and characters of a name in their files. */
const maxRead = 100;
const maxNameLength = 200;

/** The name of a file: the state, the process, the worker in it, a number, and the time of the end. */
const fileName = /^(running|ended)-(\d+)-([\da-f]+)-\d+(?:-(\d+))?$/;

export class AnnouncedCommands {
  readonly #state: StateFolder;
  /** Identifies this worker among those of its process. */
  readonly #worker = randomBytes(4).toString("hex");
  #count = 0;

  constructor(state: StateFolder) {
    this.#state = state;
  }

  /**
   * Announces a command to the other workers. Returns a function to call when the command has ended. Does not
   * fail if the folder cannot be written.
   */
  begin(cause: Cause): () => void {
    const id = `${process.pid}-${this.#worker}-${this.#count++}`;
    try {
      const [created, running] = [`new-${id}`, `running-${id}`].map((name) => this.#state.path(folder, name));
      if (this.#count === 1) this.#clean();
      writeFileSync(created!, JSON.stringify(cause), { mode: 0o600 });
      renameSync(created!, running!);
      return () => this.#end(id);
    } catch {
      return () => {};
    }
  }

  /** Returns the causes of other workers' commands that ran at this time, in milliseconds, or later. */
  since(time: number): Cause[] {
    const at = this.#state.find(folder);
    if (at === undefined) return [];
    const found: Cause[] = [];
    const others = listIn(at).filter(({ worker }) => worker !== this.#worker);
    for (const { name, isRunning, pid, ended } of others.slice(0, maxRead)) {
      const isLater = isRunning ? isAlive(pid) : ended >= time;
      const cause = isLater ? readCause(join(at, name)) : undefined;
      if (cause !== undefined) found.push(cause);
    }
    return found;
  }

  #end(id: string): void {
    const running = this.#state.path(folder, `running-${id}`);
    try {
      renameSync(running, this.#state.path(folder, `ended-${id}-${Date.now()}`));
    } catch {
      // The state folder was removed.
    }
    this.#clean();
  }

  /** Removes the files of commands that ended some time ago, and of those whose workers were killed. */
  #clean(): void {
    const at = this.#state.find(folder);
    if (at === undefined) return;
    for (const { name, isRunning, pid, ended } of listIn(at))
      if (isRunning ? !isAlive(pid) : ended < Date.now() - keptMs) rmSync(join(at, name), { force: true });
  }
}

interface AnnouncedFile {
  readonly name: string;
  readonly isRunning: boolean;
  readonly pid: number;
  readonly worker: string;
  readonly ended: number;
}

function listIn(at: string): AnnouncedFile[] {
  try {
    return readdirSync(at).flatMap((name) => {
      const [, state, pid, worker, ended = "0"] = fileName.exec(name) ?? [];
      if (state === undefined) return [];
      return [
        { name, isRunning: state === "running", pid: Number(pid), worker: worker!, ended: Number(ended) },
      ];
    });
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Returns the cause in a file, with its names cut; `undefined` if the file is gone or damaged. */
function readCause(path: string): Cause | undefined {
  try {
    const { function_id, program, author } = JSON.parse(readFileSync(path, "utf8"), (_, value: unknown) =>
      typeof value === "string" ? value.slice(0, maxNameLength) : value,
    );
    if (typeof function_id !== "string" || typeof program !== "string") return undefined;
    const isNamed = typeof author === "object" && author !== null;
    return { by: "call", function_id, program, ...(isNamed && { author: authorOf(author) }) };
  } catch {
    return undefined;
  }
}

const authorOf = (author: object) =>
  Object.fromEntries(
    Object.entries(author).filter(
      ([field, value]) =>
        ["client", "session", "worker", "user"].includes(field) && typeof value === "string",
    ),
  );
