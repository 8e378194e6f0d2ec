import { piecesOf } from "../../base/scheduling/text-pieces.ts";

/** Items of a long list that are written in one step. */
const atOnce = 500;

/** Length of a text that is written in one step, and minimum length of a part. */
const [longText, partLength] = [64 * 1024, 8 * 1024];

/** Returns the parts of `JSON.stringify(value)`, each written in less than a millisecond. */
export function* jsonPartsOf(value: unknown): Generator<string> {
  let part = "";
  for (const written of partsOf(value)) {
    part += written;
    if (part.length < partLength) continue;
    yield part;
    part = "";
  }
  if (part !== "") yield part;
}

function* partsOf(value: unknown): Generator<string> {
  if (typeof value === "string" && value.length > longText) yield* partsOfText(value);
  else if (Array.isArray(value)) yield* value.length > atOnce ? partsOfList(value) : partsOfItems(value);
  else if (isPlainObject(value)) yield* partsOfFields(value);
  else yield JSON.stringify(value) ?? "null";
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function* partsOfText(text: string): Generator<string> {
  yield '"';
  for (const piece of piecesOf(text)) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
}

function* partsOfList(items: readonly unknown[]): Generator<string> {
  for (let from = 0; from < items.length; from += atOnce) {
    yield from === 0 ? "[" : ",";
    yield JSON.stringify(items.slice(from, from + atOnce)).slice(1, -1);
  }
  yield "]";
}

function* partsOfItems(items: readonly unknown[]): Generator<string> {
  yield "[";
  for (const [index, item] of items.entries()) {
    if (index > 0) yield ",";
    yield* partsOf(item);
  }
  yield "]";
}

function* partsOfFields(fields: Record<string, unknown>): Generator<string> {
  let before = "{";
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || typeof value === "function") continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* partsOf(value);
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}
