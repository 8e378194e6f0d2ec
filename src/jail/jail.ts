/**
 * The jail: the one way from a path on the wire to something on disk.
 *
 * It promises, whatever other unprivileged programs do to the tree meanwhile: each file that is read, and each folder in
 * which a name is made, changed or removed, was reached during the call from the base folder, through real folders and
 * through links that stay inside. No system call follows a link on behalf of a caller. Denied names are decided before
 * the disk is asked, under every spelling and through every link.
 *
 * It does not promise that a folder which is moved out of the base after it was reached is left alone by the one
 * operation under way; that hard links to a denied file, or copies of it, are denied under an allowed name; or anything
 * against root and against mounts that root makes.
 */
import { realpathSync, type Stats, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { refuse } from "../errors.ts";
import type { GlobSet } from "../globs/glob-set.ts";
import type { Backend } from "./backend.ts";
import { isCaseInsensitive, type Trial } from "./case-sensitivity.ts";
import { holdByCurrentDirectory } from "./current-directory.ts";
import { denyRules } from "./deny.ts";
import { holdByDescriptors, openers } from "./descriptors.ts";
import { errnoOf, mapErrno } from "./errno.ts";
import type { BackendName, Folder, Jail, PathHandle, ReadTarget } from "./folder.ts";
import { hasExactNames } from "./folding.ts";
import { hasDirectOpenat } from "./openat.ts";
import { type ParsedPath, parseAbsolutePath, parsePath, validateNewPath } from "./parse.ts";
import { protectFiles } from "./protected.ts";
import { fileSystemType, isPseudo } from "./pseudo.ts";
import { resolveBeneath } from "./resolve-beneath.ts";
import { reasonAgainstOpening, reasonAgainstProcfs } from "./selftest.ts";
import { type WalkRules, walk } from "./walk.ts";

export interface JailOptions {
  /** Host path of the base folder; made canonical once, here. */
  readonly basePath: string;
  /** What callers may see but not touch. */
  readonly deny: GlobSet;
  /** Default: the best that works here. */
  readonly backend?: BackendName | undefined;
  /** Whether deny globs match in folded spelling where names fold, as far as that can be known (default), or everywhere. */
  readonly foldDeny?: "auto" | "always";
  /** What callers send: paths relative to the base (default), or host paths that lie below it. */
  readonly paths?: "relative" | "absolute";
  /** Host paths of files that calls may read and not change, whether they lie below the base or not, or not yet. */
  readonly protectedFiles?: readonly string[] | undefined;
  /** How the spelling of names may be tried. Default: by a file that is made for a moment. */
  readonly trial?: Trial | undefined;
}

/**
 * Opens the jail around a folder. Throws an Error of one sentence, which names host paths and is for the operator, when
 * the folder cannot be used or the machine fails the checks.
 */
export function openJail(options: JailOptions): Jail {
  const { basePath, deny, backend, foldDeny = "auto", paths = "relative", protectedFiles = [] } = options;
  const base = canonicalBase(basePath);
  const roots = linkRoots(base, basePath);
  const held = hold(base, backend);
  const isKnownExact = hasExactNames(fileSystemType(base));
  const rules = denyRules(
    deny,
    foldDeny === "always" || isCaseInsensitive(held.base("."), { isKnownExact, trial: options.trial }),
  );
  const isAbsolute = paths === "absolute";
  const parse = isAbsolute ? (path: string) => parseAbsolutePath(path, roots) : parsePath;
  const walkRules: WalkRules = {
    backend: held,
    linkRoots: roots,
    isRoot: isAbsolute && base === "/",
    // Host paths are those of the system's own programs, which take every name.
    requireNewNames: isAbsolute ? () => {} : validateNewPath,
    denies: rules.denies,
  };
  const protection = protectFiles(base, protectedFiles);
  const admit: Jail["admit"] = (path, options = {}) => {
    const place = walk(walkRules, path, parse(path), options);
    const foldHere = (name: string) => rules.fold(name, place.folder.folding);
    if (options.changes === undefined || !protection.covers(place, options.changes, foldHere)) return place;
    place[Symbol.dispose]();
    throw refuse.absent(path, "denied");
  };
  return {
    baseName: basename(base),
    hostPath: (path) => join(base, path),
    backend: held.name,
    admit,
    resolveForRead: (path) => resolveInOneStep(walkRules, path, parse(path)) ?? admit(path),
    admitFolder: (path) => holdFolder(admit, held, path),
    denies: rules.deniesAny,
    deniesIn: rules.deniesIn,
    deniesBytesIn: rules.deniesBytesIn,
    isProtected: protection.is,
    isTemporary: rules.isTemporary,
    fold: ({ path, folder }) => rules.fold(path, folder.folding),
    close: () => held.close(),
  };
}

/** What the path leads to, when it can be had in one step. */
function resolveInOneStep(
  rules: WalkRules,
  asked: string,
  { names, folderOnly }: ParsedPath,
): ReadTarget | undefined {
  if (folderOnly) return undefined;
  const handle = resolveBeneath(rules, names, (path) => rules.backend.base(asked).openPathBeneath?.(path));
  return handle && new OneStepTarget(asked, handle);
}

class OneStepTarget implements ReadTarget {
  readonly asked: string;
  readonly #handle: PathHandle;

  constructor(asked: string, handle: PathHandle) {
    this.asked = asked;
    this.#handle = handle;
  }

  get stats(): Stats {
    return this.#handle.stats;
  }

  open(): number {
    return this.#handle.open();
  }

  [Symbol.dispose](): void {
    this.#handle.close();
  }
}

function holdFolder(admit: Jail["admit"], backend: Backend, path: string): Folder {
  using place = admit(path);
  if (place.stats?.isDirectory() !== true) throw refuse.notAFolder(path);
  return place.name === "." ? backend.base(path) : mapErrno(path, () => place.folder.child(place.name));
}

function canonicalBase(basePath: string): string {
  try {
    const base = realpathSync(basePath);
    if (statSync(base).isDirectory() && !isPseudo(base)) return base;
  } catch (error) {
    throw new Error(
      `base_path ${JSON.stringify(basePath)} cannot be reached (${errnoOf(error) ?? "unknown"}).`,
    );
  }
  throw new Error(`base_path ${JSON.stringify(basePath)} is not a folder of files.`);
}

/** Both what the operator wrote and what it leads to: people make absolute links by the name they know. */
function linkRoots(base: string, basePath: string): string[] {
  const roots = [base, resolve(basePath)].map((path) => (path === "/" ? path : `${path}/`));
  return [...new Set(roots)];
}

/** Holds the base by the backend that is wanted, or else by the best that passes the checks. */
function hold(base: string, wanted: BackendName | undefined): Backend {
  const name = wanted ?? bestBackend();
  const reason = reasonAgainst(name);
  if (reason !== undefined) throw new Error(`The jail cannot be kept with ${name}: ${reason}`);
  try {
    return name === "current-directory" ? holdByCurrentDirectory(base) : holdByDescriptors(base, name);
  } catch (error) {
    throw new Error(`base_path ${JSON.stringify(base)} cannot be opened (${errnoOf(error) ?? "unknown"}).`);
  }
}

function bestBackend(): BackendName {
  if (reasonAgainstProcfs() !== undefined) return "current-directory";
  return hasDirectOpenat() ? "openat" : "descriptors";
}

function reasonAgainst(name: BackendName): string | undefined {
  if (name === "current-directory") return undefined;
  if (name === "openat" && !hasDirectOpenat()) return "openat(2) cannot be called directly here.";
  return reasonAgainstProcfs() ?? reasonAgainstOpening(openers[name]);
}
