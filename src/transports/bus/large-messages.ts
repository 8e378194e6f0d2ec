/**
 * Large messages of the engine, parsed in time slices. The SDK would parse each at once, and cannot stop its
 * sender.
 */
import {
  maxKeys,
  minSliced,
  parseInSlices,
  TooManyKeys,
  TooManyTokens,
} from "../../base/scheduling/parse-json.ts";
import { refuseAdmission, refuseUnread } from "../../calls/admission-errors.ts";
import { UnreadPayload } from "../../calls/contract/unread-payload.ts";

/** A message of the engine as the SDK would parse it, or its head with an `UnreadPayload`. */
export type EngineMessage = Readonly<Record<string, unknown>>;

/** Maximum bytes of messages that are being parsed or wait for it. Others are refused unread. */
const maxUnparsed = 256 * 1024 * 1024;

export class LargeMessages {
  readonly #maxTokens: () => number;
  readonly #underWay = new Set<Promise<void>>();
  #unparsed = 0;

  /** Creates the parser of one connection. `maxTokens` returns the limit of `parseInSlices`. */
  constructor(maxTokens: () => number) {
    this.#maxTokens = maxTokens;
  }

  /** Returns whether to parse a message here. */
  takes({ length }: { readonly length: number }): boolean {
    return length >= minSliced;
  }

  /**
   * Parses a message, and passes it on. The payload of a refused call is an `UnreadPayload`. Passes nothing
   * on for what is not JSON.
   */
  receive(message: { readonly length: number }, pass: (frame: EngineMessage) => void): void {
    const received = this.#parse(message)
      .then((frame) => frame && pass(frame))
      .finally(() => this.#underWay.delete(received));
    this.#underWay.add(received);
  }

  /** Resolves when all messages so far are passed on. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #parse(message: { readonly length: number }): Promise<EngineMessage | undefined> {
    const bytes = Buffer.isBuffer(message) ? message : Buffer.from(String(message));
    const head = headOf(bytes);
    if (head !== undefined && this.#unparsed + bytes.length > maxUnparsed)
      return refused(head, refuseAdmission.manyRequestBytes(maxUnparsed));
    const maxTokens = head?.type === "invokefunction" ? this.#maxTokens() : undefined;
    this.#unparsed += bytes.length;
    try {
      return (await parseInSlices(bytes, maxTokens)) as EngineMessage;
    } catch (error) {
      if (head === undefined) return undefined;
      if (error instanceof TooManyTokens) return refused(head, refuseUnread.manyTokens(maxTokens!));
      return error instanceof TooManyKeys ? refused(head, refuseUnread.manyKeys(maxKeys)) : undefined;
    } finally {
      this.#unparsed -= bytes.length;
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
function headOf(bytes: Buffer): Head | undefined {
  const [, type, invocation_id, function_id] = headPattern.exec(bytes.toString("utf8", 0, 1024)) ?? [];
  return type === undefined ? undefined : { type, invocation_id, function_id };
}

/** Returns the call with an `UnreadPayload`, or the result as an error. */
const refused = (head: Head, refusal: Error): EngineMessage =>
  head.type === "invokefunction"
    ? { ...head, data: new UnreadPayload(refusal) }
    : { ...head, error: { code: "unread", message: refusal.message } };
