/** Opens one folder that callers can reach: the base, or a root among several. */
import { realpathSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { compileGlobSet, type GlobSet } from "../../text/globs/glob-set.ts";
import { type Backend, type BaseName, onlyBase } from "./backend.ts";
import { holdByCurrentDirectory } from "./current-directory.ts";
import { type DenyRules, denyRules } from "./deny-rules.ts";
import { holdByDescriptors, openers } from "./descriptors.ts";
import { errnoOf } from "./errno.ts";
import type { BackendName } from "./folder.ts";
import { refuseJailed } from "./jail-errors.ts";
import { hasExactNames } from "./name-comparison.ts";
import { hasDirectOpenat } from "./openat.ts";
import { isCaseInsensitive, type Trial } from "./probe-case-sensitivity.ts";
import { type ProtectedFiles, protectFiles } from "./protected.ts";
import { fileSystemType, isPseudo } from "./pseudo.ts";
import { rootRules } from "./root-rules.ts";
import { reasonAgainstOpening, reasonAgainstProcfs } from "./selftest.ts";
import { isStateFolderName } from "./state-name.ts";
import { type WriteDenial, type WriteRules, writeRules } from "./write-rules.ts";

/** The rules that all roots share. */
export interface SharedRules {
  /** Globs of entries that callers may see but not touch, with paths from the top. */
  readonly deny: GlobSet;
  /** The rules for files that callers may read, but not create or change. Default: none. */
  readonly denyWriting?: WriteDenial | undefined;
  /** The backend. Default: the best that works here. */
  readonly backend?: BackendName | undefined;
  /**
   * Whether deny globs match folded spellings only in folders known to fold names (default), or everywhere.
   */
  readonly foldDeny?: "auto" | "always";
  /**
   * Whether a path whose sent names are denied is refused with the glob, before the disk is read. Default: it
   * is refused like a missing path.
   */
  readonly namesDenyingGlobs?: boolean;
  /** Host paths of files that calls may read and not change, below the base or elsewhere, existing or not. */
  readonly protectedFiles?: readonly string[] | undefined;
  /** The way to test the case sensitivity of names. Default: with a temporary file. */
  readonly trial?: Trial | undefined;
}

export interface RootOptions {
  /** The name in the top folder; "" for the one base. */
  readonly name: string;
  /** The host path; `openRoot` makes it canonical. */
  readonly path: string;
  /** Globs of entries that callers may see but not touch, with paths from this root. */
  readonly deny?: GlobSet | undefined;
  /** Whether nothing in it may be created or changed. Default: false. */
  readonly isReadOnly?: boolean;
}

/** A folder that callers can reach, held, and the rules for everything in it, with paths from the top. */
export interface OpenRoot {
  readonly name: string;
  /** The canonical path on the host. */
  readonly base: string;
  /** Host paths under which a link with an absolute target may lie, each ending in "/". */
  readonly linkRoots: readonly string[];
  readonly isReadOnly: boolean;
  readonly backend: Backend;
  readonly rules: DenyRules;
  /** The rules for files that may be read and not changed, `undefined` if all may be. */
  readonly writing: WriteRules | undefined;
  readonly protection: ProtectedFiles;
}

/**
 * Opens a folder. Throws an Error of one sentence, which names host paths and is not for callers, if it
 * cannot be used or the machine fails the checks.
 */
export function openRoot(options: RootOptions, shared: SharedRules): OpenRoot {
  const { name, path, isReadOnly = false } = options;
  const quoted = JSON.stringify(path);
  const what = name === "" ? `base_path ${quoted}` : `The path ${quoted} of the root ${JSON.stringify(name)}`;
  const base = canonicalBase(path, what);
  const at: BaseName = name === "" ? onlyBase : { path: name, gone: () => refuseJailed.rootGone(name) };
  const backend = hold({ base, what, at }, shared.backend);
  const folds = doNamesFold(backend, base, { ...shared, ...(isReadOnly && { trial: "no-file" }) });
  const denied = isReadOnly ? { globs: compileGlobSet(["**"]) } : shared.denyWriting;
  return {
    name,
    base,
    linkRoots: linkRoots(base, path),
    isReadOnly,
    backend,
    rules: rootRules(name, denyRules(shared.deny, folds), options.deny && denyRules(options.deny, folds)),
    writing: denied && writeRules(denied, { base, folds }),
    protection: protectFiles(base, shared.protectedFiles ?? []),
  };
}

function doNamesFold(
  backend: Backend,
  base: string,
  { foldDeny = "auto", trial }: Pick<SharedRules, "foldDeny" | "trial">,
): boolean {
  const isKnownExact = hasExactNames(fileSystemType(base));
  return foldDeny === "always" || isCaseInsensitive(backend.base("."), { isKnownExact, trial });
}

function canonicalBase(path: string, what: string): string {
  let reason: string | undefined;
  try {
    const base = realpathSync(path);
    reason = reasonAgainstServing(base);
    if (reason === undefined) return base;
  } catch (error) {
    throw new Error(`${what} cannot be reached (${errnoOf(error) ?? "unknown"}).${adviceOn(path)}`);
  }
  throw new Error(`${what} ${reason}`);
}

/** Returns a sentence on what a path most likely was meant to be, after a blank. */
function adviceOn(path: string): string {
  if (path.startsWith("~")) return " `~` is not expanded; write the whole path.";
  if (path.includes("${"))
    return " A variable is written as `${NAME}`; `${NAME:default}` works in the file of an iii engine only.";
  if (!isAbsolute(path))
    return ` It is relative to ${process.cwd()}; write a whole path, or make the folder.`;
  return " Make the folder, or write the path of another.";
}

function reasonAgainstServing(base: string): string | undefined {
  const stats = statSync(base);
  if (!stats.isDirectory()) return stats.isFile() ? "is a file; name a folder." : "is not a folder.";
  if (isPseudo(base)) return "lies in a file system without files, such as /proc.";
  if (base.split("/").some(isStateFolderName)) return "lies in the state folder of a worker.";
  return undefined;
}

/**
 * Throws the errno error if this user may not enter the folder at `base`, so that nothing in it could be
 * reached.
 */
export const requireEnterable = (base: string): void => void statSync(`${base}/.`);

/**
 * Returns both the configured spelling of the base and its canonical path, since absolute links may use
 * either.
 */
function linkRoots(base: string, path: string): string[] {
  const roots = [base, resolve(path)].map((root) => (root === "/" ? root : `${root}/`));
  return [...new Set(roots)];
}

interface Holding {
  readonly base: string;
  /** The folder in error sentences, with its configured path. */
  readonly what: string;
  readonly at: BaseName;
}

/** Holds the base by the requested backend, or else by the best that passes the checks. */
function hold({ base, what, at }: Holding, wanted: BackendName | undefined): Backend {
  const name = wanted ?? bestBackend();
  const reason = reasonAgainst(name);
  if (reason !== undefined) throw new Error(`The jail cannot be kept with ${name}: ${reason}`);
  try {
    requireEnterable(base);
    return name === "current-directory"
      ? holdByCurrentDirectory(base, at)
      : holdByDescriptors(base, name, at);
  } catch (error) {
    throw new Error(`${what} cannot be opened (${errnoOf(error) ?? "unknown"}).`);
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
