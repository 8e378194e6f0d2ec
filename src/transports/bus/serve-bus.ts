/**
 * Serves functions on the bus through the official SDK: registers them, converts errors, and stops without
 * losing an answer.
 */

import type { Log } from "../../base/log/log.ts";
import { createTimeSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import { renderSchema } from "../../base/schema/json-schema.ts";
import { AnswerBudget } from "../../calls/answer-budget.ts";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import type { TraceParent } from "../../calls/contract/origin.ts";
import { WrittenAnswer } from "../../calls/contract/prepared-answer.ts";
import type { TriggerType } from "../../calls/contract/trigger.ts";
import { earliestAnswer } from "../../calls/earliest.ts";
import { InFlight } from "../../calls/in-flight.ts";
import type { CallOutcome, Invoke } from "../../calls/invoke.ts";
import type { EngineTelemetry } from "../../serve/telemetry/telemetry.ts";
import { jsonPartsOf } from "../../text/sizes/json-parts.ts";
import {
  accessTo,
  connect,
  cutConnection,
  type Identity,
  reachEngine,
  register,
  takeLarge,
  unsentBytes,
} from "./bus.ts";
import { CallerAccounts } from "./caller-accounts.ts";
import { EncodedAnswer } from "./encoded-answer.ts";
import { Registration, type RegistrationOptions } from "./registration.ts";
import { Triggers } from "./triggers.ts";
import { UnsentAnswers } from "./unsent.ts";

export interface ServeOptions
  extends Pick<RegistrationOptions, "intervalMilliseconds" | "settlingMilliseconds"> {
  readonly url: string;
  /** The name of this worker in the engine, and its description. */
  readonly identity: Identity;
  readonly functions: readonly FunctionDefinition[];
  readonly triggers?: readonly TriggerType[] | undefined;
  readonly invoke: Invoke;
  /** Lets calls finish until none has ended for `milliseconds`, and then ends them. */
  readonly stopCalls?: (milliseconds: number) => Promise<void>;
  readonly log: Log;
  /** The identity for spans and metrics that the SDK sends to the engine; if absent, it sends none. */
  readonly telemetry?: EngineTelemetry | undefined;
  /** Returns the bytes that an engine inside this process holds for a caller who has not read them yet. */
  readonly unsentBytesTo?: ((caller: string) => number) | undefined;
  /** Returns whether callers have quotas, so that their accounts are needed. */
  readonly hasQuotas?: (() => boolean) | undefined;
  /** Returns the maximum values, keys and punctuation marks of a large request. Default: without limit. */
  readonly maxTokens?: (() => number) | undefined;
  /** Minimum milliseconds between a call and its answer, instead of 1; for the benchmark of that delay. */
  readonly earliestMilliseconds?: number | undefined;
}

export interface Serving {
  /** Resolves when the engine has first confirmed that all functions are registered. */
  readonly registered: Promise<void>;
  /**
   * Takes a large frame for this worker from an engine in the same process, if `workerId` is its id there.
   * Returns whether it has taken it.
   */
  takeLarge(workerId: string, text: string): boolean;
  /**
   * Refuses new calls, finishes those under way, ends those that take longer than 2.5 s, sends their answers
   * and leaves the bus.
   */
  stop(): Promise<void>;
}

/** The milliseconds that a stop waits for calls in flight. iii sends SIGKILL 3 s after SIGTERM. */
const drainMilliseconds = 2500;

/** The milliseconds that a stop waits for the engine to handle the end of the registrations. */
const stoppingMilliseconds = 500;

/**
 * Registers `functions` at the engine and answers calls until stopped. Retries an absent engine without end.
 */
export function serve(options: ServeOptions): Serving {
  const {
    url,
    identity,
    functions,
    invoke,
    stopCalls,
    log,
    unsentBytesTo,
    earliestMilliseconds,
    telemetry,
    maxTokens,
    triggers = [],
    hasQuotas = () => false,
    ...timing
  } = options;
  const bus = connect(url, identity, log, { telemetry, maxTokens });
  const access = accessTo(bus, url);
  const accounts = new CallerAccounts(bus);
  const inFlight = new InFlight();
  const budget = new AnswerBudget();
  const unsent = new UnsentAnswers({
    unsentBytes: () => unsentBytes(bus),
    cut: () => cutConnection(bus),
    ...(unsentBytesTo && { unsentBytesTo }),
  });
  const answer = (definition: FunctionDefinition) => (payload: unknown, trace: TraceParent) => {
    const arrived = performance.now();
    const probed = registration.answer(payload);
    if (probed !== undefined)
      return inFlight.add(earliestAnswer(arrived, earliestMilliseconds).then(() => probed));
    const caller = callerOf(payload);
    const lease = budget.lease(caller ?? "");
    const call = (account?: string) =>
      invoke(definition, payload, { bus: access, caller, account, lease, trace });
    const outcome = caller !== undefined && hasQuotas() ? accounts.of(caller).then(call) : call();
    const onSend = () => unsent.add(lease, caller ?? "");
    return inFlight.add(answerOnBus(outcome, { arrived, earliestMilliseconds, onSend }));
  };
  const registerOne = (definition: FunctionDefinition) =>
    register(bus, definition.id, answer(definition), {
      description: definition.description,
      request_format: renderSchema(definition.published ?? definition.request),
      response_format: renderSchema(definition.response),
    });
  const offered = new Triggers(bus, triggers, log);
  const registered = new Map(functions.map((definition) => [definition, registerOne(definition)]));
  const unregister = () => {
    for (const { unregister: unregisterOne } of registered.values()) unregisterOne();
  };
  const registration = new Registration({
    ...timing,
    namespace: identity.namespace,
    bus,
    log,
    ids: functions.map(({ id }) => id),
    unregister,
    register(missing) {
      for (const [definition, { unregister: unregisterOne }] of registered) {
        if (!missing.includes(definition.id)) continue;
        unregisterOne();
        registered.set(definition, registerOne(definition));
      }
    },
  });
  return {
    registered: registration.confirmed,
    takeLarge: (workerId, text) => takeLarge(bus, workerId, text),
    async stop() {
      registration.stop();
      unregister();
      await offered.stop();
      await reachEngine(bus, stoppingMilliseconds);
      await stopCalls?.(drainMilliseconds);
      await inFlight.settled(drainMilliseconds);
      await bus.shutdown();
    },
  };
}

/**
 * Returns the caller's id, which the engine writes into every payload that is an object, replacing any other
 * value (bus §0).
 */
function callerOf(payload: unknown): string | undefined {
  const { _caller_worker_id: caller } = (payload ?? {}) as { readonly _caller_worker_id?: unknown };
  return typeof caller === "string" ? caller : undefined;
}

interface Sending {
  /** The time when the call came. */
  readonly arrived: number;
  readonly earliestMilliseconds: number | undefined;
  /** Called just before the SDK gets the answer. */
  readonly onSend: () => void;
}

async function answerOnBus(
  call: Promise<CallOutcome>,
  { arrived, earliestMilliseconds, onSend }: Sending,
): Promise<unknown> {
  const outcome = await call;
  const answer = "error" in outcome ? undefined : await toSend(outcome);
  await earliestAnswer(arrived, earliestMilliseconds);
  onSend();
  if ("error" in outcome) throw wireError(outcome.error);
  return answer;
}

/**
 * Minimum bytes of an answer that is worth writing and encoding in slices. The SDK writes any other at once.
 */
const minEncoded = 256 * 1024;

/** Returns an answer for the SDK. */
async function toSend(outcome: Exclude<CallOutcome, { readonly error: string }>): Promise<unknown> {
  const isWritten = outcome instanceof WrittenAnswer;
  if (outcome.bytes < minEncoded) return isWritten ? outcome : outcome.answer;
  const parts = isWritten ? [outcome.text] : jsonPartsOf(outcome.answer);
  return runInSlices(EncodedAnswer.encode(parts, outcome.bytes), createTimeSlice());
}

/**
 * Returns an error for the SDK, which sends message and stack (bus §2). The stack must not name host paths.
 */
function wireError(sentence: string): Error {
  const error = new Error(`handler error: ${sentence}`);
  error.stack = `CoderError: ${error.message}`;
  return error;
}
