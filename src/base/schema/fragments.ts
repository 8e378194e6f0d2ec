/**
 * Schema fragments that several functions share.
 *
 * A field with a `default` may be left out by the caller, but a handler always finds it, because validation
 * fills it in before the handler runs. So such a field is written without `Type.Optional`.
 */
import { type Static, type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";

interface Options {
  readonly description?: string;
  readonly default?: number | null;
  /** The version that added the field, if the published reference lacks it. */
  readonly since?: string;
  /** Marks a field that tools/list leaves out unless `--tools all` is given, since it is rarely needed. */
  readonly isRare?: true;
}

/** Returns the schema of an unsigned 32-bit whole number. */
export const UInt32 = (options: Options = {}) => Type.Integer({ format: "uint32", minimum: 0, ...options });

/** Returns the schema of an unsigned 64-bit whole number; JavaScript carries it exactly up to 2^53 - 1. */
export const UInt64 = (options: Options = {}) => Type.Integer({ format: "uint64", minimum: 0, ...options });

/** Returns the schema of an unsigned whole number that counts things in memory. */
export const UInt = () => Type.Integer({ format: "uint", minimum: 0 });

/** Returns the schema of a signed 32-bit whole number, such as the exit code of a program. */
export const Int32 = () => Type.Integer({ format: "int32" });

/** Returns the schema of a signed 64-bit whole number, such as a time in seconds since 1970. */
export const Int64 = (options: Options = {}) => Type.Integer({ format: "int64", ...options });

/** Returns the schema of a value that may also be null. */
export const Nullable = <T extends TSchema>(schema: T, options: Options = {}) =>
  Type.Union([schema, Type.Null()], options);

/** Returns a type that the reference shows under `definitions`, by this name. */
export const Named = <T extends TProperties>(name: string, properties: T): TObject<T> =>
  Type.Object(properties, { $id: name });

/** Returns the schema of an entry's kind, according to lstat. */
export const Kind = (name: string) =>
  Type.Union([Type.Literal("file"), Type.Literal("dir"), Type.Literal("symlink"), Type.Literal("other")], {
    $id: name,
  });

export type Kind = Static<ReturnType<typeof Kind>>;

/** The mark of an event of a trigger that is sent once more. */
export const Redelivered = Type.Boolean({
  description: "Sent again, because the function did not answer: it may have received the event before.",
});
