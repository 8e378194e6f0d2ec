/** The maxima of the numeric fields of requests, named by answers that depend on them (shell §15). */
import { type Static, Type } from "@sinclair/typebox";
import { UInt64 } from "../base/schema/fragments.ts";

const Maxima = Type.Record(Type.String(), UInt64(), {
  since: "0.4.0",
  description: "The maxima of the request's fields that exceeded them, if the answer depends on that.",
});
type Maxima = Static<typeof Maxima>;

export const maximaField = { maxima: Type.Optional(Maxima) };

/** Returns the maxima that the fields of a request exceed, as a part of its answer. */
export function exceededMaxima(
  request: Readonly<Record<string, number | undefined>>,
  maxima: Maxima,
): { readonly maxima?: Maxima } {
  const exceeded = Object.entries(maxima).filter(([field, maximum]) => (request[field] ?? 0) > maximum);
  return exceeded.length === 0 ? {} : { maxima: Object.fromEntries(exceeded) };
}

/** Renders each maximum as a note. */
export const renderMaxima = (maxima: Maxima = {}): string[] =>
  Object.entries(maxima).map(([field, maximum]) => `${field} is at most ${maximum}`);
