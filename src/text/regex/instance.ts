import { instantiate, type WasmModule } from "../../base/wasm/module.ts";
import { type EngineExports, importsFor, type MatchNumbers } from "./imports.ts";

/**
 * Runs regularly during each call into a metered engine, with the size of its memory in bytes. An exception
 * from it ends that call, which throws it.
 */
export type InterruptHandler = (bytes: number) => void;

/** Thrown when the interrupt handler has ended a call into the engine. */
export class Interrupted extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("the call was ended");
    this.reason = reason;
  }
}

/** Minimum and maximum bytes that memory grows ahead of need. */
const minRoom = 4 * 1024 * 1024;
const maxRoom = 16 * 1024 * 1024;

/** The size of an index in the table of JavaScript values, in bytes. */
const referenceBytes = 4;

/** Holds one instance of the module, and passes texts and objects into and out of it. */
export class Instance {
  readonly exports: EngineExports;
  /** The instance's number among those of a runtime, from 1. */
  readonly number: number;
  /** The end of the last match found. */
  matchEnd = -1;
  readonly #answer: MatchNumbers = { isOn: false, numbers: [], knowsKeys: false };
  #memory: Buffer;
  /** The size of the memory after `makeRoom` last grew it. */
  #roomyBytes = 0;

  constructor(module: WasmModule, onInterrupt: InterruptHandler, number: number) {
    this.number = number;
    const onFuelSpent = () => {
      try {
        onInterrupt(this.bytes);
      } catch (reason) {
        throw new Interrupted(reason);
      }
    };
    const imports = importsFor(module, {
      exports: () => this.exports,
      onFuelSpent: onFuelSpent,
      answer: this.#answer,
    });
    this.exports = instantiate(module, imports) as EngineExports;
    this.exports.__wbindgen_start();
    this.#memory = Buffer.from(this.exports.memory.buffer);
  }

  get bytes(): number {
    return this.exports.memory.buffer.byteLength;
  }

  /**
   * Grows the memory ahead of need. The engine itself grows it by 64 KiB at a time, and past eight memories
   * Bun copies each one that grows.
   */
  makeRoom(): void {
    if (this.bytes <= this.#roomyBytes) return;
    const room = Math.min(Math.max(minRoom, this.bytes / 2), maxRoom);
    this.exports.__wbindgen_free(this.exports.__wbindgen_malloc(room, 1), room, 1);
    this.#roomyBytes = this.bytes;
  }

  /** Copies `text[from, to)` into the memory. The callee frees it. */
  pass(text: Buffer, from: number, to: number): number {
    const pointer = this.exports.__wbindgen_malloc(to - from, 1) >>> 0;
    text.copy(this.memory, pointer, from, to);
    return pointer;
  }

  /** Returns the JavaScript value that the engine left at `index`, and frees the index. */
  take(index: number): unknown {
    const value: unknown = this.exports.__wbindgen_export_2.get(index);
    this.exports.__externref_table_dealloc(index);
    return value;
  }

  /** Returns the JavaScript values in the list that the engine left at `pointer`, and frees the list. */
  takeAll(pointer: number, count: number): unknown[] {
    const { memory } = this;
    const indexes = Array.from({ length: count }, (_, at) =>
      memory.readUInt32LE(pointer + at * referenceBytes),
    );
    this.exports.__wbindgen_free(pointer, count * referenceBytes, referenceBytes);
    return indexes.map((index) => this.take(index));
  }

  /** Returns the start of the first match in the text passed in, or -1. */
  find(regex: number, text: number, bytes: number): number {
    return this.findAt(regex, text, bytes, 0);
  }

  /**
   * Like `find`, but for the first match that starts at or after `from`. Assertions such as `^` see the text
   * before it.
   */
  findAt(regex: number, text: number, bytes: number, from: number): number {
    const { exports } = this;
    this.#answer.isOn = true;
    const outcome = exports.rregex_findAt(regex, text, bytes, from);
    this.#answer.isOn = false;
    if (outcome[2] !== 0) throw new Error("find failed");
    exports.__externref_table_dealloc(outcome[0]);
    // A match has two numbers: its start and its end.
    const { numbers } = this.#answer;
    if (numbers.length === 0) return -1;
    this.#answer.knowsKeys = true;
    const start = numbers[0]!;
    this.matchEnd = numbers[1]!;
    numbers.length = 0;
    return start;
  }

  /** A view of the current memory. Growth detaches earlier views. */
  get memory(): Buffer {
    if (this.#memory.buffer !== this.exports.memory.buffer)
      this.#memory = Buffer.from(this.exports.memory.buffer);
    return this.#memory;
  }
}
