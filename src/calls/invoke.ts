/**
 * Runs every call: validates, handles, maps errors, logs. The bus, the command line and tests call functions
 * through this file, and nothing else catches an error to turn it into an answer.
 */

import { type Author, renderAuthor } from "../base/author.ts";
import { Refusal, refuse, shortages } from "../base/errors.ts";
import type { Log } from "../base/log/log.ts";
import { deadlineIn, unlessOver } from "../base/scheduling/deadline.ts";
import {
  beginAtOnce,
  createTimeSlice,
  createTurnSlice,
  type Steps,
  type TimeSlice,
} from "../base/scheduling/time-slice.ts";
import { maxAnswerBytes } from "../base/schema/message-size.ts";
import { Mismatch, validateInSteps } from "../base/schema/validate.ts";
import { measureJson } from "../text/sizes/json-size.ts";
import { measureMemory } from "../text/sizes/memory-size.ts";
import { Admission } from "./admission.ts";
import { type CallStatus, statusOf } from "./contract/call-status.ts";
import type {
  Context,
  FunctionDefinition,
  HandledCall,
  RequestRules,
  Services,
  WireError,
} from "./contract/definition.ts";
import { maxGrants, scopeIn } from "./contract/fs-scope.ts";
import type { AnswerLease, OrderedCall, Origin, Reach } from "./contract/origin.ts";
import { Measured, WrittenAnswer } from "./contract/prepared-answer.ts";
import { bringsLinks, touchesOf } from "./contract/request-paths.ts";
import { UnreadPayload } from "./contract/unread-payload.ts";
import { reworded } from "./contract/wording.ts";
import { isHttpRequest } from "./http-request.ts";
import { refuseField } from "./requests/field-errors.ts";
import { isOfWindows, readMistakenPath } from "./requests/mistaken-paths.ts";
import { type ReadPayload, readPayloadInSteps } from "./requests/read-request.ts";
import { requireFit } from "./requests/require-fit.ts";
import { declaresLiteral, makesAt, requireUsual, takesLiteral } from "./requests/require-usual.ts";
import { RunningCalls } from "./running-calls.ts";

/** The answer of a call and its size as JSON; or the one-line error and its code. */
export type CallOutcome = (
  | { readonly answer: unknown; readonly bytes: number }
  | { readonly error: string; readonly code: string | undefined }
) & {
  /** Whether it was carried out, for telemetry. */
  readonly status: CallStatus;
  /** The payload as the function reads it, if that may differ from what was sent. */
  readonly read?: ReadPayload | undefined;
};

/** Calls functions with one set of services. */
export type Invoke = (
  definition: FunctionDefinition,
  payload: unknown,
  origin?: Origin,
) => Promise<CallOutcome>;

/**
 * The milliseconds after its deadline until a waiting call is abandoned. It should have stopped by itself.
 */
const graceMilliseconds = 1000;

/** Called when a function begins its work, with its request. */
export type OnEnter = (functionId: string, request: unknown) => void;

export interface InvokeOptions {
  readonly onEnter?: OnEnter;
  /** Counts the calls until their work has ended, and ends them when the worker stops. */
  readonly running?: RunningCalls;
}

/**
 * Creates an `Invoke` over `all`, the services of one worker, that logs each call to `log`. It never throws.
 */
export function createInvoke(
  all: Services,
  log: Log,
  { onEnter = () => {}, running = new RunningCalls() }: InvokeOptions = {},
): Invoke {
  const admission = new Admission();
  const beginning = createTurnSlice();
  const invoke: Invoke = async (definition, payload, origin = {}) => {
    const services = all.familyOf?.(definition) ?? all;
    const { cancelled, caller, session, bus, began, showsImages, onOutput, onFiles, sentence, promptUser } =
      origin;
    const { account, lease, ordered } = origin;
    const { author = caller === undefined ? undefined : { worker: caller } } = origin;
    const { maxAnswerBytes: requested = maxAnswerBytes } = origin;
    const started = performance.now();
    const slice = createTimeSlice();
    const deadline = deadlineIn(services.callMilliseconds, cancelled, { start: started, stop: running });
    const context: Context = {
      ...services,
      functionId: definition.id,
      call: {},
      deadline,
      maxAnswerBytes: Math.min(requested, services.maxAnswerBytes ?? maxAnswerBytes, maxAnswerBytes),
      caller,
      author,
      bus,
      began,
      showsImages,
      onOutput,
      onFiles,
      promptUser,
      sentence: services.usesTransportNames ? sentence : undefined,
      attempt: async (entry) => {
        if (slice.isDue) await slice.yieldIfDue();
        try {
          deadline.check();
          return { value: await entry() };
        } catch (error) {
          return { error: renderError(error, scope) };
        }
      },
    };
    const call = { definition, payload, read: undefined, request: undefined, context };
    const queue = caller ?? session;
    const shared = { log, onEnter, admission, running, beginning };
    const scope: CallScope = { ...call, ...shared, lease, ordered, cancelled, queue, account };
    const outcome = await runAdmitted(scope);
    deadline.end();
    const milliseconds = performance.now() - started;
    const status = statusOf(outcome);
    services.onFinished?.({ definition, request: scope.request, context, status, milliseconds });
    logCall(log, { id: definition.id, author, outcome, status, milliseconds });
    const { read } = scope;
    if ("error" in outcome) return { error: outcome.error.text, code: status.code, status, read };
    return Object.assign(outcome, read === undefined ? { status } : { status, read });
  };
  return (...call) => running.add(invoke(...call));
}

interface CallScope {
  readonly definition: FunctionDefinition;
  readonly payload: unknown;
  /** The payload with the names and types of the function, if the profile accepts others. */
  read: ReadRequest | undefined;
  /** The request that the payload was parsed to. */
  request: unknown;
  /** The services of the call, which are replaced if the call is limited. */
  context: Context;
  readonly log: Log;
  readonly lease: AnswerLease | undefined;
  readonly ordered: OrderedCall | undefined;
  readonly cancelled: AbortSignal | undefined;
  readonly onEnter: OnEnter;
  readonly admission: Admission;
  readonly running: RunningCalls;
  /** The slice of calls that begin in one turn: thousands may come together, or wait for the same call. */
  readonly beginning: TimeSlice;
  /** The key of admission. Calls with one key wait for each other, but not for those with another. */
  readonly queue: string | undefined;
  /** The account of the caller's quotas, if that is not its id. */
  readonly account: string | undefined;
}

/** A payload after the corrections of names and types. */
interface ReadRequest extends ReadPayload {
  /** The payload as the schema of the function describes it, if that has been checked. */
  readonly validated?: unknown;
}

/** Runs a call if its caller's quotas admit it, and its request has room. */
async function runAdmitted(scope: CallScope): Promise<HandledCall> {
  const { context, admission, payload, queue, account } = scope;
  try {
    const measured = beginAtOnce(measureMemory(payload));
    const bytes = measured instanceof Promise ? await measured : measured;
    using _request = admission.hold(queue, bytes);
    const admitted = context.quotas?.admit(account ?? context.caller);
    const outcome = await runCall(scope);
    admitted?.end("error" in outcome ? Buffer.byteLength(outcome.error.text) : outcome.bytes);
    return outcome;
  } catch (error) {
    return { error: renderError(error, scope) };
  }
}

async function runCall(scope: CallScope): Promise<HandledCall> {
  const { definition, lease, beginning } = scope;
  try {
    if (beginning.isDue) await beginning.yieldIfDue();
    const reading = beginAtOnce(readRequest(scope));
    const request = reading instanceof Promise ? await reading : reading;
    const narrowed = scope.context.narrow?.({ definition, payload: payloadRead(scope), request });
    if (narrowed !== undefined) scope.context = { ...scope.context, ...narrowed };
    const { context } = scope;
    const earlier = scope.ordered && waitForEarlier(scope.ordered, scope, context);
    if (earlier !== undefined) {
      await earlier;
      if (beginning.isDue) await beginning.yieldIfDue();
    }
    scope.onEnter(definition.id, request);
    const isLong = definition.isLong || definition.walksTree?.(request) === true;
    using _turn = isLong ? await startLong(scope) : undefined;
    const room = lease && reserveAnswer(lease, { definition, request, context, isLong });
    if (room !== undefined) {
      await room;
      scope.onEnter(definition.id, request);
    }
    const prepared = definition.effect === "writes" ? context.prepareWriting?.() : undefined;
    if (prepared !== undefined) {
      await unlessOver(scope.running.add(prepared), context.deadline);
      context.deadline.check();
    } else if (scope.running.signal.aborted) context.deadline.check();
    const work = definition.handle(request, context);
    const handled = work instanceof Promise ? await inTime(work, scope) : work;
    const isMeasured = handled instanceof Measured || handled instanceof WrittenAnswer;
    const outcome = isMeasured ? handled : new Measured(handled, await beginAtOnce(measureJson(handled)));
    if (outcome.bytes > context.maxAnswerBytes)
      throw refuse.answerTooLarge(outcome.bytes, context.maxAnswerBytes, definition.effect);
    lease?.resize(outcome.bytes);
    return outcome;
  } catch (error) {
    const isMisread =
      error instanceof Refusal && definition.parse === undefined && isHttpRequest(scope.payload);
    const rendered = renderError(isMisread ? refuse.httpRequest() : error, scope);
    lease?.resize(Buffer.byteLength(rendered.text));
    return { error: rendered };
  }
}

/** Waits for earlier calls of the session, if necessary. The time of the call begins afterwards. */
function waitForEarlier(
  ordered: OrderedCall,
  { definition, request, cancelled }: CallScope,
  context: Context,
): Promise<void> | undefined {
  const dependenciesOf = (path: string) => context.dependenciesOf?.(path) ?? [path];
  const reach: Reach = {
    writes: definition.effect === "writes",
    bringsLinks: bringsLinks(definition, request),
    touches: ({ resolves }) => touchesOf(definition, request, resolves ? dependenciesOf : undefined),
  };
  const earlier = ordered.enter(reach, cancelled);
  return earlier?.then(
    () => context.deadline.restart(),
    () => {
      throw refuse.cancelled();
    },
  );
}

/** Waits for the turn of a long call. */
async function startLong({
  definition,
  request,
  context,
  admission,
  onEnter,
  queue,
}: CallScope): Promise<Disposable> {
  const turn = admission.start(queue, context.deadline);
  if (!(turn instanceof Promise)) return turn;
  const begun = await turn;
  onEnter(definition.id, request);
  return begun;
}

/** The estimate for a function without one of its own: small, and corrected when the answer exists. */
const defaultAnswerBytes = 4096;

interface AnswerToCome extends Pick<CallScope, "definition" | "request" | "context"> {
  readonly isLong: boolean;
}

/** Reserves the bytes of an answer: at once (`undefined`), or when the promise resolves. */
function reserveAnswer(
  lease: AnswerLease,
  { definition, request, context, isLong }: AnswerToCome,
): Promise<void> | undefined {
  const { maxAnswerBytes: most, deadline } = context;
  if (definition.answerBytes === undefined)
    return lease.reserve(Math.min(defaultAnswerBytes, most), deadline);
  // A long call would hold the maximum for as long as it runs.
  if (!isLong && lease.reserveIfIdle(most)) return undefined;
  return lease.reserve(Math.min(definition.answerBytes(request, context), most), deadline);
}

/** Returns whether fields that a function does not have are refused, or listed beside the answer. */
export const readsUnknownFields = (rules: RequestRules | undefined): rules is RequestRules =>
  rules !== undefined && (rules.isForgiving || rules.unknownFields === "refuse");

/**
 * Returns the request of a call, in steps, since it may have thousands of entries. Notes the payload as it is
 * read by the rules of the configuration. Throws their refusals, and those of the function.
 */
function* readRequest(scope: CallScope): Steps<unknown> {
  const { definition, payload, context } = scope;
  const { requestRules: rules } = context;
  if (payload instanceof UnreadPayload) throw payload.refusal;
  requireFewGrants(payload);
  if (readsUnknownFields(rules)) {
    const read = yield* readPayloadInSteps(definition, payload, rules);
    scope.read = rules.isForgiving ? { ...read, validated: yield* requireFit(definition, read) } : read;
    if (read.inferred !== undefined) scope.context = { ...context, inferred: read.inferred };
  }
  scope.request = yield* parseRequest(scope);
  if (rules?.isForgiving) yield* requireUsual(definition, scope.request, rules.places, scope.read?.sentAs);
  return scope.request;
}

/** Refuses a scope with too many grants before they are read. */
function requireFewGrants(payload: unknown): void {
  const { grants } = (scopeIn(payload) ?? {}) as { readonly grants?: unknown };
  if (Array.isArray(grants) && grants.length > maxGrants)
    throw refuseField.manyGrants(grants.length, maxGrants);
}

/** Returns the payload with the names and types of the function. */
const payloadRead = ({ payload, read }: CallScope): unknown => (read === undefined ? payload : read.payload);

function* parseRequest(scope: CallScope): Steps<unknown> {
  const { definition, read, context } = scope;
  const payload = payloadRead(scope);
  if (definition.parse !== undefined) return yield* definition.parse(payload);
  const normal = definition.normalize === undefined ? payload : yield* definition.normalize(payload, context);
  if (read?.validated !== undefined && normal === payload) return read.validated;
  try {
    return yield* validateInSteps(definition.request, normal, { unknownKeys: "ignore" });
  } catch (error) {
    if (error instanceof Mismatch) throw refuse.badPayload(error.field, error.problem);
    throw error;
  }
}

/**
 * Awaits `work`, or throws the timeout refusal if it is still pending a second after the deadline. It then
 * counts as running until it has ended.
 */
async function inTime(
  work: Promise<unknown>,
  { definition, context: { deadline }, running }: CallScope,
): Promise<unknown> {
  const tooLate = definition.effect === "writes" ? refuse.lateWrite : refuse.timeout;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const rest = () => {
      // A call that waits for a person has no end of its time, which starts over afterwards.
      timer = setTimeout(check, Math.min(deadline.left, deadline.milliseconds) + graceMilliseconds);
    };
    const check = () => {
      if (deadline.left > 0) return rest();
      void running.add(work).catch(() => {});
      reject(tooLate(deadline.milliseconds));
    };
    rest();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Renders the error for the wire, with the caller's names of functions. */
function renderError(error: unknown, scope: CallScope): WireError {
  const rendered = renderAnyError(error, scope);
  const { sentence } = scope.context;
  if (sentence === undefined) return rendered;
  const { text, code, isProse } = rendered;
  if (isProse) return { ...rendered, text: sentence(text) };
  return { text: JSON.stringify(reworded(JSON.parse(text), sentence)), code };
}

/** Renders the error. An unexpected one is logged in full and answered with a neutral sentence. */
function renderAnyError(error: unknown, scope: CallScope): WireError {
  const { definition, context, log } = scope;
  const rendered = context.renderError(mistakeOf(error, scope) ?? error, {
    functionId: definition.id,
    makes: (path) => makesAt(definition, scope.request, path),
  });
  if (rendered !== undefined) return rendered;
  log.error("unexpected failure", {
    function: definition.id,
    failure: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  const shortage = shortages[(error as NodeJS.ErrnoException | undefined)?.code ?? ""];
  const refusal = shortage === undefined ? refuse.unexpected() : refuse.shortage(shortage);
  return context.renderError(refusal) ?? { text: refusal.message, code: undefined, isProse: true };
}

/**
 * Returns the refusal of a path in the form of another program, if nothing exists under that name and the
 * request does not declare it literal, and of an empty one. It depends on the text of the path alone, so that
 * a denied path is indistinguishable from a missing one.
 */
function mistakeOf(error: unknown, { definition, request, context }: CallScope): Refusal | undefined {
  if (!(error instanceof Refusal) || !context.requestRules?.isForgiving) return undefined;
  const empty = refuse.emptyPath().message;
  if (definition.effect === "writes" && error.message.endsWith(empty))
    return refuseField.emptyPath(error, empty);
  if (error.path === undefined) return undefined;
  const { reason, path } = error;
  const isAbsent = ["missing", "denied", "denied-by-rule"].includes(reason);
  if (!isAbsent && error.message !== refuse.relativePath(path).message) return undefined;
  const mistake = readMistakenPath(path, context.requestRules.places);
  if (mistake === undefined) return undefined;
  const mayBeLiteral = takesLiteral(definition) && !isOfWindows(path);
  if (mayBeLiteral && declaresLiteral(request)) return undefined;
  const refusal = refuseField.mistakenPath(path, { ...mistake, mayBeLiteral });
  return refuseField.insteadOf(error, refusal);
}

interface LoggedCall {
  readonly id: string;
  readonly author: Author | undefined;
  readonly outcome: HandledCall;
  readonly status: CallStatus;
  readonly milliseconds: number;
}

function logCall(log: Log, { id, author, outcome, status, milliseconds }: LoggedCall): void {
  log.info("call", {
    function: id,
    ...status,
    ms: Math.round(milliseconds * 1000) / 1000,
    bytes: "error" in outcome ? Buffer.byteLength(outcome.error.text) : outcome.bytes,
    author: author && renderAuthor(author),
  });
}
