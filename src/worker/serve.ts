/**
 * The worker on the bus, through the official SDK: registration, the form of an error, shutdown that loses no
 * answer. Sections are those of the bus specification.
 */
import { renderSchema } from "../reference/json.ts";
import { accessTo, type Bus, connect, type Identity, restoreChannels } from "./bus.ts";
import type { FunctionDefinition } from "./define.ts";
import type { Invoke, Outcome } from "./invoke.ts";
import type { Log } from "./log.ts";
import { UnderWay } from "./under-way.ts";

export interface ServeOptions {
  readonly url: string;
  /** What the engine knows this worker by. */
  readonly identity: Identity;
  readonly functions: readonly FunctionDefinition[];
  readonly invoke: Invoke;
  readonly log: Log;
}

export interface Serving {
  /** Resolves when the engine knows all functions, for the first time. */
  readonly registered: Promise<void>;
  /** Takes no new calls, finishes those under way (at most 5 s), sends their answers and leaves the bus. */
  stop(): Promise<void>;
}

/** Registers `functions` at the engine and answers calls until stopped. An absent engine is tried for ever. */
export function serve({ url, identity, functions, invoke, log }: ServeOptions): Serving {
  const bus = connect(url, identity, log);
  const access = accessTo(bus, url);
  const underWay = new UnderWay();
  const registrations = functions.map((definition) =>
    bus.registerFunction(
      definition.id,
      (payload: unknown) => {
        const origin = { bus: access, caller: callerOf(payload) };
        return underWay.add(answerOnBus(invoke(definition, restoreChannels(payload), origin)));
      },
      {
        description: definition.description,
        request_format: renderSchema(definition.published ?? definition.request),
        response_format: renderSchema(definition.response),
      },
    ),
  );
  return {
    registered: registered(bus),
    async stop() {
      for (const registration of registrations) registration.unregister();
      await underWay.settled();
      await bus.shutdown();
    },
  };
}

/** Section 1: the SDK has no event for it, but a call made now is sent behind the registrations. */
async function registered(bus: Bus): Promise<void> {
  try {
    await bus.trigger({ function_id: "engine::workers::list", payload: {}, timeoutMs: longestTimer });
  } catch {
    // An engine that does not know the function has answered too; and at the end nobody waits any more.
  }
}

/** What setTimeout can wait at most: 24 days, in milliseconds. */
const longestTimer = 2 ** 31 - 1;

/** The engine writes it into every payload that is an object, over whatever stood there (section 0). */
function callerOf(payload: unknown): string | undefined {
  const { _caller_worker_id: caller } = (payload ?? {}) as { readonly _caller_worker_id?: unknown };
  return typeof caller === "string" ? caller : undefined;
}

async function answerOnBus(call: Promise<Outcome>): Promise<unknown> {
  const outcome = await call;
  if ("error" in outcome) throw wireError(outcome.error);
  return outcome.answer;
}

/** Section 2: the SDK sends an error's message and stack, so the stack must not say where this program lies. */
function wireError(sentence: string): Error {
  const error = new Error(`handler error: ${sentence}`);
  error.stack = `CoderError: ${error.message}`;
  return error;
}
