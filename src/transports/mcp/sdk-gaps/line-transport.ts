import { isUtf8 } from "node:buffer";
import type { Readable, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { minSliced, parseInSlices, parseJson } from "../../../base/scheduling/parse-json.ts";
import {
  createTimeSlice,
  runInSlices,
  type Steps,
  type TimeSlice,
} from "../../../base/scheduling/time-slice.ts";
import { maxTokens } from "../../../base/schema/message-size.ts";
import { jsonPartsOf } from "../../../text/sizes/json-parts.ts";
import type { Leases } from "../leases.ts";
import {
  badBatch,
  cancelledRequest,
  maxOfBatch,
  notParsed,
  notUtf8,
  type RefusedMessage,
  readMessage,
  repeatedId,
  tooLarge,
} from "../messages.ts";
import { maxMessageBytes } from "../transport.ts";

/**
 * Maximum unsent characters, beyond which it stops reading. The budget of answers keeps them below that,
 * except for many small errors.
 */
const maxUnsent = 96 * 1024 * 1024;

/** Maximum messages that are passed on in one turn of the event loop, at whose end the SDK answers them. */
const maxInTurn = 16;

export interface LineTransportOptions {
  readonly takeLease?: Leases["take"];
  readonly createSlice?: () => TimeSlice;
}

/**
 * The transport of MCP over stdio (MCP 2025-11-25, basic/transports). The SDK's own drops lines that are not
 * messages of JSON-RPC, so their sender waits until its timeout. This one answers them: -32700 for a line
 * that is not JSON, -32600 for one that is not a request.
 *
 * Splits a batch, which servers of revision 2025-03-26 have to accept, and sends each answer on its own line.
 * A single line for all of them would hold the answers in memory until the last one.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  /** Resolves when the transport has closed: by `close`, or after an error of the output. */
  readonly closed: Promise<void>;
  #resolveClosed: () => void = () => {};
  #isClosed = false;
  #isPaused = false;
  /** Whether lines wait to be passed on, in a later slice or after a large one. */
  #isPassing = false;
  /** Resolves when all lines read so far have been passed on. */
  #passing: Promise<void> = Promise.resolve();
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #takeLease: Leases["take"];
  readonly #createSlice: () => TimeSlice;
  /** The ids of the requests that are neither answered nor cancelled. */
  readonly #pending = new Set<RequestId>();
  /** The number of UTF-16 units, or of bytes, written but not yet sent. */
  #unsent = 0;
  /** Resolves when the large messages so far are sent, or handed over to the output if that is stopping. */
  #largeSent: Promise<void> = Promise.resolve();
  #isHandingOver = false;
  /** Ends the wait for the large message that is being sent. */
  #handOver = (): void => {};
  /** Callbacks for when everything has been sent. */
  readonly #waiting = new Set<() => void>();

  /**
   * `input` yields whole lines; a piece without a newline is the excerpt of a line that is too long
   * (`wholeLines`). `takeLease` returns the lease of the answer to a request, which is released after the
   * answer was sent; `createSlice` begins the slices of the lines that arrive together.
   */
  constructor(
    input: Readable,
    output: Writable,
    { takeLease = () => undefined, createSlice = createTimeSlice }: LineTransportOptions = {},
  ) {
    this.#input = input;
    this.#output = output;
    this.#takeLease = takeLease;
    this.#createSlice = createSlice;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  async start(): Promise<void> {
    this.#output.on("error", (error) => this.#fail(error));
    this.#input.on("data", (lines: Buffer) => this.#receive(lines));
  }

  /** Resolves when the message is sent. Rejects when the output fails. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error("The transport is closed.");
    const answered = "method" in message ? undefined : message.id;
    const lease = answered === undefined ? undefined : this.#takeLease(answered);
    if (answered !== undefined) this.#pending.delete(answered);
    try {
      const isLarge = lease !== undefined && lease.bytes >= minInPieces;
      await (isLarge ? this.#sendLarge(message) : this.#write(serializeMessage(message)));
    } finally {
      lease?.release();
    }
  }

  /**
   * Sends a large message, encoded in slices, after the large ones before it. Other messages may overtake it.
   * Whenever the buffer of Bun's standard output grows, it copies everything unsent, which takes 60 ms with
   * 64 MB.
   */
  async #sendLarge(message: JSONRPCMessage): Promise<void> {
    const encoded = this.#largeSent.then(() => runInSlices(encode(message), createTimeSlice()));
    const sent = encoded.then((line) => this.#write(line));
    const handedOver = new Promise<void>((resolve) => {
      const settle = () => {
        if (this.#isHandingOver) resolve();
        else this.#handOver = resolve;
      };
      void encoded.then(settle, settle);
    });
    this.#largeSent = Promise.race([handedOver, sent.catch(() => {})]);
    await sent;
  }

  /** Resolves when the output has all messages so far. */
  async written(): Promise<void> {
    this.#isHandingOver = true;
    this.#handOver();
    await this.#largeSent;
  }

  /** Resolves when everything is sent. */
  ready(): Promise<void> {
    return this.#unsent === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.add(resolve));
  }

  /** Stops reading messages, and continues sending. Resolves when those that were read are passed on. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    this.#input.pause();
    await this.#passing;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    void this.pause();
    this.onclose?.();
    this.#resolveClosed();
  }

  /**
   * Resolves when the text is sent. Stops reading while more than `most` is unsent: requests of a client that
   * reads nothing wait.
   */
  async #write(text: string | Buffer, most = maxUnsent): Promise<void> {
    this.#unsent += text.length;
    try {
      await new Promise<void>((resolve, reject) => {
        // "drain" would not do: Bun emits it even if only a part has been sent.
        const takesMore = this.#output.write(text, (error) => (error ? reject(error) : resolve()));
        if (!takesMore && this.#unsent > most) this.#input.pause();
      });
    } finally {
      this.#unsent -= text.length;
      if (this.#unsent === 0) this.#setReady();
      this.#resume();
    }
  }

  #resume(): void {
    const isBusy = this.#unsent > maxUnsent || this.#isPassing;
    if (!isBusy && !this.#isPaused) this.#input.resume();
  }

  #setReady(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  #receive(lines: Buffer): void {
    if (lines.at(-1) !== 0x0a) void this.#refuse([tooLarge(lines, maxMessageBytes)]);
    else this.#passing = this.#pass(lines);
  }

  /**
   * Passes messages on, and refuses malformed ones, in slices. Reads no further lines between two slices. The
   * clock is checked before each message too, since a line may be a batch of a hundred.
   */
  async #pass(lines: Buffer): Promise<void> {
    const slice = this.#createSlice();
    let refusals: RefusedMessage[] = [];
    const refuse = () => {
      if (refusals.length > 0) void this.#refuse(refusals);
      refusals = [];
    };
    let passed = 0;
    const pause = async () => {
      refuse();
      this.#isPassing = true;
      this.#input.pause();
      if (passed >= maxInTurn) await nextTurn();
      passed = 0;
      await slice.yieldIfDue();
    };
    for (const line of linesOf(lines)) {
      const isLarge = line.length >= minSliced;
      if (isLarge || slice.isDue) await pause();
      if (isLarge ? await isLargeBlank(line, slice) : isBlank(line)) continue;
      const values = isLarge ? await parseLargeLine(line) : parseLine(line);
      if (!Array.isArray(values)) {
        refusals.push(values);
        continue;
      }
      for (const value of values) {
        if (slice.isDue || passed >= maxInTurn) await pause();
        if (this.#isClosed) break;
        passed++;
        refusals.push(...this.#passValue(value));
      }
    }
    refuse();
    if (!this.#isPassing) return;
    this.#isPassing = false;
    // Otherwise, the end of the next write resumes it.
    if (this.#unsent === 0) this.#resume();
  }

  /** Passes a message on, and returns the answer to a malformed one. */
  #passValue(value: unknown): readonly RefusedMessage[] {
    const reading = readMessage(value);
    if ("message" in reading) return this.#passMessage(reading.message);
    if (reading.isAwaited) return [reading.refusal];
    this.onerror?.(new TypeError("A notification or a response is malformed."));
    return [];
  }

  /** Passes a message on, unless it is a request whose id is in use. Returns the answer to such a one. */
  #passMessage(message: JSONRPCMessage): RefusedMessage[] {
    if (isJSONRPCRequest(message)) {
      if (this.#pending.has(message.id)) return [repeatedId(message.id)];
      this.#pending.add(message.id);
    }
    const cancelled = cancelledRequest(message);
    // The SDK cancels by id some microtasks later, and a request that reuses it would be cancelled instead.
    if (cancelled !== undefined) setImmediate(() => this.#pending.delete(cancelled));
    this.onmessage?.(message);
    return [];
  }

  /**
   * Stops reading until the refusals are sent. Otherwise, a client that does not read could fill the memory
   * with them.
   */
  async #refuse(refusals: readonly RefusedMessage[]): Promise<void> {
    this.onerror?.(new TypeError("A line is no message."));
    const text = refusals.map((refusal) => `${JSON.stringify(refusal)}\n`).join("");
    await this.#write(text, 0).catch(() => {});
  }

  #fail(error: Error): void {
    if (this.#isClosed) return;
    this.onerror?.(error);
    void this.close();
  }
}

/** Minimum bytes of an answer that is worth encoding in pieces. */
const minInPieces = 256 * 1024;

/** Encodes a message as a line, in steps. */
function* encode(message: JSONRPCMessage): Steps<Buffer> {
  const encoded: Buffer[] = [];
  for (const part of jsonPartsOf(message)) {
    encoded.push(Buffer.from(part));
    yield;
  }
  return Buffer.concat([...encoded, Buffer.from("\n")]);
}

/** Yields the lines, without their line feeds. */
function* linesOf(lines: Buffer): Generator<Buffer> {
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(0x0a, start);
    yield lines.subarray(start, end);
    start = end + 1;
  }
}

/** Returns whether a line has only white space, which includes that of JSON. */
const isBlank = (line: Buffer): boolean =>
  line.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));

/** Like `isBlank`, in time slices. */
async function isLargeBlank(line: Buffer, slice: TimeSlice): Promise<boolean> {
  for (let at = 0; at < line.length; at += blankBytes) {
    if (!isBlank(line.subarray(at, at + blankBytes))) return false;
    await slice.yieldIfDue();
  }
  return true;
}

/** The bytes of a step that checks a line for white space. */
const blankBytes = 64 * 1024;

/** Returns the messages in a line, or the answer to it. */
function parseLine(line: Buffer): unknown[] | RefusedMessage {
  if (!isUtf8(line)) return notUtf8;
  try {
    return messagesIn(parseJson(line.toString()));
  } catch (error) {
    return notParsed(line, error);
  }
}

/** Like `parseLine`, in time slices. */
const parseLargeLine = (line: Buffer): Promise<unknown[] | RefusedMessage> =>
  parseInSlices(line, maxTokens).then(messagesIn, (error) => notParsed(line, error));

function messagesIn(value: unknown): unknown[] | RefusedMessage {
  if (!Array.isArray(value)) return [value];
  return value.length > 0 && value.length <= maxOfBatch ? value : badBatch;
}
