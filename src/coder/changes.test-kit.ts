/** For tests: a reader of the feed while calls and another program change the tree. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import type { WireChange } from "./changes/wire.ts";
import { type Config, defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { type CoderRuntime, openCoder } from "./services.ts";

export interface Pulled {
  readonly changes: readonly WireChange[];
  readonly next: string;
  readonly overflow: boolean;
  readonly external: boolean;
  readonly note?: string;
}

export class FeedFixture implements AsyncDisposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  readonly state = realpathSync(mkdtempSync(join(tmpdir(), "coder-state-")));
  readonly log = createLog({ level: "error", form: "text", write: (line) => this.#lines.push(line) });
  next = "";
  readonly #lines: string[] = [];
  #runtime: CoderRuntime | undefined;
  #invoke: ReturnType<typeof createInvoke> | undefined;

  /** Opens the worker, and the feed. */
  async open(config: Partial<Config> = {}, variables: NodeJS.ProcessEnv = {}): Promise<this> {
    const files = { ...defaultConfig(), ...config, base_path: this.base };
    const environment = { XDG_STATE_HOME: this.state, ...variables };
    this.#runtime = await openCoder(files, { log: this.log, environment });
    this.#invoke = createInvoke(this.#runtime, this.log);
    this.next = (await this.pull({})).next;
    return this;
  }

  /** Opens the worker over several folders below the base, each a root with its name; and the feed. */
  openRoots(paths: readonly string[], config: Partial<Config> = {}, denied: string[] = []): Promise<this> {
    const roots = paths.map((path) => {
      mkdirSync(this.at(path), { recursive: true });
      return {
        name: basename(path),
        path: this.at(path),
        read_only: false,
        non_accessible_globs: denied,
      };
    });
    return this.open({ ...config, roots });
  }

  /** Returns the host path of a path from the base. */
  at(path: string): string {
    return join(this.base, path);
  }

  /** Calls a function. Throws unless all of it is done. */
  async call(id: string, payload: object): Promise<unknown> {
    const outcome = await this.#invoke!(definitionOf(id), payload);
    const text = JSON.stringify(outcome);
    if ("error" in outcome || text.includes('"success":false')) throw new Error(`${id}: ${text}`);
    return outcome.answer;
  }

  /** Calls a function that must refuse. Returns the outcome as text. */
  async refused(id: string, payload: object): Promise<string> {
    const text = JSON.stringify(await this.#invoke!(definitionOf(id), payload));
    if (!/"error"/.test(text)) throw new Error(`${id}: ${text}`);
    return text;
  }

  pull(request: object): Promise<Pulled> {
    return this.call("coder::changes", request) as Promise<Pulled>;
  }

  /**
   * Returns the changes since the last call, as `kind path` or `kind from to path`, with a "/" after folders,
   * and the author.
   */
  async take(request: object = {}): Promise<string[]> {
    const pulled = await this.pull({ since: this.next, ...request });
    this.next = pulled.next;
    return pulled.changes.map(renderChange);
  }

  async close(): Promise<void> {
    await this.#runtime?.close();
    this.#runtime = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    for (const folder of [this.base, this.state]) rmSync(folder, { recursive: true, force: true });
    if (this.#lines.length > 0) throw new Error(this.#lines.join(""));
  }
}

const definitionOf = (id: string) => functions.find((one) => one.id === id)!;

/** Renders a change as one line. */
export function renderChange({ kind, path, from, dir, cause, overflow }: WireChange): string {
  if (overflow) return "gap";
  const mark = dir ? "/" : "";
  const paths = from === undefined ? path + mark : `${from}${mark} to ${path}${mark}`;
  return `${kind} ${paths} by ${cause.function_id?.replace("coder::", "") ?? cause.by}`;
}
