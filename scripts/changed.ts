/** Selects the tests that a change can affect, by the imports of the files and the plan of the house. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plan } from "./house.ts";
import { isForTests, roomOf, stem } from "./rooms.ts";

/** The purpose of a suite in tests/. */
interface Scope {
  /** The folder of its files. */
  readonly folder: string;
  /** The rooms that it tests with everything that they import. A change in any of these belongs to it. */
  readonly through?: readonly string[];
  /** The rooms that it tests, without the rooms that they import, which have suites of their own. */
  readonly of?: readonly string[];
}

const diskRooms = [
  "base/bun",
  "filesystem/operations",
  "coder",
  "filesystem/disk",
  "filesystem/files",
  "search/ignore",
  "search/signatures",
  "filesystem/jail",
  "search",
  "shell",
];

/** The suites by their names. Some run as several steps. */
export const scopes: Readonly<Record<string, Scope>> = {
  conformance: {
    folder: "tests/conformance",
    through: ["cli/call", "coder", "transports/bus", "calls"],
  },
  shell: { folder: "tests/shell", through: ["shell"] },
  mcp: { folder: "tests/mcp", through: ["transports/mcp"] },
  review: { folder: "tests/review", through: ["review", "review/page"] },
  escapes: {
    folder: "tests/security",
    of: [...diskRooms, "base/errors", "text/globs", "calls", "transports/bus"],
  },
  races: { folder: "tests/security", of: diskRooms },
  faults: {
    folder: "tests/faults",
    of: [
      ...diskRooms,
      "text/edits",
      "filesystem/overlay",
      "serve/lifecycle",
      "text/regex",
      "base/scheduling",
      "filesystem/state",
      "base/threads",
      "filesystem/transactions",
      "filesystem/watch",
      "serve/watchdog",
      "calls",
      "transports/bus",
    ],
  },
  "faults-descriptors": {
    folder: "tests/faults",
    of: ["base/bun", "filesystem/operations", "filesystem/disk", "filesystem/files", "filesystem/jail"],
  },
  "faults-current-directory": {
    folder: "tests/faults",
    of: ["base/bun", "filesystem/operations", "filesystem/disk", "filesystem/files", "filesystem/jail"],
  },
  executable: {
    folder: "tests/executable",
    of: [
      "base/about",
      "config/arguments",
      "base/bun",
      "cli/completions",
      "cli/licenses",
      "cli/man",
      "cli/setup",
      "main",
      "calls/reference",
      "text/sizes",
      "base/threads",
      "base/wasm",
    ],
  },
};

/** A set of test files, such as those of `scripts/check.ts`. */
export interface SuiteFiles {
  readonly name: string;
  readonly files: readonly string[];
}

/** A test file, in one of the suites that run it. */
export interface TestFile {
  readonly suite: string;
  readonly file: string;
}

/** The files that each file imports. Paths are relative to the root. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/**
 * The files that everything depends on: the runtime, packages, compiler options, published references, and
 * the list of tests.
 */
const ofAll =
  /^(package(-lock)?\.json|tsconfig[^/]*\.json|bunfig\.toml|scripts\/(build|check|changed)\.ts)$|\.golden\.json$/;

/** The distances between a test and a change that it does not import. Imports count one each. */
const distances = { sameFolder: 50, ofRoom: 100, throughRoom: 200 } as const;

/**
 * Returns the test files that can notice a change of these files, the nearest first: those that import one of
 * them, directly or indirectly; those of a suite whose scope includes the room of one; and those of a suite
 * with a changed file that no test imports, such as a program that its tests start. Paths are relative to the
 * root, with `/`.
 */
export function touchedBy(
  changed: readonly string[],
  suites: readonly SuiteFiles[],
  { plan, imports }: { readonly plan: Plan; readonly imports: Imports },
): TestFile[] {
  const isOfAll = changed.some((path) => ofAll.test(path));
  const near = distancesFrom(changed, imports);
  const scope = scopeDistances(changed, plan);
  const started = new Set(changed.filter((path) => !isImported(path, imports)).map(folderOf));
  const distanceOf = (suite: string, file: string): number => {
    if (isOfAll) return 0;
    const beside = started.has(folderOf(file)) ? distances.sameFolder : Infinity;
    return Math.min(near.get(file) ?? Infinity, scope.get(suite) ?? Infinity, beside);
  };
  return suites
    .flatMap(({ name: suite, files }) =>
      files.map((file) => ({ suite, file, distance: distanceOf(suite, file) })),
    )
    .filter(({ distance }) => distance < Infinity)
    .toSorted((one, other) => one.distance - other.distance)
    .map(({ suite, file }) => ({ suite, file }));
}

/** Returns the folder of a suite, or of the scripts, or the empty text for all other files. */
const folderOf = (path: string): string => /^(tests\/[^/]+|scripts)\//.exec(path)?.[1] ?? "";

/**
 * Returns whether a test imports the file, directly or indirectly. Files outside of these folders need no
 * test.
 */
const isImported = (path: string, imports: Imports): boolean =>
  folderOf(path) === "" ||
  [...distancesFrom([path], imports).keys()].some((file) => file.endsWith(".test.ts"));

/** Returns the number of imports between each file and the nearest of `changed`. */
function distancesFrom(changed: readonly string[], imports: Imports): ReadonlyMap<string, number> {
  const importers = new Map<string, string[]>();
  for (const [file, imported] of imports)
    for (const other of imported) importers.set(other, [...(importers.get(other) ?? []), file]);
  const found = new Map(changed.map((path) => [path, 0]));
  // A map also visits entries added during the loop.
  for (const [path, distance] of found)
    for (const importer of importers.get(path) ?? [])
      if (!found.has(importer)) found.set(importer, distance + 1);
  return found;
}

/** Returns the distances of the suites whose scope includes a changed room. */
function scopeDistances(changed: readonly string[], plan: Plan): ReadonlyMap<string, number> {
  const rooms = roomsOf(changed, plan);
  const touched = roomsAbove(rooms, plan);
  return new Map(
    Object.entries(scopes).flatMap(([name, { through = [], of = [] }]): [string, number][] => {
      if (of.some((room) => rooms.has(room))) return [[name, distances.ofRoom]];
      return through.some((room) => touched.has(room)) ? [[name, distances.throughRoom]] : [];
    }),
  );
}

/** Returns the rooms of the sources among these paths. */
function roomsOf(paths: readonly string[], plan: Plan): Set<string> {
  const sources = paths.filter((path) => path.startsWith("src/") && !isForTests(path));
  return new Set(sources.flatMap((path) => roomOf(stem(path), plan.rooms) ?? []));
}

/** Returns these rooms, and every room that imports them, directly or indirectly. */
function roomsAbove(rooms: ReadonlySet<string>, plan: Plan): ReadonlySet<string> {
  const found = new Set(rooms);
  // A set also visits entries added during the loop.
  for (const room of found)
    for (const [above, imported] of Object.entries(plan.rooms)) if (imported.includes(room)) found.add(above);
  return found;
}

/** Reads the imports of all files of the project. */
export function readImports(root: string): Imports {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  const paths = [...new Bun.Glob("{src,scripts,tests}/**/*.ts").scanSync(root)];
  return new Map(
    paths.map((path) => {
      const imported = transpiler
        .scanImports(readFileSync(join(root, path), "utf8"))
        .flatMap(({ path: name }) => (name.startsWith(".") ? [join(dirname(path), name)] : []));
      return [path, imported.filter((name) => existsSync(join(root, name)))] as const;
    }),
  );
}

/**
 * Returns the files that differ from `ref`, including new ones. The default `ref` is the commit where this
 * branch left the main one, or on the main branch its last commit. Throws git's message if there is no such
 * commit.
 */
export function changedFiles(root: string, ref: string | undefined): string[] {
  const git = (...args: string[]): string[] => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(["git", "-C", root, ...args]);
    if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString().trim()}`);
    return stdout.toString().split("\0").join("\n").split("\n").filter(Boolean);
  };
  const since = ref ?? branchPoint(git);
  return [
    // Both names of a moved file count, because the room that it left has changed too.
    ...git("diff", "--name-only", "--no-renames", "-z", since, "--"),
    ...git("ls-files", "--others", "--exclude-standard", "-z"),
  ];
}

function branchPoint(git: (...args: string[]) => string[]): string {
  const mains = git("for-each-ref", "--format=%(refname)", "refs/remotes/origin/main", "refs/heads/main");
  const main = mains.find((name) => name.startsWith("refs/remotes/")) ?? mains[0];
  return (main === undefined ? undefined : git("merge-base", "HEAD", main)[0]) ?? "HEAD";
}
