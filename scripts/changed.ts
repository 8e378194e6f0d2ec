/** `npm test -- --changed [REF]`: what a change can touch, by the plan of the house. */
import type { Plan } from "./house.ts";
import { isForTests, roomOf, stem } from "./rooms.ts";

/** What a suite of tests/ is there to notice. */
interface Scope {
  /** Where its files are. */
  readonly folder: string;
  /** It tries what these rooms do with all that they import: a change below them belongs to it. */
  readonly through?: readonly string[];
  /** It tries these rooms themselves; what they import has suites of its own. */
  readonly of?: readonly string[];
}

const diskRooms = ["bun", "coder", "files", "ignore", "index", "jail", "search", "shell"];

/** The suites by their names; some run as several steps. */
export const scopes: Readonly<Record<string, Scope>> = {
  conformance: { folder: "tests/conformance", through: ["call", "coder", "run", "worker"] },
  shell: { folder: "tests/shell", through: ["shell"] },
  mcp: { folder: "tests/mcp", through: ["mcp"] },
  escapes: { folder: "tests/security", of: [...diskRooms, "errors", "globs", "worker"] },
  races: { folder: "tests/security", of: diskRooms },
  faults: {
    folder: "tests/faults",
    of: [
      ...diskRooms,
      "edits",
      "process",
      "regex",
      "run",
      "scheduling",
      "state",
      "threads",
      "transactions",
      "watch",
      "watchdog",
      "worker",
    ],
  },
  "faults-descriptors": { folder: "tests/faults", of: ["bun", "files", "jail"] },
  "faults-current-directory": { folder: "tests/faults", of: ["bun", "files", "jail"] },
  executable: {
    folder: "tests/executable",
    of: ["about", "arguments", "bun", "licenses", "main", "reference", "text", "threads", "wasm"],
  },
};

export interface Selection {
  /** Paths of unit tests. */
  readonly unit: readonly string[];
  /** Names of suites. */
  readonly suites: readonly string[];
}

/** What everything depends on: runtime, packages, how they are compiled, what was published, and which tests there are. */
const ofAll =
  /^(package(-lock)?\.json|tsconfig[^/]*\.json|bunfig\.toml|scripts\/(build|check|changed)\.ts)$|\.golden\.json$/;

/**
 * What belongs to these changed files. The rooms they are in, and all rooms above, have their unit tests run; a suite is
 * run when its scope has one of those rooms in it, or when its own files have changed. Paths are from the root, with `/`;
 * `unitTests` are all that there are.
 */
export function select(changed: readonly string[], plan: Plan, unitTests: readonly string[]): Selection {
  if (changed.some((path) => ofAll.test(path))) return { unit: unitTests, suites: Object.keys(scopes) };
  return { unit: unitTestsFor(changed, plan, unitTests), suites: suitesFor(changed, plan) };
}

function unitTestsFor(changed: readonly string[], plan: Plan, unitTests: readonly string[]): string[] {
  // A kit is used by the tests of rooms above it, as its room is.
  const rooms = roomsAbove(
    roomsOf(changed, plan, (path) => !path.endsWith(".test.ts")),
    plan,
  );
  return unitTests.filter((path) => {
    if (changed.includes(path)) return true;
    if (path.startsWith("scripts/")) return changed.some((other) => other.startsWith("scripts/"));
    const own = roomsOf([path], plan);
    // A test in no room is one of the whole.
    return own.size === 0 ? rooms.size > 0 : [...own].some((room) => rooms.has(room));
  });
}

function suitesFor(changed: readonly string[], plan: Plan): string[] {
  const rooms = roomsOf(changed, plan, (path) => !isForTests(path));
  const touched = roomsAbove(rooms, plan);
  const belongs = ({ folder, through = [], of = [] }: Scope): boolean =>
    through.some((room) => touched.has(room)) ||
    of.some((room) => rooms.has(room)) ||
    changed.some((path) => path.startsWith(`${folder}/`) || path.startsWith("tests/harness/"));
  return Object.keys(scopes).filter((name) => belongs(scopes[name]!));
}

/** The rooms of those paths that are in src, and that `counts` lets count. */
function roomsOf(
  paths: readonly string[],
  plan: Plan,
  counts: (path: string) => boolean = () => true,
): Set<string> {
  const inSrc = paths.filter((path) => path.startsWith("src/") && counts(path));
  return new Set(inSrc.flatMap((path) => roomOf(stemOfTried(path), plan.rooms) ?? []));
}

/** The stem of a source, and of the source that a test stands beside. */
const stemOfTried = (path: string): string => stem(path).replace(/\.(test|test-kit)$/, "");

/** These rooms, and every room that imports them, be it through others. */
function roomsAbove(rooms: ReadonlySet<string>, plan: Plan): ReadonlySet<string> {
  const found = new Set(rooms);
  // A set visits what is added while it is walked.
  for (const room of found)
    for (const [above, imported] of Object.entries(plan.rooms)) if (imported.includes(room)) found.add(above);
  return found;
}

/**
 * The files that differ from `ref`, those not yet added included. Without a `ref`: from where this branch left the main
 * one, and on the main branch itself from its last commit. Throws what git says where there is no such commit.
 */
export function changedFiles(root: string, ref: string | undefined): string[] {
  const git = (...args: string[]): string[] => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(["git", "-C", root, ...args]);
    if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString().trim()}`);
    return stdout.toString().split("\0").join("\n").split("\n").filter(Boolean);
  };
  const since = ref ?? branchPoint(git);
  return [
    // Both names of a file that was moved: the room that it left has changed too.
    ...git("diff", "--name-only", "--no-renames", "-z", since, "--"),
    ...git("ls-files", "--others", "--exclude-standard", "-z"),
  ];
}

function branchPoint(git: (...args: string[]) => string[]): string {
  const mains = git("for-each-ref", "--format=%(refname)", "refs/remotes/origin/main", "refs/heads/main");
  const main = mains.find((name) => name.startsWith("refs/remotes/")) ?? mains[0];
  const [head] = git("rev-parse", "HEAD");
  const [point] = main === undefined ? [] : git("merge-base", "HEAD", main);
  return point === undefined || point === head ? "HEAD~1" : point;
}
