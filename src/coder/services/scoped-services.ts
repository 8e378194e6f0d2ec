import type * as worker from "../../calls/contract/definition.ts";
import { type FsScope, scopeIn, sessionBoundary, takesFsScope } from "../../calls/contract/fs-scope.ts";
import { narrowedJail } from "../../calls/narrowed-jail.ts";
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
