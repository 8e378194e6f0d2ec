import { Mismatch, validate } from "../base/schema/validate.ts";
import type { Services } from "../calls/contract/definition.ts";
import { FsScope, fsScopeField, scopeIn, sessionBoundary } from "../calls/contract/fs-scope.ts";
import { narrowedJail } from "../calls/narrowed-jail.ts";
import { pathDependencies } from "../filesystem/jail/path-dependencies.ts";
import type { ShellServices } from "./define.ts";
import type { FsServices } from "./fs/services.ts";
import { refuseShell } from "./shell-errors.ts";
import type { Target } from "./target.ts";

type NarrowedCall = Parameters<NonNullable<Services["narrow"]>>[0];

type Narrowed = Pick<ShellServices, "fs" | "dependenciesOf">;

/**
 * Returns the services of a call that its payload limits (coder §26): the same files, for a part of the tree.
 * A command cannot be limited like that: it starts in the folder of a session, and a scope in coder's form is
 * refused, because its caller would believe the command limited. The scope of a session, which is in every
 * call of iii's harness, is ignored if nothing of the call is below it.
 */
export const shellNarrowerOf =
  (fs: FsServices) =>
  ({ definition, payload, request }: NarrowedCall): Narrowed | undefined => {
    const sent = scopeIn(payload);
    if (sent === undefined) return undefined;
    const isSession = sessionBoundary(sent) !== undefined;
    if (!isSession && definition.paths.length === 0) throw refuseShell.noFsScope(definition.id);
    if (!isOnHost(request) && !isSession) throw refuseShell.noScopeInSandbox();
    if (!hasField(definition) || !isOnHost(request)) return undefined;
    const jail = narrowedJail(fs.jail, validScope(sent));
    return {
      fs: { ...fs, jail, ...fs.filesIn(jail) },
      dependenciesOf: (path) => pathDependencies(path, jail),
    };
  };

const hasField = ({ request }: NarrowedCall["definition"]): boolean =>
  Object.hasOwn(request["properties"], fsScopeField);

const isOnHost = (request: unknown): boolean =>
  (request as { readonly target?: Target }).target?.kind !== "sandbox";

function validScope(sent: unknown): FsScope {
  try {
    return validate(FsScope, sent, { unknownKeys: "ignore" });
  } catch (error) {
    if (error instanceof Mismatch) throw refuseShell.badScope(error.field, error.problem);
    throw error;
  }
}
