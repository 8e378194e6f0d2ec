/**
 * The imports of package rregex, for as many instances as a process needs. The package's own glue keeps one
 * instance for the life of the process, and a trap would end it (decision 23).
 *
 * The names that wasm-bindgen gives to imports end in a hash of their signature. Names are matched without
 * it, except for the few that differ in nothing else.
 */

import { importNames, type WasmModule } from "../../base/wasm/module.ts";

/** The exports that are called here. A text argument is a pointer and a length, and the callee frees it. */
export interface EngineExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly __wbindgen_export_2: References;
  __wbindgen_start(): void;
  __wbindgen_malloc(bytes: number, alignment: number): number;
  __wbindgen_free(pointer: number, bytes: number, alignment: number): void;
  __externref_table_dealloc(index: number): void;
  rregex_new(pattern: number, bytes: number): [regex: number, error: number, failed: number];
  __wbg_rregex_free(regex: number, unused: number): void;
  rregex_isMatch(regex: number, text: number, bytes: number): number;
  rregex_findAt(
    regex: number,
    text: number,
    bytes: number,
    from: number,
  ): [match: number, error: number, failed: number];
  rregex_captureNames(regex: number): [references: number, count: number];
  rregex_syntax(regex: number): [syntax: number, error: number, failed: number];
  rregex_replace(
    regex: number,
    text: number,
    bytes: number,
    replacement: number,
    replacementBytes: number,
  ): [text: number, bytes: number];
  rregex_replacen(
    regex: number,
    text: number,
    bytes: number,
    limit: number,
    replacement: number,
    replacementBytes: number,
  ): [text: number, bytes: number];
  rregex_replaceAll(
    regex: number,
    text: number,
    bytes: number,
    replacement: number,
    replacementBytes: number,
  ): [text: number, bytes: number];
}

/** A table of JavaScript values. */
interface References {
  get(index: number): unknown;
  set(index: number, value: unknown): void;
  grow(slots: number): number;
}

type Import = (...values: never[]) => unknown;

/** The dependencies of an instance's imports. */
export interface ImportDeps {
  /** Returns the instance's exports. Imports call it only once the instance exists. */
  readonly exports: () => EngineExports;
  /** Runs every few thousand iterations of a metered module's loops. It may throw. */
  readonly onFuelSpent: () => void;
  readonly answer: MatchNumbers;
}

/**
 * While `isOn`, the imports collect only the numbers of the engine's result, because building the object and
 * the string of a match takes longer than finding it.
 */
export interface MatchNumbers {
  isOn: boolean;
  readonly numbers: number[];
  /**
   * Whether the engine has returned a match before: it creates the strings of the keys once and keeps them.
   */
  knowsKeys: boolean;
}

/** Returns the import object for an instance of `module`. */
export function importsFor(module: WasmModule, deps: ImportDeps): object {
  const known = table(deps);
  const imports: Record<string, Import> = {};
  for (const name of importNames(module)) {
    const found = known[name] ?? known[name.replace(/^__wbg_(.+)_[0-9a-f]{16}$/, "$1")];
    if (found === undefined) throw new Error(`rregex asks for an import that is not known: ${name}`);
    imports[name] = found;
  }
  return { wbg: imports };
}

function table({ exports, onFuelSpent, answer }: ImportDeps): Record<string, Import | undefined> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const text = (pointer: number, bytes: number) =>
    decoder.decode(new Uint8Array(exports().memory.buffer, pointer >>> 0, bytes >>> 0));
  return {
    __wbindgen_string_new: (pointer: number, bytes: number) =>
      answer.isOn && answer.knowsKeys ? undefined : text(pointer, bytes),
    __wbindgen_number_new: (value: number) => {
      if (answer.isOn) answer.numbers.push(value);
      return value;
    },
    __wbindgen_bigint_from_u64: (value: bigint) => BigInt.asUintN(64, value),
    __wbindgen_error_new: (pointer: number, bytes: number) => new Error(text(pointer, bytes)),
    __wbindgen_throw: (pointer: number, bytes: number) => {
      if (pointer === 0) return onFuelSpent();
      throw new Error(text(pointer, bytes));
    },
    __wbindgen_memory: () => exports().memory,
    __wbindgen_init_externref_table: () => prepare(exports().__wbindgen_export_2),
    // Only sets of patterns pass strings in, and none are made here.
    __wbindgen_string_get: () => {
      throw new Error("not reached");
    },
    new: () => ({}),
    __wbg_new_78feb108b6472713: () => [],
    __wbg_new_a12002a7f91c75be: (buffer: ArrayBuffer) => new Uint8Array(buffer),
    newwithbyteoffsetandlength: (buffer: ArrayBuffer, offset: number, length: number) =>
      new Uint8Array(buffer, offset >>> 0, length >>> 0),
    buffer: (array: Uint8Array) => array.buffer,
    length: (array: ArrayLike<unknown>) => array.length,
    from: (items: ArrayLike<unknown>) => Array.from(items),
    get: (items: ArrayLike<unknown>, index: number) => items[index >>> 0],
    set: (target: object, key: PropertyKey, value: unknown) =>
      answer.isOn ? true : Reflect.set(target, key, value),
    push: (items: unknown[], value: unknown) => items.push(value),
    fromCodePoint: (code: number) => String.fromCodePoint(code >>> 0),
  };
}

/** Puts `undefined`, null, true and false at the places where wasm-bindgen expects them. */
function prepare(references: References): void {
  const offset = references.grow(4);
  references.set(0, undefined);
  for (const [index, value] of [undefined, null, true, false].entries())
    references.set(offset + index, value);
}
