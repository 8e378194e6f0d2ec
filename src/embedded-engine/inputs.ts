/**
 * Reads fields from the input of an engine function. Each reader throws `deserialization_error` for a value
 * of another type, and returns `undefined` if the field is absent or null.
 */
import { isRecord, type Json } from "./frames.ts";
import { EngineFailure } from "./invocations.ts";

/** Returns the error for an input that does not fit the function's schema. */
export function malformed(field: string): EngineFailure {
  return new EngineFailure({
    code: "deserialization_error",
    message: `missing or malformed field \`${field}\``,
  });
}

/**
 * Returns a field of an input, or `undefined` if it is absent or null. Throws if the input is not an object.
 */
function fieldOf(input: Json, field: string): Json | undefined {
  if (typeof input !== "object" || input === null)
    throw new EngineFailure({ code: "deserialization_error", message: "the input must be an object" });
  return isRecord(input) ? (input[field] ?? undefined) : undefined;
}

/** Returns a field that holds a string. */
export function textIn(input: Json, field: string): string | undefined {
  const value = fieldOf(input, field);
  if (value !== undefined && typeof value !== "string") throw malformed(field);
  return value;
}

/** Returns a field that holds an array of strings. */
export function textsIn(input: Json, field: string): string[] | undefined {
  const value = fieldOf(input, field);
  if (value !== undefined && !isTextList(value)) throw malformed(field);
  return value;
}

/** Returns a field that holds a whole number from 0 on. */
export function sizeIn(input: Json, field: string): number | undefined {
  const value = fieldOf(input, field);
  const isSize = Number.isSafeInteger(value) && Number(value) >= 0;
  if (value !== undefined && !isSize) throw malformed(field);
  return value as number | undefined;
}

/** Returns a field that holds a boolean, false if absent. */
export function flagIn(input: Json, field: string): boolean {
  const value = fieldOf(input, field) ?? false;
  if (typeof value !== "boolean") throw malformed(field);
  return value;
}

function isTextList(value: Json): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
