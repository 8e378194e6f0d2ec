/**
 * Schema fragments that several functions share.
 *
 * A field with a `default` may be left out by the caller, and a handler always finds it: validation fills it in
 * before the handler runs. So such a field is written without `Type.Optional`.
 */
import { type Static, type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";

interface Options {
  readonly description?: string;
  readonly default?: number | null;
  /** The version that brought it, for what came after the published reference. */
  readonly since?: string;
}

/** An unsigned 32-bit whole number. */
export const UInt32 = (options: Options = {}) => Type.Integer({ format: "uint32", minimum: 0, ...options });

/** An unsigned 64-bit whole number; JavaScript carries it exactly up to 2^53 - 1. */
export const UInt64 = (options: Options = {}) => Type.Integer({ format: "uint64", minimum: 0, ...options });

/** An unsigned whole number as large as a count of things in memory. */
export const UInt = () => Type.Integer({ format: "uint", minimum: 0 });

/** A signed 32-bit whole number: the exit code of a program. */
export const Int32 = () => Type.Integer({ format: "int32" });

/** A signed 64-bit whole number: a time in seconds since 1970. */
export const Int64 = (options: Options = {}) => Type.Integer({ format: "int64", ...options });

/** `schema` or null. */
export const Nullable = <T extends TSchema>(schema: T, options: Options = {}) =>
  Type.Union([schema, Type.Null()], options);

/** A type that the reference shows under `definitions`, by this name. */
export const Named = <T extends TProperties>(name: string, properties: T): TObject<T> =>
  Type.Object(properties, { $id: name });

/** What an entry of a folder is, as lstat sees it. */
export const Kind = (name: string) =>
  Type.Union([Type.Literal("file"), Type.Literal("dir"), Type.Literal("symlink"), Type.Literal("other")], {
    $id: name,
  });

export type Kind = Static<ReturnType<typeof Kind>>;
