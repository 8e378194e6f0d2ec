/** Encodes system calls as entries of a launcher's table, and the data that they point to. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { entryBytes, modes } from "./machine-code.ts";
import { type Architecture, numberOf } from "./syscalls.ts";

/** A call that must succeed: its name and arguments. Texts and structures are passed by pointer. */
export type RequiredCall = readonly [
  name: Parameters<typeof numberOf>[0],
  ...values: (number | string | Buffer)[],
];

/** Encoded calls, in parts of some hundred kilobytes at most. */
export interface EncodedCalls {
  readonly data: readonly Buffer[];
  readonly table: readonly Buffer[];
}

/** The data that calls point to, at consecutive addresses. */
export class PlacedData {
  readonly parts: Buffer[] = [];
  readonly #known = new Map<string | Buffer, number>();
  #end: number;

  constructor(start: number) {
    this.#end = start;
  }

  /** The address after the last part. */
  get end(): number {
    return this.#end;
  }

  /** Places a structure, or a text with its NUL, unless it is there already. Returns its address. */
  place(value: string | Buffer): number {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const address = this.#end;
    const part = padded(typeof value === "string" ? Buffer.from(`${value}\0`) : value);
    this.parts.push(part);
    this.#known.set(value, address);
    this.#end += part.length;
    return address;
  }
}

/** The number of groups of calls in one part. */
const partGroups = 1000;

/**
 * Encodes groups of calls, one in each step. Their data must be loaded at `address`; the entries may be
 * anywhere in a table.
 */
export function* encodeInSteps(
  groups: Iterable<readonly RequiredCall[]>,
  { architecture, address }: { readonly architecture: Architecture; readonly address: number },
): Steps<EncodedCalls> {
  const encoded = { data: [] as Buffer[], table: [] as Buffer[] };
  let data = new PlacedData(address);
  let entries: Buffer[] = [];
  const endPart = () => {
    encoded.data.push(Buffer.concat(data.parts));
    encoded.table.push(Buffer.concat(entries));
    data = new PlacedData(data.end);
    entries = [];
  };
  let count = 0;
  for (const calls of groups) {
    for (const call of calls) entries.push(requiredEntry(call, architecture, data));
    count++;
    if (count % partGroups === 0) endPart();
    yield;
  }
  endPart();
  return encoded;
}

/** Returns the entry of a call that must succeed, and places its data. */
export function requiredEntry(
  [name, ...values]: RequiredCall,
  architecture: Architecture,
  data: PlacedData,
): Buffer {
  const numbers = values.map((value) => (typeof value === "number" ? value : data.place(value)));
  return entry(numberOf(name, architecture), modes.required, numbers);
}

/** Returns an entry of a table, with one of `modes`. */
export function entry(number: number, mode: number, values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(entryBytes);
  for (const [index, value] of [number, ...values].entries())
    bytes.writeBigUInt64LE(BigInt(value), 8 * index);
  bytes.writeBigUInt64LE(BigInt(mode), entryBytes - 8);
  return bytes;
}

/** Returns the bytes with zeros up to a multiple of 8. */
export const padded = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes, Buffer.alloc(Math.ceil(bytes.length / 8) * 8 - bytes.length)]);
