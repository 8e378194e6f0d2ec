import type * as worker from "../contract/definition.ts";
import { type FsScope, fsScopeField, takesFsScope } from "../contract/fs-scope.ts";
import type { Files } from "../files/files.ts";
import type { Jail } from "../jail/folder.ts";
import { pathDependencies } from "../jail/path-dependencies.ts";
import type { CoderServices } from "./define.ts";
import { refuseCoder } from "./errors.ts";

type NarrowedCall = Parameters<NonNullable<worker.Services["narrow"]>>[0];

type Narrowed = Pick<CoderServices, "jail" | "files" | "dependenciesOf">;

interface Tree {
  readonly jail: Jail;
  filesIn(jail: Jail): Files;
}

/**
 * The services of a call that its payload limits (coder §26): the same jail and files, for a part of the tree. Throws a
 * refusal for a scope that is none, and for a function that takes none: its caller would take the call for limited.
 */
export const narrowerOf =
  ({ jail, filesIn }: Tree) =>
  ({ definition, payload, request }: NarrowedCall): Narrowed | undefined => {
    if (scopeIn(payload) === undefined) return undefined;
    if (!takesFsScope(definition)) throw refuseCoder.noFsScope(definition.id);
    const scoped = jail.within(scopeIn(request) as FsScope);
    return {
      jail: scoped,
      files: filesIn(scoped),
      dependenciesOf: (path) => pathDependencies(path, scoped),
    };
  };

/** Null counts as no scope, as in all later fields. */
const scopeIn = (value: unknown): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, fsScopeField)
    ? ((value as Readonly<Record<string, unknown>>)[fsScopeField] ?? undefined)
    : undefined;
