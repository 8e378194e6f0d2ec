/**
 * The commands that other workers run on the same folder, also in other processes. Each is a file in the
 * state folder, whose name says whether it still runs. A feed gets the events of that folder and of the tree
 * in one order, so it knows which commands ran at each event.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { StateFolder } from "../state/state-folder.ts";
import type { CallCause } from "./change.ts";

const folder = "commands";

/** Milliseconds after which the file of a command that has ended is removed. */
const keptMs = 60_000;

/** Minimum milliseconds between two listings, and maximum files that the end of a command removes. */
const listEveryMs = 10_000;
const removedAtOnce = 16;

/** Maximum characters of a name in the file of a command. */
const maxNameLength = 200;

/** The name of a file: the state, the id (process, worker in it, and a number), and the time of the end. */
const fileName = /^(running|ended)-((\d+)-([\da-f]+)-\d+)(?:-(\d+))?$/;

export class AnnouncedCommands {
  readonly #state: StateFolder;
  /** Identifies this worker among those of its process. */
  readonly #worker = randomBytes(4).toString("hex");
  readonly #now: () => number;
  #count = 0;
  /** The files to be removed, and the earliest time of the next listing, by `#now`. */
  #old: AnnouncedFile[] = [];
  #listAt = 0;

  /** Creates the commands of a worker. `now` returns milliseconds. */
  constructor(state: StateFolder, now = () => performance.now()) {
    this.#state = state;
    this.#now = now;
  }

  /**
   * Announces a command to the other workers. Returns a function to call when the command has ended. Does not
   * fail if the folder cannot be written.
   */
  begin(cause: CallCause): () => void {
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

  /** Returns the host path of the folder with the files, which it creates; `undefined` if it cannot. */
  folder(): string | undefined {
    try {
      return dirname(this.#state.path(folder, "new"));
    } catch {
      return undefined;
    }
  }

  /** Returns what the name of a file says about the command of another worker. */
  parse(name: string): AnnouncedFile | undefined {
    const file = parseName(name);
    return file?.worker === this.#worker ? undefined : file;
  }

  /** Lists the commands of other workers that run. */
  running(): AnnouncedFile[] {
    const at = this.#state.find(folder);
    if (at === undefined) return [];
    return listIn(at).filter(
      ({ isRunning, pid, worker }) => isRunning && worker !== this.#worker && processExists(pid),
    );
  }

  /** Returns the cause in a file, with its names cut; `undefined` if the file is gone or damaged. */
  read(name: string): CallCause | undefined {
    const at = this.#state.find(folder);
    return at === undefined ? undefined : readCause(join(at, name));
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

  /**
   * Removes some files of commands that ended some time ago, and of those whose workers were killed. They are
   * listed at most once in ten seconds, because a listing has the commands of a minute.
   */
  #clean(): void {
    const at = this.#state.find(folder);
    if (at === undefined) return;
    if (this.#old.length === 0 && this.#now() >= this.#listAt) {
      this.#listAt = this.#now() + listEveryMs;
      this.#old = listIn(at).filter(isOld);
    }
    for (const { name } of this.#old.splice(0, removedAtOnce)) rmSync(join(at, name), { force: true });
  }
}

/** Returns whether the file of a command is of no use any longer. */
const isOld = ({ isRunning, pid, ended }: AnnouncedFile): boolean =>
  isRunning ? !processExists(pid) : ended < Date.now() - keptMs;

export interface AnnouncedFile {
  readonly name: string;
  readonly isRunning: boolean;
  /** Unique among commands of all workers. */
  readonly id: string;
  readonly pid: number;
  readonly worker: string;
  /** The time of its end, or 0. */
  readonly ended: number;
}

function parseName(name: string): AnnouncedFile | undefined {
  const [, state, id, pid, worker, ended = "0"] = fileName.exec(name) ?? [];
  if (state === undefined) return undefined;
  const isRunning = state === "running";
  return { name, isRunning, id: id!, pid: Number(pid), worker: worker!, ended: Number(ended) };
}

function listIn(at: string): AnnouncedFile[] {
  try {
    return readdirSync(at).flatMap((name) => parseName(name) ?? []);
  } catch {
    return [];
  }
}

/** Returns whether a process exists. */
export function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function readCause(path: string): CallCause | undefined {
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
