import type { WatchedTree } from "../watch/watched-tree.ts";
import { type AnnouncedCommands, type AnnouncedFile, processExists } from "./announced-commands.ts";
import type { CallCause, RunningCommand } from "./change.ts";

interface CommandElsewhere extends RunningCommand {
  cause: CallCause | undefined;
  /** The process of its worker. */
  readonly pid: number;
}

type Tree = Pick<WatchedTree, "watchBeside">;

export interface CommandsElsewhereOptions {
  readonly announced: AnnouncedCommands;
  readonly tree: Tree;
  /** Receives the time at which a command has ended, in milliseconds. */
  readonly onEnd: (cause: CallCause, time: number) => void;
}

/** The commands of other workers, as of the last event of a tree that was read. */
export class CommandsElsewhere {
  readonly #announced: AnnouncedCommands;
  readonly #tree: Tree;
  readonly #onEnd: (cause: CallCause, time: number) => void;
  /** The commands that run, by their ids, and those whose files are being renamed because they have ended. */
  readonly #commands = new Map<string, CommandElsewhere>();
  readonly #ending = new Map<string, CommandElsewhere>();
  #running: readonly RunningCommand[] = [];
  #end: (() => void) | undefined;

  constructor({ announced, tree, onEnd }: CommandsElsewhereOptions) {
    this.#announced = announced;
    this.#tree = tree;
    this.#onEnd = onEnd;
    this.follow();
  }

  /** The commands that run, oldest first. The array is replaced when they change. */
  get running(): readonly RunningCommand[] {
    return this.#running;
  }

  /** Watches the announcements if they are not watched, and forgets the commands of killed workers. */
  follow(): void {
    if (this.#end === undefined) this.#watch();
    else for (const [id, { pid }] of this.#commands) if (!processExists(pid)) this.#forget(id);
  }

  /** Replaces what is known after events were lost. */
  list(): void {
    this.#ending.clear();
    const running = this.#announced.running();
    const ids = new Set(running.map(({ id }) => id));
    for (const id of this.#commands.keys()) if (!ids.has(id)) this.#forget(id);
    for (const { name } of running) this.#onName(name, true);
  }

  end(): void {
    this.#end?.();
    this.#end = undefined;
  }

  #watch(): void {
    const folder = this.#announced.folder();
    if (folder === undefined) return;
    this.#end = this.#tree.watchBeside(folder, (name, isThere) => this.#onName(name, isThere));
    if (this.#end !== undefined) this.list();
  }

  #onName(name: string | undefined, isThere: boolean): void {
    if (name === undefined) {
      this.#end = undefined;
      for (const id of this.#commands.keys()) this.#forget(id);
      return;
    }
    const file = this.#announced.parse(name);
    if (file === undefined) return;
    if (!file.isRunning) this.#onEnded(file, isThere);
    else if (!isThere) this.#delete(file.id);
    else if (!this.#commands.has(file.id)) {
      this.#commands.set(file.id, { cause: this.#announced.read(name), pid: file.pid });
      this.#update();
    }
  }

  /** Handles the file of a command that has ended: that of the running one was renamed. */
  #onEnded({ id, name, ended }: AnnouncedFile, isThere: boolean): void {
    const command = this.#ending.get(id);
    this.#ending.delete(id);
    if (!isThere || command === undefined) return;
    // It may have ended before its file was read.
    command.cause ??= this.#announced.read(name);
    if (command.cause !== undefined) this.#onEnd(command.cause, ended);
  }

  #forget(id: string): void {
    this.#delete(id);
    this.#ending.delete(id);
  }

  #delete(id: string): void {
    const command = this.#commands.get(id);
    if (command === undefined) return;
    this.#commands.delete(id);
    this.#ending.set(id, command);
    this.#update();
  }

  #update(): void {
    this.#running = [...this.#commands.values()];
  }
}
