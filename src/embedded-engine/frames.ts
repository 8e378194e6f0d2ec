/**
 * The frames between a worker and the engine, decoded as strictly as in the production engine: it decodes
 * each frame as a whole, so one bad field, one unpaired surrogate or one level of nesting too many loses all
 * of it.
 */

import { minSliced } from "../base/scheduling/parse-json.ts";
import { createTimeSlice, runAtOnce, runInSlices, type Steps } from "../base/scheduling/time-slice.ts";
import { scanInSteps } from "./json-scan.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The text of a large value that is forwarded as it is written. */
export class WrittenJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Returns the value, in one step. */
  parse(): Json {
    return JSON.parse(this.text);
  }
}

/** The payload or the result of a call. */
export type Payload = Json | WrittenJson;

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
  /** Whether it is a payload, which stays text if it is large. */
  readonly isPayload?: boolean;
}

function required<Value>(decode: (value: Json) => Value | undefined): Field<Value, true> {
  return { required: true, decode };
}

function optional<Value>(decode: (value: Json) => Value | undefined): Field<Value, false> {
  return { required: false, decode };
}

const payload: Field<Payload, true> = { required: true, decode: (value) => value, isPayload: true };
const optionalPayload: Field<Payload, false> = { ...payload, required: false };

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
    data: payload,
    traceparent: optional(text),
    baggage: optional(text),
    action: optional(decodeAction),
    metadata: optionalPayload,
    namespace: optional(text),
  },
  invocationresult: {
    invocation_id: required(uuid),
    function_id: required(text),
    result: optionalPayload,
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
 * Parses one text frame of well-formed UTF-16. Unknown fields are ignored, and null in an optional field
 * means absent. Never throws. Numbers become JavaScript's, except in large payloads: an integer beyond 2^53
 * loses digits here and not in the production engine.
 */
export const parseFrame = (frameText: string): Decoded => runAtOnce(parse(frameText));

/** Returns whether a text frame, or its bytes, is large, to be handled in slices. */
export const isLargeFrame = ({ length }: string | Buffer): boolean => length >= minSliced;

/** Parses a large frame like `parseFrame`, in time slices. */
export const parseLargeFrame = (frameText: string): Promise<Decoded> =>
  runInSlices(parse(frameText), createTimeSlice());

/** Minimum length of a value that stays text if it can. */
const minText = 4096;

function* parse(frameText: string): Steps<Decoded> {
  const { members, fault } = yield* scanInSteps(frameText);
  if (members === undefined) return { fault };
  const textOf = (name: string): string | undefined => {
    const place = members.get(name);
    return place && frameText.slice(place.from, place.to);
  };
  const type = textIn(textOf("type") ?? "");
  if (typeof type !== "string" || !Object.hasOwn(shapes, type)) return { fault: "unknown type" };
  return decodeFrame(type as keyof Shapes, textOf);
}

function decodeFrame(type: keyof Shapes, textOf: (name: string) => string | undefined): Decoded {
  const frame: Record<string, unknown> = { type };
  const shape: Record<string, Field<unknown, boolean>> = shapes[type];
  for (const [name, field] of Object.entries(shape)) {
    const written = textOf(name);
    if (written === undefined && field.required) return { fault: `${type} without ${name}` };
    if (written === undefined || (written === "null" && !field.required)) continue;
    const kept = field.isPayload ? payloadIn(written) : valueIn(field, written);
    if (kept === undefined) return { fault: `${type} with a malformed ${name}` };
    frame[name] = kept;
  }
  return { frame: frame as Frame };
}

const payloadIn = (written: string): Payload =>
  written.length < minText ? JSON.parse(written) : new WrittenJson(written);

/** Maximum length of a field other than a payload. It is parsed in one step. */
const maxLength = 1024 * 1024;

/** Returns a text, or `undefined` for another value, which is not parsed. */
const textIn = (written: string): string | undefined =>
  written.startsWith('"') ? JSON.parse(written) : undefined;

/** Returns the value of a field other than a payload, or `undefined` to refuse it. */
function valueIn({ decode }: Field<unknown, boolean>, written: string): unknown {
  if (decode === text) return textIn(written);
  if (written.length <= maxLength) return decode(JSON.parse(written));
  // Its caller would get no answer.
  return decode === decodeError ? { code: "invocation_error", message: "the error is too long" } : undefined;
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

/**
 * Renders a frame like the engine does: its own fields in their order, the keys of all values sorted, except
 * in large payloads.
 */
export function renderFrame(frame: Frame): string {
  let members = "";
  // A concatenation copies no large payload before it is read; `join` would.
  for (const [name, value] of Object.entries(frame as Record<string, Payload | undefined>))
    if (value !== undefined)
      members += `${members === "" ? "" : ","}${JSON.stringify(name)}:${renderValue(value)}`;
  return `{${members}}`;
}

const renderValue = (value: Payload): string =>
  value instanceof WrittenJson ? value.text : JSON.stringify(sortFrameKeys(value));

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
export function isRecord(value: Payload | undefined): value is Record<string, Json> {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof WrittenJson)
  );
}
