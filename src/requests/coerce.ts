/** Turns values into the type of a field where nothing can be lost. What it cannot turn it returns unchanged. */
import { Kind, type TSchema } from "@sinclair/typebox";

/** `"2"` as 2; `"2.0"` too. */
export function coerceInteger(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[+-]?\d+(?:\.0+)?\s*$/.test(value)) return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** `"true"` as true, in any case. */
export function coerceBoolean(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const text = value.trim().toLowerCase();
  return text === "true" ? true : text === "false" ? false : value;
}

/** A JSON text of an object as that object. */
export const coerceObject = (value: unknown): unknown => {
  const parsed = parseStructure(value, "{");
  return parsed === undefined ? value : parsed;
};

/** A list of `{key, value}` as the map that it stands for, in which no key stands twice. */
export function coerceMap(value: unknown): unknown {
  const list = parseStructure(value, "[") ?? value;
  if (!Array.isArray(list) || !list.every(isKeyWithValue)) return coerceObject(value);
  const map = new Map(list.map((item) => [item.key, item.value]));
  return map.size === list.length ? Object.fromEntries(map) : value;
}

const isKeyWithValue = (item: unknown): item is { readonly key: string; readonly value: unknown } => {
  if (typeof item !== "object" || item === null || Object.keys(item).length !== 2) return false;
  const { key, value } = item as Readonly<Record<string, unknown>>;
  return typeof key === "string" && value !== undefined;
};

/** A JSON text of an array as that array, and anything else but null as an array with this one item. */
export function coerceArray(value: unknown, items: TSchema): unknown {
  if (Array.isArray(value) || value === null || value === undefined) return value;
  const parsed = parseStructure(value, "[");
  if (parsed !== undefined) return parsed;
  return fitsOne(value, items) ? [value] : value;
}

/** Whether `value` is of the type of one item. */
function fitsOne(value: unknown, items: TSchema): boolean {
  if (items[Kind] === "String") return typeof value === "string";
  if (typeof value === "object") return true;
  return parseStructure(value, "{") !== undefined;
}

/** What a JSON text holds that begins with `opening`; undefined for anything else. */
function parseStructure(value: unknown, opening: "{" | "["): object | undefined {
  if (typeof value !== "string" || !value.trimStart().startsWith(opening)) return undefined;
  try {
    return JSON.parse(value) as object;
  } catch {
    return undefined;
  }
}
