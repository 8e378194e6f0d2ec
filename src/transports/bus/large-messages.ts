/**
 * Large messages of the engine, parsed in time slices. The SDK would parse each at once, and cannot stop its
 * sender.
 */
import { setImmediate } from "node:timers/promises";
import {
  maxKeys,
  minSliced,
  parseInSlices,
  TooManyKeys,
  TooManyTokens,
  UnreadableJson,
} from "../../base/scheduling/parse-json.ts";
import { refuseAdmission, refuseUnread } from "../../calls/admission-errors.ts";
import { UnreadPayload } from "../../calls/contract/unread-payload.ts";

/** A message of the engine as the SDK would parse it, or its head with an `UnreadPayload`. */
export type EngineMessage = Readonly<Record<string, unknown>>;

/** Maximum bytes of messages that are being parsed or wait for it. Others are refused unread. */
const maxUnparsed = 256 * 1024 * 1024;

export class LargeMessages {
  readonly #maxTokens: () => number;
  readonly #pass: (frame: EngineMessage) => void;
  readonly #underWay = new Set<Promise<void>>();
  #unparsed = 0;

  /**
   * Creates the parser of one connection, which calls `pass` with each message. `maxTokens` returns the limit
   * of `parseInSlices`.
   */
  constructor(maxTokens: () => number, pass: (frame: EngineMessage) => void) {
    this.#maxTokens = maxTokens;
    this.#pass = pass;
  }

  /** Returns whether to parse a message here. */
  takes({ length }: { readonly length: number }): boolean {
    return length >= minSliced;
  }

  /**
   * Parses a message, and passes it on. The payload of a refused call is an `UnreadPayload`. Passes nothing
   * on for what is not JSON.
   */
  receive(message: { readonly length: number }): void {
    const received = this.#parse(Buffer.isBuffer(message) ? message : String(message))
      .then((frame) => frame && this.#pass(frame))
      .finally(() => this.#underWay.delete(received));
    this.#underWay.add(received);
  }

  /** Resolves when all messages so far are passed on. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #parse(message: Buffer | string): Promise<EngineMessage | undefined> {
    const bytes = Buffer.byteLength(message);
    const head = headOf(message);
    if (head !== undefined && this.#unparsed + bytes > maxUnparsed)
      return refused(head, refuseAdmission.manyRequestBytes(maxUnparsed));
    const maxTokens = head?.type === "invokefunction" ? this.#maxTokens() : undefined;
    this.#unparsed += bytes;
    try {
      // The turn that received it has lasted long enough.
      await setImmediate();
      return (await parseInSlices(message, maxTokens)) as EngineMessage;
    } catch (error) {
      if (head === undefined) return undefined;
      if (error instanceof TooManyTokens) return refused(head, refuseUnread.manyTokens(maxTokens!));
      if (error instanceof UnreadableJson) return refused(head, refuseUnread.unreadable(error));
      return error instanceof TooManyKeys ? refused(head, refuseUnread.manyKeys(maxKeys)) : undefined;
    } finally {
      this.#unparsed -= bytes;
    }
  }
}

/** The first fields of a call or a result, in the order of the engines. */
interface Head {
  readonly type: string;
  readonly invocation_id: string | undefined;
  readonly function_id: string | undefined;
}

const headPattern =
  /^\{"type":"(invokefunction|invocationresult)",(?:"invocation_id":"([\da-f-]{36})",)?(?:"function_id":"([^"\\]{1,512})",)?/;

/** Returns the beginning of a call or a result; `undefined` for any other message. */
function headOf(message: Buffer | string): Head | undefined {
  const beginning = typeof message === "string" ? message.slice(0, 1024) : message.toString("utf8", 0, 1024);
  const [, type, invocation_id, function_id] = headPattern.exec(beginning) ?? [];
  return type === undefined ? undefined : { type, invocation_id, function_id };
}

/** Returns the call with an `UnreadPayload`, or the result as an error. */
const refused = (head: Head, refusal: Error): EngineMessage =>
  head.type === "invokefunction"
    ? { ...head, data: new UnreadPayload(refusal) }
    : { ...head, error: { code: "unread", message: refusal.message } };
