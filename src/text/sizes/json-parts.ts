import { piecesOf } from "../../base/scheduling/text-pieces.ts";

/** Items of a long list that are written in one step. */
const atOnce = 500;

/** Length of a text or of items that are written in one step, and minimum length of a part. */
const [longText, partLength] = [64 * 1024, 8 * 1024];

/** Returns the value that is written for that of a field. It is called for some items of lists too. */
export type Replace = (key: string, value: unknown) => unknown;

/** Returns the parts of `JSON.stringify(value, replace)`, each written in less than a millisecond. */
export function* jsonPartsOf(value: unknown, replace?: Replace): Generator<string> {
  let part = "";
  for (const written of partsOf(value, replace)) {
    part += written;
    if (part.length < partLength) continue;
    yield part;
    part = "";
  }
  if (part !== "") yield part;
}

function* partsOf(value: unknown, replace: Replace | undefined): Generator<string> {
  if (typeof value === "string" && value.length > longText) yield* partsOfText(value);
  else if (Array.isArray(value))
    yield* value.length > atOnce ? partsOfList(value, replace) : partsOfItems(value, replace);
  else if (isPlainObject(value)) yield* partsOfFields(value, replace);
  else yield JSON.stringify(value) ?? "null";
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function* partsOfText(text: string): Generator<string> {
  yield '"';
  for (const piece of piecesOf(text)) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
}

function* partsOfList(items: readonly unknown[], replace: Replace | undefined): Generator<string> {
  for (let from = 0; from < items.length; ) {
    yield from === 0 ? "[" : ",";
    const end = endOfStep(items, from);
    if (end === from) yield* partsOf(items[from], replace);
    else yield JSON.stringify(items.slice(from, end), replace).slice(1, -1);
    from = Math.max(end, from + 1);
  }
  yield "]";
}

/** Returns the end of the items that can be written in one step. */
function endOfStep(items: readonly unknown[], from: number): number {
  const most = Math.min(from + atOnce, items.length);
  let room = longText;
  for (let at = from; at < most; at++) {
    room = roomAfter(items[at], room);
    if (room < 0) return at;
  }
  return most;
}

/** Returns the characters that are left of `room` after a value, or a negative number if it is longer. */
function roomAfter(value: unknown, room: number): number {
  let left = room - 1;
  if (typeof value === "string") return left - value.length;
  if (Array.isArray(value))
    for (let at = 0; at < value.length && left >= 0; at++) left = roomAfter(value[at], left);
  else if (isPlainObject(value))
    for (const name in value) {
      if (left < 0) break;
      left = roomAfter(value[name], left - name.length);
    }
  return left;
}

function* partsOfItems(items: readonly unknown[], replace: Replace | undefined): Generator<string> {
  yield "[";
  for (const [index, item] of items.entries()) {
    if (index > 0) yield ",";
    yield* partsOf(item, replace);
  }
  yield "]";
}

function* partsOfFields(fields: Record<string, unknown>, replace: Replace | undefined): Generator<string> {
  let before = "{";
  for (const [name, sent] of Object.entries(fields)) {
    const value = replace === undefined ? sent : replace(name, sent);
    if (value === undefined || typeof value === "function") continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* partsOf(value, replace);
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}
