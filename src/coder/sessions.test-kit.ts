/** For tests: several callers of one worker with a journal. */
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Author } from "../base/author.ts";
import { createLog } from "../base/log/log.ts";
import { renderAnswer } from "../calls/contract/answer-text.ts";
import { wordingFor } from "../calls/contract/wording.ts";
import { createInvoke } from "../calls/invoke.ts";
import { type Config, defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { type CoderRuntime, openCoder } from "./services.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers of several functions
type Answer = any;

/** The calls of one author, in order. */
export interface AuthorCalls {
  readonly author: Author | undefined;
  /** Returns the answer. Throws the error of the call. */
  call(id: string, payload?: object): Promise<Answer>;
  /** Returns the answer as text. Throws the error of the call. */
  text(id: string, payload?: object): Promise<string>;
}

export class SessionsFixture implements AsyncDisposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  readonly base = join(this.root, "base");
  readonly log = createLog({ level: "error", form: "text", write: () => undefined });
  readonly #runtime: Promise<CoderRuntime>;
  readonly #began: Promise<string>;

  /** Starts the worker. `journalBytes` is the room of its journal. */
  constructor(
    config: Partial<Config> = {},
    journalBytes = 64 * 1024 * 1024,
    environment: NodeJS.ProcessEnv = {},
  ) {
    mkdirSync(this.base);
    const journal = { dir: join(this.root, "state"), max_bytes: journalBytes, max_records: 500 };
    const profile = "agent" as const;
    const all = { ...defaultConfig(), base_path: this.base, fsync: false, journal, profile, ...config };
    this.#runtime = openCoder(all, { environment });
    this.#began = this.#runtime.then((runtime) => runtime.treeChanges!.begin());
  }

  get runtime(): Promise<CoderRuntime> {
    return this.#runtime;
  }

  /** Makes the journal fail to write until it is disposed of. */
  async breakJournal(): Promise<Disposable> {
    const { journal } = await this.#runtime;
    const segments = join(journal!.state.location, "segments");
    journal!.state.path("segments", "x");
    // The journal reopens its files by their names.
    journal!.close();
    const aside = `${segments}.aside`;
    renameSync(segments, aside);
    writeFileSync(segments, "in the way");
    return {
      [Symbol.dispose]: () => {
        rmSync(segments);
        renameSync(aside, segments);
      },
    };
  }

  at(path: string): string {
    return join(this.base, path);
  }

  open(author?: Author): AuthorCalls {
    const call = async (id: string, payload: object = {}) => {
      const [runtime, began] = [await this.#runtime, await this.#began];
      const definition = functions.find((one) => one.id === id)!;
      const outcome = await createInvoke(runtime, this.log)(definition, payload, { author, began });
      if ("error" in outcome) throw new Error(outcome.error);
      return outcome.answer as Answer;
    };
    const text = async (id: string, payload: object = {}) => {
      const answer = await call(id, payload);
      const definition = functions.find((one) => one.id === id)!;
      return (await renderAnswer(
        { definition, payload, answer },
        wordingFor((name) => name),
      )) as string;
    };
    return { author, call, text };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#runtime).close();
    rmSync(this.root, { recursive: true });
  }
}
