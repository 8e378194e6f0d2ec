import { Refusal } from "../../base/errors.ts";
import type * as worker from "../../calls/contract/definition.ts";
import { type FsScope, scopeIn, sessionBoundary, takesFsScope } from "../../calls/contract/fs-scope.ts";
import { narrowedJail } from "../../calls/narrowed-jail.ts";
import { namesOf } from "../../filesystem/jail/backend.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { pathDependencies } from "../../filesystem/jail/path-dependencies.ts";
import { refuseCoder } from "../coder-errors.ts";
import type { CoderServices } from "../define.ts";

type NarrowedCall = Parameters<NonNullable<worker.Services["narrow"]>>[0];

type Narrowed = Pick<CoderServices, "jail" | "files" | "tree" | "dependenciesOf">;

interface Tree {
  readonly jail: Jail;
  filesIn(jail: Jail): Pick<CoderServices, "files" | "tree">;
}

/**
 * Returns the services of a call that its payload limits (coder §26): the same jail and files, for a part of
 * the tree. Throws a refusal for an invalid scope, and for a function that takes none, because its caller
 * would believe the call limited. The harness of iii sends one in every call, so a function without paths
 * ignores that.
 */
export const narrowerOf =
  ({ jail, filesIn }: Tree) =>
  ({ definition, payload, request }: NarrowedCall): Narrowed | undefined => {
    const sent = scopeIn(payload);
    if (sent === undefined) return undefined;
    if (!takesFsScope(definition)) {
      if (sessionBoundary(sent) !== undefined) return undefined;
      throw refuseCoder.noFsScope(definition.id);
    }
    const scoped = narrowedJail(jail, scopeIn(request) as FsScope);
    return {
      jail: scoped,
      ...filesIn(scoped),
      dependenciesOf: (path) => pathDependencies(path, scoped),
    };
  };

/**
 * Returns the refusal of a missing path that begins like the scope with the folder where its paths start, and
 * any other error unchanged. A denied path is refused in the same words.
 */
export function explainScopedPath(error: unknown, { scope }: Pick<Jail, "scope">): unknown {
  const isAbsent = error instanceof Refusal && (error.reason === "missing" || error.reason === "denied");
  if (!isAbsent || error.path === undefined || scope === undefined || scope.root.length === 0) return error;
  const sent = namesOf(error.path).filter((name) => name !== "" && name !== ".");
  return scope.root.every((name, index) => sent[index] === name)
    ? refuseCoder.pathFromBase(error, scope.root.join("/"))
    : error;
}
