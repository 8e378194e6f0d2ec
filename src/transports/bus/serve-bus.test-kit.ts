/** For tests: a worker on the bus in this process. */
import { Type } from "@sinclair/typebox";
import { createLog, type Log } from "../../base/log/log.ts";
import { definerFor, type FunctionDefinition, type Services } from "../../calls/contract/definition.ts";
import { createInvoke } from "../../calls/invoke.ts";
import { RunningCalls } from "../../calls/running-calls.ts";
import { type ServeOptions, type Serving, serve } from "./serve-bus.ts";

export interface Line {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** A log whose lines can be awaited. */
export class Lines {
  readonly all: Line[] = [];
  readonly log: Log = createLog({
    level: "debug",
    form: "json",
    write: (line) => this.#add(JSON.parse(line)),
  });
  #wake: () => void = () => {};

  /** Returns the first line, from the `from`th on, whose message matches. */
  async next(pattern: RegExp, from = 0): Promise<Line> {
    for (;;) {
      const line = this.all.slice(from).find(({ message }) => pattern.test(message));
      if (line !== undefined) return line;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Returns the messages of these levels. */
  of(...levels: string[]): string[] {
    return this.all.filter(({ level }) => levels.includes(level)).map(({ message }) => message);
  }

  #add(line: Line): void {
    this.all.push(line);
    // Wakes the waiter after the code that logs the line.
    setImmediate(this.#wake);
  }
}

/** A function that answers at once with its payload. */
export const echo: FunctionDefinition = definerFor<Services>()({
  id: "test::echo",
  since: "0.0.0",
  description: "",
  effect: "reads",
  paths: [],
  request: Type.Object({ value: Type.Unknown() }),
  response: Type.Unknown(),
  examples: [],
  handle: ({ value }) => ({ value }),
});

const renderError = (error: unknown) => ({
  text: (error as Error).message,
  code: undefined,
  isProse: true as const,
});

/** Serves `echo` at the engine of `url`, which it queries every 10 ms. */
export function serveEcho(
  url: string,
  lines: Lines,
  more: Partial<Pick<ServeOptions, "functions" | "maxTokens" | "stopCalls"> & ServeOptions["identity"]> & {
    readonly running?: RunningCalls;
  } = {},
): Serving {
  const { functions = [echo], maxTokens, running = new RunningCalls(), stopCalls, ...identity } = more;
  return serve({
    url,
    identity: { name: "tester", description: "", ...identity },
    functions,
    maxTokens,
    invoke: createInvoke({ callMilliseconds: 25_000, renderError }, lines.log, { running }),
    ...(stopCalls && { stopCalls }),
    log: lines.log,
    intervalMilliseconds: 10,
    settlingMilliseconds: [0],
  });
}
