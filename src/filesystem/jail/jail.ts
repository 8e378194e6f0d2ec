/**
 * The jail: the one way from a path on the wire to something on disk.
 *
 * It promises, whatever other unprivileged programs do to the tree at the same time: the call reached each
 * file that it reads, and each folder in which it creates, changes or removes a name, from the base folder,
 * through real folders and through links that stay inside. No system call follows a link for a caller. The
 * jail decides on denied names before it touches the disk, under every spelling and through every link.
 *
 * It does not promise that a running operation spares a folder which is moved out of the base after the call
 * has reached it; that hard links to a denied file, or copies of it, are denied under an allowed name; or
 * anything against root and against mounts that root makes.
 */
import type { Stats } from "node:fs";
import { basename, join } from "node:path";
import { type Refusal, refuse } from "../../base/errors.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { type Backend, pathIn } from "./backend.ts";
import { denyRules } from "./deny-rules.ts";
import { mapErrno } from "./errno.ts";
import type { AdmitOptions, Folder, Jail, PathHandle, ReadTarget, ResolvedPath, TreeView } from "./folder.ts";
import { refuseJailed } from "./jail-errors.ts";
import { type OpenRoot, openRoot, type RootOptions, type SharedRules } from "./open-root.ts";
import { type ParsedPath, parseAbsolutePath, parseInRoots, parsePath, validateNewPath } from "./parse.ts";
import { openFolderBeneath, resolveBeneath } from "./resolve-beneath.ts";
import { pathInRoot, rulesOfRoots } from "./root-rules.ts";
import { onlyRoot, type RootSet, Roots } from "./roots.ts";
import { type PathScope, resolveScope, resolveSession } from "./scope.ts";
import { holdRoots } from "./top-folder.ts";
import { type WalkRules, walk } from "./walk.ts";

export interface JailOptions extends SharedRules, Pick<RootOptions, "isReadOnly"> {
  /** The host path of the base folder; `openJail` makes it canonical. */
  readonly basePath: string;
  /** The paths that callers send: relative to the base (default), host paths below it, or either. */
  readonly paths?: "relative" | "absolute" | "either";
}

/**
 * Opens the jail around a folder. Throws an Error of one sentence, which names host paths and is not for
 * callers, if the folder cannot be used or the machine fails the checks.
 */
export function openJail({ basePath, paths = "relative", isReadOnly = false, ...shared }: JailOptions): Jail {
  const root = openRoot({ name: "", path: basePath, isReadOnly }, shared);
  const { linkRoots, backend, rules } = root;
  const isAbsolute = paths === "absolute";
  const parseAbsolute = (path: string) => parseAbsolutePath(path, linkRoots);
  const parseEither = (path: string) =>
    isAbsolute && path.startsWith("/") ? parseAbsolute(path) : parsePath(path, linkRoots);
  const parses = {
    relative: (path: string) => parsePath(path),
    absolute: parseAbsolute,
    either: parseEither,
  };
  const parse = parses[paths];
  const walkRules: WalkRules = {
    backend,
    linkRoots: () => linkRoots,
    rootDepth: 0,
    isRoot: isAbsolute && root.base === "/",
    // Callers with host paths expect the behaviour of the system's own programs, which accept every name.
    requireNewNames: isAbsolute ? () => {} : validateNewPath,
    denies: rules.denies,
    deniesBelow: rules.deniesBelow,
  };
  return jailWith({
    roots: onlyRoot(root),
    parse,
    parseEither,
    rules,
    walkRules,
    namesDenyingGlobs: shared.namesDenyingGlobs,
  });
}

export interface RootsOptions extends SharedRules {
  /** The roots, at least one. */
  readonly roots: readonly RootOptions[];
  /** The paths that callers send: relative to the top folder (default), or host paths in a root as well. */
  readonly paths?: "relative" | "either";
}

/**
 * Opens a jail around several folders, the roots, which callers see as the entries of one folder that cannot
 * be changed. Each root is a step.
 */
export function* openRootsJail({ roots: options, paths = "relative", ...shared }: RootsOptions): Steps<Jail> {
  const roots = yield* Roots.open(options, shared);
  const rules = rulesOfRoots(roots, denyRules(shared.deny, false));
  const walkRules: WalkRules = {
    backend: holdRoots(roots),
    linkRoots: (path) => roots.at(path)?.linkRoots ?? [],
    rootDepth: 1,
    isRoot: false,
    requireNewNames: validateNewPath,
    denies: rules.denies,
    deniesBelow: rules.deniesBelow,
  };
  const parseEither = (path: string) =>
    path.startsWith("/") ? parseInRoots(path, roots.all) : parsePath(path);
  const parse = paths === "either" ? parseEither : (path: string) => parsePath(path);
  const { namesDenyingGlobs } = shared;
  return jailWith({ roots, parse, parseEither, rules, walkRules, namesDenyingGlobs });
}

/** The parts that a jail is made of. */
interface Parts {
  readonly roots: RootSet;
  readonly parse: (path: string) => ParsedPath;
  /** Parses a path in a scope, which hosts send: also a host path below the base or a root. */
  readonly parseEither: (path: string) => ParsedPath;
  readonly rules: OpenRoot["rules"];
  readonly walkRules: WalkRules;
  readonly namesDenyingGlobs: boolean | undefined;
}

function jailWith(parts: Parts): Jail {
  const { roots, rules, walkRules } = parts;
  const { backend: held, scope } = walkRules;
  const parseAllowed = (path: string) => requireAllowedNames(parts, path, parseIn(parts, path));
  const admit: Jail["admit"] = (path, options = {}) => {
    const parsed = options.deniedIsMissing ? parseIn(parts, path) : parseAllowed(path);
    const place = walk(walkRules, path, parsed, options);
    const refusal =
      options.changes &&
      (scope?.refusalOfChange(path, place.path, options.changes) ??
        refusalOfChange(roots, place, options) ??
        held.goneAt(place.path));
    if (refusal === undefined) return place;
    place[Symbol.dispose]();
    throw refusal;
  };
  const scoped = scopedJail(parts, parts.parse);
  const scopedForHost = scopedJail(parts, parts.parseEither);
  const jail: Jail = {
    ...membersOnRoots(roots),
    backend: held.name,
    admit,
    resolveForRead: (path) => resolveInOneStep(walkRules, path, parseAllowed(path)) ?? admit(path),
    plainPath: (path) => plainPath(walkRules, path, parseAllowed(path)),
    admitFolder: (path) => holdFolder(admit(path), held),
    reopenFolder: (path) => reopenFolder(walkRules, path),
    denies: rules.deniesAny,
    deniesIn: rules.deniesIn,
    deniesBytesIn: rules.deniesBytesIn,
    deniesChange: (path) => deniesChange(roots, path),
    deniesWritingIn: (folder, name) =>
      roots.at(folder.path || name)?.writing?.deniesIn(folder, name) ?? false,
    deniesWritingAllIn: (folder, name) =>
      roots.at(folder.path || name)?.writing?.deniesAllIn(folder, name) ?? false,
    mayDenyWritingBelow: ({ path, names, folder }) =>
      roots.at(path)?.writing?.mayDenyBelow(names, folder.folding) ?? false,
    mayGoWhole: ({ path, names, folder }) =>
      roots.at(path)?.writing?.mayGoWhole(names, folder.folding) ?? true,
    namedByGit: (path) => namedByGit(roots, path),
    protectedPaths: protectedIn(roots),
    isProtected: (stats) => roots.all.some(({ protection }) => protection.is(stats)),
    goneAt: (path) => held.goneAt(path),
    isTemporary: rules.isTemporary,
    fold: ({ path, folder }) => rules.fold(path, folder.folding),
    scope,
    fromBase: () => (scope === undefined ? jail : scoped(scope.fromBase())),
    within: (request) => scoped(resolveScope(scopedForHost, request)),
    withinSession: (request) => scopedForHost(resolveSession(scopedForHost, request)),
    over: (view) => jailWith({ ...parts, walkRules: rulesOver(view, walkRules) }),
    close: () => held.close(),
  };
  return jail;
}

/** Returns the members of a jail that are about its roots. */
const membersOnRoots = (roots: RootSet) =>
  ({
    roots: roots.all.map(({ name, base, isReadOnly }) => ({ name: name || ".", hostPath: base, isReadOnly })),
    hasTop: roots.hasTop,
    missingRoots: roots.missing,
    goneRoots: () => roots.gone(),
    rootOf: (path: string) => roots.at(path)?.name ?? "",
    isReadOnly: (path: string) => roots.at(path)?.isReadOnly ?? true,
    baseName: roots.hasTop ? "." : basename(roots.all[0]!.base),
    hostPath: (path: string) => hostPathIn(roots, path),
  }) satisfies Partial<Jail>;

const scopedJail =
  (parts: Parts, parse: Parts["parse"]) =>
  (scope: PathScope | undefined): Jail =>
    jailWith({ ...parts, parse, walkRules: { ...parts.walkRules, scope } });

/** Returns the rules of walks that see a view of the tree instead of the disk. */
function rulesOver(view: TreeView, rules: WalkRules): WalkRules {
  const base = (requested: string) => view.base(requested);
  return { ...rules, backend: { ...rules.backend, base, close() {} } };
}

/** Parses a path. In a scope, a relative one starts at the scope's root. */
function parseIn({ parse, walkRules: { scope } }: Parts, path: string): ParsedPath {
  const parsed = parse(path);
  if (scope === undefined || path.startsWith("/")) return parsed;
  return { ...parsed, names: [...scope.root, ...parsed.names] };
}

/**
 * Returns the parsed path. Throws if the sent names are denied and not excluded by a scope. A `..` removes
 * the name before it, even if that is a link.
 */
function requireAllowedNames(parts: Parts, path: string, parsed: ParsedPath): ParsedPath {
  const { roots, rules, walkRules, namesDenyingGlobs = false } = parts;
  if (!namesDenyingGlobs) return parsed;
  const { names } = parsed;
  if (!names.includes("..") && !rules.deniesBelow(names, "exact")) return parsed;
  const plain: string[] = [];
  /** For each of them, its path, and whether that is denied, or a path above it. */
  const levels: { readonly path: string; readonly isDenied: boolean }[] = [];
  for (const [index, name] of names.entries()) {
    if (name === "..") {
      plain.pop();
      levels.pop();
    } else {
      const above = levels.at(-1);
      const at = pathIn(above?.path ?? "", name);
      levels.push({ path: at, isDenied: above?.isDenied || rules.denies(at, "exact") });
      plain.push(name);
    }
    if (names[index + 1] !== ".." && index < names.length - 1) continue;
    if (levels.at(-1)?.isDenied !== true || walkRules.scope?.contains(plain.join("/")) === false) continue;
    const served = roots.servedAs(plain);
    if (served !== undefined) throw refuseJailed.inOtherRoot(path, served);
    const glob = rules.denyingGlob(plain);
    if (glob !== undefined) throw refuseJailed.denied(path, glob);
  }
  return parsed;
}

/** Returns whether a path is denied or may not be changed, judged by its names alone. */
function deniesChange(roots: RootSet, path: string): boolean {
  const root = roots.at(path);
  const names = path.split("/");
  if (root === undefined || (roots.hasTop && names.length === 1)) return true;
  const { rules, protection, writing } = root;
  const inRoot = { path: pathInRoot(root.name, path), newFolders: [], stats: undefined };
  return (
    rules.deniesAny(names) ||
    protection.covers(inRoot, "tree", (one) => rules.fold(one, "exact")) ||
    writing?.refusalOf({ ...inRoot, names, folding: "exact" }, "tree") !== undefined
  );
}

const protectedIn = ({ all }: RootSet): string[] =>
  all.flatMap(({ base, protection }) => protection.paths.map((path) => join(base, path)));

/** Returns the host paths of what the configuration of git names for the working tree at a path. */
function namedByGit(roots: RootSet, path: string): string[] {
  const root = roots.at(path);
  if (root?.writing === undefined) return [];
  const named = root.writing.namedByGit(root.name, pathInRoot(root.name, path));
  return named.map((one) => join(root.base, one));
}

/** Returns the refusal of a change at a place, if it is not allowed. */
function refusalOfChange(
  roots: RootSet,
  place: ResolvedPath,
  { changes = "entry", remade }: AdmitOptions,
): Refusal | undefined {
  const { requested, path, newFolders, stats, folder } = place;
  const root = roots.at(path);
  if (roots.hasTop && root === undefined) return refuseJailed.top(requested, writableOf(roots));
  if (roots.hasTop && folder.path === "") return refuseJailed.rootItself(requested, writableOf(roots));
  const { name, protection, rules, writing, isReadOnly } = root!;
  const foldHere = (one: string) => rules.fold(one, folder.folding);
  if (protection.covers({ path: pathInRoot(name, path), newFolders, stats }, changes, foldHere))
    return refuse.absent(requested, "denied");
  if (isReadOnly && roots.hasTop) return refuseJailed.readOnlyRoot(requested, name, writableOf(roots));
  if (writing === undefined) return undefined;
  const { names } = place;
  const inRoot = { path: pathInRoot(name, path), newFolders, stats, names, folding: folder.folding };
  const isRemade = remade !== undefined && path.startsWith(`${remade}/`);
  const refusal = writing.refusalOf(inRoot, changes, isRemade);
  return refusal && refuseJailed.protected(requested, refusal.program);
}

const writableOf = ({ all }: RootSet): string[] =>
  all.filter(({ isReadOnly }) => !isReadOnly).map(({ name }) => name);

function hostPathIn(roots: RootSet, path: string): string {
  const root = roots.at(path);
  if (root === undefined) throw new Error("the top folder has no host path");
  return join(root.base, pathInRoot(root.name, path));
}

/** Returns the target of the path, if one step resolves it. */
function resolveInOneStep(
  rules: WalkRules,
  requested: string,
  { names, folderOnly }: ParsedPath,
): ReadTarget | undefined {
  if (folderOnly || rules.scope?.contains(names.join("/")) === false) return undefined;
  const handle = resolveBeneath(rules, names, (path) =>
    rules.backend.base(requested).openPathBeneath?.(path),
  );
  return handle && new OneStepTarget(requested, handle);
}

/** Implements `Jail.plainPath`. */
function plainPath(rules: WalkRules, requested: string, parsed: ParsedPath): string | undefined {
  using target = resolveInOneStep(rules, requested, parsed);
  return target && parsed.names.join("/");
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

/** Implements `Jail.reopenFolder`. */
function reopenFolder(walkRules: WalkRules, path: string): Folder {
  const rules = { ...walkRules, scope: undefined };
  const { backend } = rules;
  const parsed = parsePath(path || ".");
  const opened = openFolderBeneath(rules, backend.base(path), parsed.names);
  return opened ?? holdFolder(walk(rules, path, parsed, {}), backend);
}

/** Holds the folder at a place, and closes the place. */
function holdFolder(admitted: ResolvedPath, backend: Backend): Folder {
  using place = admitted;
  const { requested } = place;
  if (place.stats?.isDirectory() !== true) throw refuse.notAFolder(requested);
  return place.name === "."
    ? backend.base(requested)
    : mapErrno(requested, () => place.folder.child(place.name));
}
