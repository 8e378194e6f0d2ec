/** The configuration key `roots`: several folders instead of one (coder §24). */
import { basename, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { ConfigError } from "../../config/file.ts";
import type { FoundConfig } from "../../config/source.ts";
import { compileGlobSet, GlobError } from "../../text/globs/glob-set.ts";

const Root = Type.Object({
  name: Type.String(),
  path: Type.String({ minLength: 1 }),
  read_only: Type.Boolean({ default: false }),
  non_accessible_globs: Type.Array(Type.String(), { default: [] }),
});

export const RootsKey = Type.Union([Type.Null(), Type.Array(Root)], {
  default: null,
  description:
    "Several folders instead of base_path: a list of mappings of name, path, read_only (false) and non_accessible_globs ([], relative to that folder, besides those for all). Callers see one folder with the names as entries, which itself cannot be changed; globs of the other keys are compared with paths that begin with the name. A name has at most 64 letters, digits, `.`, `_` and `-`, and does not begin with `.`. One root with the name `.` is the same as base_path. null is no such list.",
});

export type RootConfig = Static<typeof Root>;

const wellFormed = /^(?!\.)[A-Za-z0-9._-]{1,64}$/;

/** The configuration keys that select the served folders. */
interface ServedFolders {
  readonly base_path: string;
  readonly roots: readonly RootConfig[] | null;
}

interface Given {
  readonly config: Pick<ServedFolders, "roots">;
  /** The place of the configuration, for error sentences. */
  readonly source: string;
  readonly hasBasePath: boolean;
  /** Whether the command line names the folder to serve. */
  readonly isOverridden: boolean;
}

/** Throws a `ConfigError` for roots that cannot be served together. */
export function requireRoots({ config: { roots }, source, hasBasePath, isOverridden }: Given): void {
  if (roots === null) return;
  const fail = (problem: string) => {
    throw new ConfigError(`${source}: roots: ${problem}`);
  };
  if (hasBasePath) fail("is given beside base_path; leave one of them out.");
  if (isOverridden) fail("is given, and so is --base-path; leave one of them out.");
  if (roots.length === 0) fail("is empty; name a folder, or leave it out.");
  const names = roots.map(({ name }) => name);
  for (const [index, { name, non_accessible_globs: globs }] of roots.entries()) {
    const isOnly = name === "." && roots.length === 1;
    if (!isOnly && !wellFormed.test(name))
      fail(
        `${JSON.stringify(name)} is no name of a root; a name has at most 64 letters, digits, ".", "_" and "-", and does not begin with "."${name === "." ? ", unless it is the only one and `.`" : ""}.`,
      );
    if (names.indexOf(name) !== index) fail(`two of them have the name ${JSON.stringify(name)}.`);
    try {
      compileGlobSet(globs);
    } catch (error) {
      if (!(error instanceof GlobError)) throw error;
      fail(`${name}: non_accessible_globs: ${error.message}`);
    }
  }
}

/**
 * Returns the configuration with the folders of the command line as roots, which have the names of the
 * folders. Throws a `ConfigError` if it has roots of its own.
 */
export function withRoots({ source, keys }: FoundConfig, folders: readonly string[]): FoundConfig {
  const { base_path: _, roots = null, ...others } = keys;
  if (roots !== null)
    throw new ConfigError(
      `${source}: roots: is given, and so are folders on the command line; leave one of them out.`,
    );
  return { source, keys: { ...others, roots: nameRoots(folders) } };
}

/** Returns the folders with names of roots that resemble theirs. */
export function nameRoots(folders: readonly string[]): { readonly name: string; readonly path: string }[] {
  const taken = new Set<string>();
  return folders.map((folder) => {
    const path = resolve(folder);
    const name = freeName(basename(path), taken);
    taken.add(name);
    return { name, path };
  });
}

/** Returns a name of a root that resembles that of its folder. */
function freeName(folder: string, taken: ReadonlySet<string>): string {
  const letters = folder.replaceAll(/[^A-Za-z0-9._-]/g, "-").replace(/^\.+/, "");
  const stem = letters.slice(0, 60) || "folder";
  for (let number = 1; ; number++) {
    const name = number === 1 ? stem : `${stem}-${number}`;
    if (!taken.has(name)) return name;
  }
}

/** Returns the only served folder, or `undefined` if there are several, or one with a name. */
export function onlyRootOf({ base_path: basePath, roots }: ServedFolders): RootConfig | undefined {
  if (roots === null) return { name: ".", path: basePath, read_only: false, non_accessible_globs: [] };
  return roots[0]?.name === "." ? roots[0] : undefined;
}
