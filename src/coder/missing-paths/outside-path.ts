/** The paths in the base that ones which lead out of it most likely stand for. */
import { Refusal, refuse } from "../../base/errors.ts";
import type { FailedCall } from "../../calls/contract/definition.ts";
import { namesOf, pathIn } from "../../filesystem/jail/backend.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { plainPath } from "../checkpoints/recorded-paths.ts";
import { renderName } from "../render/entry-text.ts";
import { decoded, isFileAt, isThere, sayFiles, sendable, takesFolders } from "./missing-path.ts";

/**
 * Returns the refusal of a path that leads out of the base with the path in it that was meant, as `README.md`
 * for `/README.md` and `../README.md`, if the call sees something there, and any other error unchanged. It
 * reads only the base, so the answer depends on nothing outside.
 */
export function proposeInside(error: unknown, jail: Jail, call: FailedCall | undefined): unknown {
  if (!(error instanceof Refusal) || error.path === undefined) return error;
  const { reason, message, path, details } = error;
  // A path at which the call makes an entry is most likely meant to be free.
  if (!message.endsWith(refuse.outside(path).message) || call?.makes(path) === true) return error;
  const found = meantBy(path, jail);
  const meant = found && sendable(found, jail);
  if (found === undefined || meant === undefined) return error;
  const isMisplaced = takesFolders({ call }) && isFileAt(found, jail);
  const advised = `${message} ${isMisplaced ? sayFiles([meant]) : `Did you mean ${renderName(meant)}?`}`;
  return new Refusal(reason, advised, path, { ...(details && { details }) });
}

/** Maximum names of a path that is searched for. Each takes a walk from the base. */
const maxNames = 64;

function meantBy(sent: string, jail: Jail): string | undefined {
  const names = namesOf(decoded(sent) ?? sent).filter((name) => name !== "" && name !== ".");
  const first = names.findIndex((name) => name !== "..");
  const below = first < 0 ? [] : names.slice(first);
  if (below.length === 0 || below.length > maxNames || below.includes("..")) return undefined;
  // `../base/a`, and `/elsewhere/base/a`, name the base itself.
  const afterBase = below.slice(below.lastIndexOf(jail.baseName) + 1);
  const candidates = [below, ...(afterBase.length < below.length ? [afterBase] : [])]
    .map((one) => one.join("/"))
    .flatMap((one) => [
      one,
      ...jail.roots.filter(({ name }) => name !== "").map(({ name }) => pathIn(name, one)),
    ])
    .filter((one) => one !== "");
  return candidates.map((one) => plainPath(one, jail)).find((one) => isThere(one, jail));
}
