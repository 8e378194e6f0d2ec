/**
 * The jail: the one way from a path on the wire to something on disk.
 *
 * It promises, whatever other unprivileged programs do to the tree meanwhile: the call reached each file that it reads, and
 * each folder in which it makes, changes or removes a name, from the base folder, through real folders and through links
 * that stay inside. No system call follows a link for a caller. The jail decides on denied names before it touches the
 * disk, under every spelling and through every link.
 *
 * It does not promise that the operation under way spares a folder which is moved out of the base after the call has
 * reached it; that hard links to a denied file, or copies of it, are denied under an allowed name; or anything against root
 * and against mounts that root makes.
 */
import { realpathSync, type Stats, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { refuse } from "../errors.ts";
import type { GlobSet } from "../globs/glob-set.ts";
import type { Backend } from "./backend.ts";
import { isCaseInsensitive, type Trial } from "./case-sensitivity.ts";
import { holdByCurrentDirectory } from "./current-directory.ts";
import { type DenyRules, denyRules } from "./deny.ts";
import { holdByDescriptors, openers } from "./descriptors.ts";
import { errnoOf, mapErrno } from "./errno.ts";
import { refuseJailed } from "./errors.ts";
import type {
  BackendName,
  Folder,
  Jail,
  PathHandle,
  ProtectedChange,
  ReadTarget,
  ResolvedPath,
} from "./folder.ts";
import { hasExactNames } from "./folding.ts";
import { hasDirectOpenat } from "./openat.ts";
import { type ParsedPath, parseAbsolutePath, parsePath, validateNewPath } from "./parse.ts";
import { type ProtectedFiles, protectFiles } from "./protected.ts";
import { fileSystemType, isPseudo } from "./pseudo.ts";
import { resolveBeneath } from "./resolve-beneath.ts";
import { reasonAgainstOpening, reasonAgainstProcfs } from "./selftest.ts";
import { type WalkRules, walk } from "./walk.ts";

export interface JailOptions {
  /** Host path of the base folder; `openJail` makes it canonical. */
  readonly basePath: string;
  /** What callers may see but not touch. */
  readonly deny: GlobSet;
  /** What callers may read, and never make or change. Default: nothing. */
  readonly denyWriting?: GlobSet | undefined;
  /** Default: the best that works here. */
  readonly backend?: BackendName | undefined;
  /** Whether deny globs match folded spellings where names fold, as far as that is known (default), or everywhere. */
  readonly foldDeny?: "auto" | "always";
  /** The paths that callers send: relative to the base (default), host paths below it, or either. */
  readonly paths?: "relative" | "absolute" | "either";
  /** Host paths of files that calls may read and not change, below the base or elsewhere, existing or not. */
  readonly protectedFiles?: readonly string[] | undefined;
  /** How to test the case sensitivity of names. Default: by a temporary file. */
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
  const folds =
    foldDeny === "always" || isCaseInsensitive(held.base("."), { isKnownExact, trial: options.trial });
  const rules = denyRules(deny, folds);
  const writing = options.denyWriting && denyRules(options.denyWriting, folds);
  const isAbsolute = paths === "absolute";
  const parse = (path: string) =>
    isAbsolute ? parseAbsolutePath(path, roots) : parsePath(path, paths === "either" ? roots : undefined);
  const walkRules: WalkRules = {
    backend: held,
    linkRoots: roots,
    isRoot: isAbsolute && base === "/",
    // Callers with host paths expect what the system's own programs do, which accept every name.
    requireNewNames: isAbsolute ? () => {} : validateNewPath,
    denies: rules.denies,
  };
  return jailWith({ base, parse, rules, writing, walkRules, protection: protectFiles(base, protectedFiles) });
}

/** What a jail is made of. */
interface Parts {
  readonly base: string;
  readonly parse: (path: string) => ParsedPath;
  readonly rules: DenyRules;
  /** Of what may be read and not be changed; undefined where all may. */
  readonly writing: DenyRules | undefined;
  readonly walkRules: WalkRules;
  readonly protection: ProtectedFiles;
}

function jailWith(parts: Parts): Jail {
  const { base, parse, rules, writing, walkRules, protection } = parts;
  const held = walkRules.backend;
  const refusalOf = (place: ResolvedPath, changes: ProtectedChange) => {
    const foldHere = (name: string) => rules.fold(name, place.folder.folding);
    if (protection.covers(place, changes, foldHere)) return refuse.absent(place.requested, "denied");
    return writing?.deniesBelow(place.names, place.folder.folding)
      ? refuseJailed.protected(place.requested)
      : undefined;
  };
  const admit: Jail["admit"] = (path, options = {}) => {
    const place = walk(walkRules, path, parse(path), options);
    const refusal = options.changes && refusalOf(place, options.changes);
    if (refusal === undefined) return place;
    place[Symbol.dispose]();
    throw refusal;
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
    deniesWritingIn: (folder, name) => writing?.deniesIn(folder, name) ?? false,
    isProtected: protection.is,
    isTemporary: rules.isTemporary,
    fold: ({ path, folder }) => rules.fold(path, folder.folding),
    over(view) {
      const backend = {
        ...held,
        canResolveBeneath: false,
        base: (requested: string) => view.base(requested),
        close() {},
      };
      return jailWith({ ...parts, walkRules: { ...walkRules, backend } });
    },
    close: () => held.close(),
  };
}

/** The target of the path, if one step resolves it. */
function resolveInOneStep(
  rules: WalkRules,
  requested: string,
  { names, folderOnly }: ParsedPath,
): ReadTarget | undefined {
  if (folderOnly) return undefined;
  const handle = resolveBeneath(rules, names, (path) =>
    rules.backend.base(requested).openPathBeneath?.(path),
  );
  return handle && new OneStepTarget(requested, handle);
}

class OneStepTarget implements ReadTarget {
  readonly requested: string;
  readonly #handle: PathHandle;

  constructor(requested: string, handle: PathHandle) {
    this.requested = requested;
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

/** Both the operator's spelling of the base and its canonical path: absolute links may use either. */
function linkRoots(base: string, basePath: string): string[] {
  const roots = [base, resolve(basePath)].map((path) => (path === "/" ? path : `${path}/`));
  return [...new Set(roots)];
}

/** Holds the base by the requested backend, or else by the best that passes the checks. */
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
