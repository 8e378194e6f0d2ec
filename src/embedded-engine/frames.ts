/**
 * The frames between a worker and the engine, decoded as strictly as in the production engine: it decodes
 * each frame as a whole, so one bad field, one unpaired surrogate or one level of nesting too many loses all
 * of it.
 */

import { parseInSlices, shouldSlice } from "../base/scheduling/parse-json.ts";
import { createTimeSlice } from "../base/scheduling/time-slice.ts";
import { CanonicalJson, endOfCanonical, maxDepth } from "./canonical-json.ts";
import { hasDuplicateKey } from "./top-level-keys.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The error of a failed call, as frames carry it. */
export interface FrameError {
  code: string;
  message: string;
  stacktrace?: string | undefined;
}

/** The routing of a call: `void` expects no answer, `enqueue` a queue. */
export type Action = { type: "void" } | { type: "enqueue"; queue: string };

interface Field<Value, Required extends boolean> {
  readonly required: Required;
  /** Returns the value to keep, or `undefined` to refuse it. */
  readonly decode: (value: Json) => Value | undefined;
}

function required<Value>(decode: (value: Json) => Value | undefined): Field<Value, true> {
  return { required: true, decode };
}

function optional<Value>(decode: (value: Json) => Value | undefined): Field<Value, false> {
  return { required: false, decode };
}

const json = (value: Json): Json => value;
const text = (value: Json): string | undefined => (typeof value === "string" ? value : undefined);
const uuid = (value: Json): string | undefined => (typeof value === "string" ? parseUuid(value) : undefined);

/** Returns a UUID in its usual form. It may come without hyphens, in braces or as a URN. */
function parseUuid(raw: string): string | undefined {
  const bare = /^\{(.*)\}$/.exec(raw)?.[1] ?? raw.replace(/^urn:uuid:/, "");
  const groups = /^([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})$/i.exec(bare);
  if (groups === null) return undefined;
  const [, first, , ...rest] = groups;
  return [first, ...rest].join("-").toLowerCase();
}

/** The fields in the order in which the engine writes them. It drops all others. */
const shapes = {
  registerfunction: {
    id: required(text),
    description: optional(text),
    request_format: optional(json),
    response_format: optional(json),
    metadata: optional(json),
  },
  unregisterfunction: { id: required(text) },
  registertriggertype: { id: required(text), description: required(text) },
  registertrigger: {
    id: required(text),
    trigger_type: required(text),
    function_id: required(text),
    config: required(json),
    metadata: optional(json),
    namespace: optional(text),
  },
  unregistertrigger: { id: required(text), trigger_type: optional(text) },
  triggerregistrationresult: {
    id: required(text),
    trigger_type: required(text),
    function_id: required(text),
    error: optional(decodeError),
  },
  invokefunction: {
    invocation_id: optional(uuid),
    function_id: required(text),
    data: required(json),
    traceparent: optional(text),
    baggage: optional(text),
    action: optional(decodeAction),
    metadata: optional(json),
    namespace: optional(text),
  },
  invocationresult: {
    invocation_id: required(uuid),
    function_id: required(text),
    result: optional<Json | CanonicalJson>(json),
    error: optional(decodeError),
    traceparent: optional(text),
    baggage: optional(text),
  },
  reattach: { previous_worker_id: required(text), reattach_token: optional(text) },
  workerregistered: { worker_id: required(text), reattach_token: optional(text) },
  registrationrejected: {
    code: required(text),
    namespace: required(text),
    worker_name: optional(text),
    function_id: optional(text),
    owner_worker_id: required(text),
  },
  ping: {},
  pong: {},
} as const;

type Shapes = typeof shapes;
type Body<Shape> = {
  -readonly [K in keyof Shape as Shape[K] extends Field<unknown, true> ? K : never]: ValueOf<Shape[K]>;
} & {
  -readonly [K in keyof Shape as Shape[K] extends Field<unknown, false> ? K : never]?:
    | ValueOf<Shape[K]>
    | undefined;
};
type ValueOf<F> = F extends Field<infer Value, boolean> ? Value : never;

/** A frame of one type, by the name it has on the wire. */
export type FrameOf<Type extends keyof Shapes> = { type: Type } & Body<Shapes[Type]>;
export type Frame = { [Type in keyof Shapes]: FrameOf<Type> }[keyof Shapes];

/** The result of decoding a text frame: the frame, or the reason why it is dropped as a whole. */
export type Decoded = { frame: Frame; fault?: never } | { frame?: never; fault: string };

/**
 * Parses one text frame. Unknown fields are ignored, and null in an optional field means absent. Never
 * throws. Numbers become JavaScript's: an integer beyond 2^53 loses digits here and not in the production
 * engine.
 */
export function parseFrame(frameText: string): Decoded {
  return parseAround(frameText) ?? parseWhole(frameText);
}

/** Returns whether a text frame is a large call, as SDKs write it, to be parsed in slices. */
export const isLargeCall = (frameText: string): boolean =>
  shouldSlice(frameText.length) && frameText.startsWith('{"type":"invokefunction"');

/** Parses a large call like `parseFrame`, in time slices. It is checked in one turn of the event loop. */
export async function parseLargeCall(frameText: string): Promise<Decoded> {
  const slice = createTimeSlice();
  try {
    const value = (await parseInSlices(Buffer.from(frameText))) as Json;
    await slice.yieldIfDue();
    return decodeWhole(frameText, value);
  } catch {
    return { fault: "not JSON" };
  } finally {
    await slice.yieldIfDue();
  }
}

function parseWhole(frameText: string): Decoded {
  let value: Json;
  try {
    value = JSON.parse(frameText);
  } catch {
    return { fault: "not JSON" };
  }
  return decodeWhole(frameText, value);
}

function decodeWhole(frameText: string, value: Json): Decoded {
  const fault = faultOf(value, 1);
  if (fault !== undefined) return { fault };
  if (!isRecord(value)) return { fault: "not an object" };
  if (hasDuplicateKey(frameText)) return { fault: "a key twice" };
  return decodeFrame(value);
}

/**
 * Minimum length of a frame to try as canonical. A shorter one is parsed in the time that the attempt takes.
 */
const minCanonical = 4096;
const resultKey = ',"result":';

/**
 * Parses the frame of a large canonical result, which stays text. Returns `undefined` for any other frame.
 */
function parseAround(frameText: string): Decoded | undefined {
  if (frameText.length < minCanonical || !frameText.isWellFormed()) return undefined;
  const at = frameText.indexOf(resultKey);
  const head = frameText.slice(0, Math.max(0, at));
  // Past this point it is a key of the frame itself: in a string, its quotes would be escaped.
  if (head.lastIndexOf("{") !== 0 || head.includes("[")) return undefined;
  const from = at + resultKey.length;
  const end = frameText[from] === "{" ? endOfCanonical(frameText, from, 2) : -1;
  if (end < 0) return undefined;
  const { frame } = parseWhole(`${head}${resultKey}0${frameText.slice(end)}`);
  if (frame?.type !== "invocationresult") return undefined;
  return { frame: { ...frame, result: new CanonicalJson(frameText.slice(from, end)) } };
}

function decodeFrame(value: Record<string, Json>): Decoded {
  const type = value["type"];
  if (typeof type !== "string" || !Object.hasOwn(shapes, type)) return { fault: "unknown type" };
  const shape: Record<string, Field<unknown, boolean>> = shapes[type as keyof Shapes];
  const frame: Record<string, unknown> = { type };
  for (const [name, field] of Object.entries(shape)) {
    const raw = value[name];
    if (raw === undefined && field.required) return { fault: `${type} without ${name}` };
    if (raw === undefined || (raw === null && !field.required)) continue;
    const kept = field.decode(raw);
    if (kept === undefined) return { fault: `${type} with a malformed ${name}` };
    frame[name] = kept;
  }
  return { frame: frame as Frame };
}

function decodeError(value: Json): FrameError | undefined {
  if (!isRecord(value)) return undefined;
  const { code, message, stacktrace = null } = value;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  if (stacktrace === null) return { code, message };
  return typeof stacktrace === "string" ? { code, message, stacktrace } : undefined;
}

function decodeAction(value: Json): Action | undefined {
  if (!isRecord(value)) return undefined;
  if (value["type"] === "void") return { type: "void" };
  const { type, queue } = value;
  return type === "enqueue" && typeof queue === "string" ? { type, queue } : undefined;
}

function faultOf(value: Json, depth: number): string | undefined {
  if (typeof value === "string") return value.isWellFormed() ? undefined : "an unpaired surrogate";
  if (typeof value === "number") return Number.isFinite(value) ? undefined : "a number out of range";
  if (value === null || typeof value !== "object") return undefined;
  if (depth > maxDepth) return `nested deeper than ${maxDepth} levels`;
  if (Array.isArray(value)) return firstFault(value, depth + 1);
  // This avoids lists of the keys and values, because nearly all objects are nodes of large answers.
  for (const key in value) {
    if (!key.isWellFormed()) return "an unpaired surrogate";
    const fault = faultOf((value as Record<string, Json>)[key]!, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function firstFault(values: Json[], depth: number): string | undefined {
  for (const value of values) {
    const fault = faultOf(value, depth);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Renders a frame like the engine does: its own fields in their order, the keys of all values sorted. */
export function renderFrame(frame: Frame): string {
  const fields = Object.entries(frame as Record<string, Json | CanonicalJson | undefined>);
  const members = fields.flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${renderValue(value)}`],
  );
  return `{${members.join(",")}}`;
}

const renderValue = (value: Json | CanonicalJson): string =>
  value instanceof CanonicalJson ? value.text : JSON.stringify(sortFrameKeys(value));

/**
 * Copies a value with the keys of every object sorted, at all depths. Keys that are array indices, such as
 * "10", come first and by number, as in any JavaScript object; their alphabetical order would make large
 * answers slow.
 */
export function sortFrameKeys(value: Json): Json {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(sortFrameKeys);
  const sorted: Record<string, Json> = {};
  for (const key of Object.keys(value).sort()) {
    const inside = sortFrameKeys((value as Record<string, Json>)[key]!);
    if (key === "__proto__") Object.defineProperty(sorted, key, { value: inside, ...ordinary });
    else sorted[key] = inside;
  }
  return sorted;
}

/** The attributes of a property `__proto__`, which an assignment would not create. */
const ordinary = { configurable: true, enumerable: true, writable: true } as const;

/** Returns whether a value is a JSON object. */
export function isRecord(value: Json | undefined): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
