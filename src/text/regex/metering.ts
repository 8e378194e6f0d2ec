/**
 * Makes WebAssembly interruptible. One call into the regex engine may take minutes, and Bun ends a thread
 * only between two calls. So each iteration of each loop of the engine consumes fuel, and a callback refills
 * it. The callback may throw, which ends the call.
 */
import {
  Reader,
  renderSigned,
  renderUnsigned,
  rewriteSections,
  Section,
  sized,
} from "../../base/wasm/binary.ts";

/**
 * The import that serves as callback, with zeros for arguments. The engine itself never passes zeros, since
 * even an empty text has an address. The module already has this import; an additional one would shift the
 * indices of all functions.
 */
const callback = "__wbindgen_throw";

/**
 * Iterations between two callbacks. They take well below a millisecond, and the callbacks a hundredth of
 * that.
 */
const fuel = 4096;

/** Returns `wasm` with a call of `__wbindgen_throw(0, 0)` after every `fuel` iterations of its loops. */
export function meter(wasm: Uint8Array): Uint8Array<ArrayBuffer> {
  let [imported, counter] = [-1, -1];
  return rewriteSections(wasm, (id, contents) => {
    if (id === Section.import) imported = indexOfImport(contents, callback);
    if (id === Section.global) {
      counter = new Reader(contents).unsigned();
      return addCounter(contents);
    }
    return id === Section.code ? meterFunctions(contents, takeFuel(counter, imported)) : undefined;
  });
}

/** Returns the index of the import `name`. All imports are functions. */
function indexOfImport(imports: Uint8Array, name: string): number {
  const reader = new Reader(imports);
  const count = reader.unsigned();
  for (let index = 0; index < count; index++) {
    reader.name();
    const found = reader.name() === name;
    if (reader.byte() !== 0) break;
    if (found) return index;
    reader.unsigned();
  }
  throw new Error(`the module does not import ${name}`);
}

/** Appends a global, a mutable i32. */
function addCounter(globals: Uint8Array): Uint8Array {
  const reader = new Reader(globals);
  const count = reader.unsigned();
  const counter = [0x7f, 0x01, Op.const, ...renderSigned(fuel), Op.end];
  return Buffer.concat([
    Uint8Array.from(renderUnsigned(count + 1)),
    globals.subarray(reader.at),
    Uint8Array.from(counter),
  ]);
}

/**
 * Returns code for the start of each iteration: it counts the fuel down, and at zero refills it and runs the
 * callback.
 */
function takeFuel(counter: number, imported: number): Uint8Array {
  const [get, set] = [Op.getGlobal, Op.setGlobal].map((op) => [op, ...renderUnsigned(counter)]);
  return Uint8Array.from([
    ...[...(get as number[]), Op.const, 1, Op.subtract, ...(set as number[])],
    ...[...(get as number[]), Op.isZero, Op.if, noResult],
    ...[Op.const, ...renderSigned(fuel), ...(set as number[])],
    ...[Op.const, 0, Op.const, 0, Op.call, ...renderUnsigned(imported)],
    Op.end,
  ]);
}

function meterFunctions(code: Uint8Array, inserted: Uint8Array): Uint8Array {
  const reader = new Reader(code);
  const count = reader.unsigned();
  const pieces = [code.subarray(0, reader.at)];
  for (let index = 0; index < count; index++) {
    const start = reader.at;
    const length = reader.unsigned();
    const body = code.subarray(reader.at, reader.at + length);
    reader.at += length;
    const metered = meterLoops(body, inserted);
    pieces.push(...(metered.length === 1 ? [code.subarray(start, reader.at)] : [sized(...metered)]));
  }
  return Buffer.concat(pieces);
}

/** Returns the parts of a function's body, with `inserted` at the start of each loop. */
function meterLoops(body: Uint8Array, inserted: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  const reader = new Reader(body);
  for (let groups = reader.unsigned(); groups > 0; groups--) reader.skipNumbers(2);
  let [at, kept] = [reader.at, 0];
  while (at < body.length) {
    const op = body[at++] as number;
    // Half a million instructions pass here before the first search, so common ones avoid a call.
    let numbers = immediates[op] as number;
    if (numbers === otherwise) at = skipImmediates(op, body, at);
    else while (numbers > 0) if ((body[at++] as number) < 0x80) numbers--;
    if (op !== Op.loop) continue;
    pieces.push(body.subarray(kept, at), inserted);
    kept = at;
  }
  return [...pieces, body.subarray(kept)];
}

/** Opcodes (WebAssembly Core Specification, section 5.4). */
const Op = {
  loop: 0x03,
  if: 0x04,
  end: 0x0b,
  branchTable: 0x0e,
  call: 0x10,
  typedSelect: 0x1c,
  getGlobal: 0x23,
  setGlobal: 0x24,
  const: 0x41,
  constFloat: 0x43,
  constDouble: 0x44,
  isZero: 0x45,
  subtract: 0x6b,
  extended: 0xfc,
} as const;

/** The type of a block without a result. */
const noResult = 0x40;

/** Numbers of LEB128 immediates for ranges of opcodes, both ends included. */
const immediateCounts: readonly [first: number, last: number, numbers: number][] = [
  [0x00, 0x01, 0],
  [0x02, 0x04, 1],
  [0x05, 0x05, 0],
  [0x0b, 0x0b, 0],
  [0x0c, 0x0d, 1],
  [0x0f, 0x0f, 0],
  [0x10, 0x10, 1],
  [0x11, 0x11, 2],
  [0x1a, 0x1b, 0],
  [0x20, 0x26, 1],
  [0x28, 0x3e, 2],
  [0x3f, 0x42, 1],
  [0x45, 0xc4, 0],
  [0xd0, 0xd0, 1],
  [0xd1, 0xd1, 0],
  [0xd2, 0xd2, 1],
];

/** Like `immediateCounts`, but by opcode, with `otherwise` for other immediates and unknown opcodes. */
const otherwise = 0xff;
const immediates = new Uint8Array(256).fill(otherwise);
for (const [first, last, numbers] of immediateCounts) immediates.fill(numbers, first, last + 1);

/** Numbers of immediates for the opcodes whose first byte is `Op.extended`, by the number that follows it. */
const extendedNumbers = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];

/** Returns the end of the immediates that start at `at`, for an opcode that `immediates` does not cover. */
function skipImmediates(op: number, body: Uint8Array, at: number): number {
  const reader = new Reader(body, at);
  if (op === Op.branchTable) reader.skipNumbers(reader.unsigned() + 1);
  else if (op === Op.typedSelect) reader.at += reader.unsigned();
  else if (op === Op.constFloat) reader.at += 4;
  else if (op === Op.constDouble) reader.at += 8;
  else {
    const numbers = op === Op.extended ? extendedNumbers[reader.unsigned()] : undefined;
    if (numbers === undefined) throw new Error(`an operation that is not known: ${op}`);
    reader.skipNumbers(numbers);
  }
  return reader.at;
}
