/** Turns values into the type of a field if nothing can be lost. Other values are returned unchanged. */
import { Kind, type TSchema } from "@sinclair/typebox";
import { parseJson, UnreadableJson } from "../../base/scheduling/parse-json.ts";

/** Turns `"2"`, and also `"2.0"`, into 2. */
export function coerceInteger(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[+-]?\d+(?:\.0+)?\s*$/.test(value)) return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Turns `"true"`, in any case, into true. */
export function coerceBoolean(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const text = value.trim().toLowerCase();
  return text === "true" ? true : text === "false" ? false : value;
}

/** Turns a JSON text of an object into that object. */
export const coerceObject = (value: unknown): unknown => {
  const parsed = parseStructure(value, "{");
  return parsed === undefined ? value : parsed;
};

/** Turns a list of `{key, value}` without duplicate keys into the map that it represents. */
export function coerceMap(value: unknown): unknown {
  const list = parseStructure(value, "[") ?? value;
  if (!Array.isArray(list) || !list.every(isKeyWithValue)) return coerceObject(value);
  const map = new Map(list.map((item) => [item.key, item.value]));
  return map.size === list.length ? Object.fromEntries(map) : value;
}

/** Returns the first key that a list of `{key, value}` has again; `undefined` for anything else. */
export function repeatedKey(value: unknown): string | undefined {
  const list = parseStructure(value, "[") ?? value;
  if (!Array.isArray(list) || !list.every(isKeyWithValue)) return undefined;
  const keys = new Set<string>();
  for (const { key } of list) {
    if (keys.has(key)) return key;
    keys.add(key);
  }
  return undefined;
}

const isKeyWithValue = (item: unknown): item is { readonly key: string; readonly value: unknown } => {
  if (typeof item !== "object" || item === null || Object.keys(item).length !== 2) return false;
  const { key, value } = item as Readonly<Record<string, unknown>>;
  return typeof key === "string" && value !== undefined;
};

/**
 * Turns a JSON text of an array into that array, and anything else except null into an array with this one
 * item.
 */
export function coerceArray(value: unknown, items: TSchema): unknown {
  if (Array.isArray(value) || value === null || value === undefined) return value;
  const parsed = parseStructure(value, "[");
  if (parsed !== undefined) return parsed;
  return fitsOne(value, items) ? [value] : value;
}

/** Returns whether `value` has the type of one item. */
function fitsOne(value: unknown, items: TSchema): boolean {
  if (items[Kind] === "String") return typeof value === "string";
  if (typeof value === "object") return true;
  return parseStructure(value, "{") !== undefined;
}

/**
 * Parses a JSON text that begins with `opening`. Returns `undefined` for anything else. Throws an
 * `UnreadableJson`.
 */
function parseStructure(value: unknown, opening: "{" | "["): object | undefined {
  if (typeof value !== "string" || !value.trimStart().startsWith(opening)) return undefined;
  try {
    return parseJson(value) as object;
  } catch (error) {
    if (error instanceof UnreadableJson) throw error;
    return undefined;
  }
}
