/**
 * `npm test`: checks everything that a change can affect, in at most 90 seconds, or the whole project. The
 * whole is checked with `--all`, on a server (`CI`), and if the tree does not differ from the branch that it
 * will land on. A step that fails does not keep the others from running. The last line says
 * `N passed, N failed`; a step that is not a test suite counts as one.
 *
 *     npm test -- --all
 *     npm test -- --since origin/main
 *     npm test -- src/text/edits tests/mcp/flags.test.ts
 *     npm test -- --only unit,rooms
 *     npm test -- --only unit,escapes,faults --as nobody
 *     npm test -- --only faults --backend current-directory
 */
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, statfsSync } from "node:fs";
import { availableParallelism, freemem, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  type Batch,
  batchesInOrder,
  batchesOf,
  readSeconds,
  type Seconds,
  secondsOf,
  withinBudget,
  writeSeconds,
} from "./batches.ts";
import { root } from "./build.ts";
import { changedFiles, readImports, type TestFile, touchedBy } from "./changed.ts";
import { plan } from "./house.ts";

/** A check that is not a test suite. */
interface Check {
  readonly name: string;
  readonly command: readonly string[];
  readonly seconds: number;
}

/** The compiled executable, or a browser, which `.ci/run` may still be installing. */
export type Need = "build" | "browser";

/** A set of test files. */
export interface Suite {
  readonly name: string;
  /** The globs of its files. */
  readonly files: readonly string[];
  readonly except?: string;
  /** The things that must be there before it starts. */
  readonly needs?: readonly Need[];
  /** The globs of its files that make their temporary folders in memory, if possible. */
  readonly inMemory?: readonly string[];
  /**
   * The globs of those among them that need another file system, because they are about files that the index
   * trusts, about paths of a certain depth or outside of /dev, or about mounts.
   */
  readonly onDisk?: readonly string[];
  /** The backend that holds the jail's folders; by default the best one that works on this machine. */
  readonly backend?: string;
}

/** The way to run test suites, if not the default. */
interface Manner {
  /** The user who runs them. Only root may choose one. */
  readonly as?: string | undefined;
  /** The backend for suites without one of their own. */
  readonly backend?: string | undefined;
}

const bun = process.execPath;
const tool = (name: string) => join(root, "node_modules/.bin", name);

/** The checks, in the order of the output. */
const checks: readonly Check[] = [
  { name: "build", command: [bun, "scripts/build.ts"], seconds: 4 },
  {
    name: "format",
    command: [tool("biome"), "ci", "--colors=off", "--error-on-warnings", "."],
    seconds: 4,
  },
  { name: "types", command: [tool("tsc"), "--noEmit", "-p", "tsconfig.json"], seconds: 9 },
  { name: "types-node", command: [tool("tsc"), "--noEmit", "-p", "tsconfig.node.json"], seconds: 5 },
  {
    name: "types-page",
    command: [tool("tsc"), "--noEmit", "-p", "src/review/page/tsconfig.json"],
    seconds: 3,
  },
  { name: "rooms", command: [bun, "scripts/rooms.ts"], seconds: 4 },
  { name: "names", command: [bun, "scripts/names.ts"], seconds: 3 },
  { name: "measure", command: [bun, "scripts/measure.ts"], seconds: 3 },
  { name: "reference", command: [bun, "scripts/reference.ts", "--check"], seconds: 1 },
  { name: "licenses", command: [bun, "scripts/licenses.ts", "--check"], seconds: 1 },
];

const race = "tests/security/**/race.test.ts";

/** The fault tests that depend on how the jail holds folders. */
const faultsOfBackends = ["blocking", "disk", "tampering", "two-workers"].map(
  (name) => `tests/faults/${name}.test.ts`,
);

export const suites: readonly Suite[] = [
  {
    name: "unit",
    files: ["src/**/*.test.ts", "scripts/**/*.test.ts"],
    inMemory: [
      "src/filesystem/files/[!l]*.test.ts",
      "src/filesystem/{operations,disk,journal,overlay,transactions}/*.test.ts",
      "src/{coder,shell,review,serve,transports}/**/*.test.ts",
    ],
    onDisk: ["src/coder/saved-index.test.ts", "src/coder/read-file/part.property.test.ts"],
  },
  {
    name: "conformance",
    files: ["tests/conformance/**/*.test.ts", "tests/harness/**/*.test.ts"],
    needs: ["build"],
    inMemory: ["tests/conformance/**/*.test.ts"],
    onDisk: ["tests/conformance/reload.test.ts"],
  },
  {
    name: "shell",
    files: ["tests/shell/**/*.test.ts"],
    needs: ["build"],
    inMemory: ["tests/shell/**/*.test.ts"],
    onDisk: ["tests/shell/{source,executable}.test.ts", "tests/shell/os-sandbox/*.test.ts"],
  },
  {
    name: "mcp",
    files: ["tests/mcp/**/*.test.ts"],
    needs: ["build"],
    inMemory: ["tests/mcp/**/*.test.ts"],
  },
  { name: "review", files: ["tests/review/**/*.test.ts"], needs: ["build", "browser"] },
  {
    name: "escapes",
    files: ["tests/security/**/*.test.ts"],
    except: race,
    needs: ["build"],
    inMemory: ["tests/security/**/*.test.ts"],
    onDisk: ["tests/security/controls.test.ts"],
  },
  { name: "races", files: [race], needs: ["build"], inMemory: [race] },
  {
    name: "faults",
    files: ["tests/faults/**/*.test.ts"],
    needs: ["build"],
    inMemory: ["tests/faults/**/*.test.ts"],
    onDisk: ["tests/faults/{storm,disk,crash,journal,transactions}.test.ts"],
  },
  ...["descriptors", "current-directory"].map(
    (backend): Suite => ({
      name: `faults-${backend}`,
      files: faultsOfBackends,
      needs: ["build"],
      inMemory: faultsOfBackends,
      backend,
    }),
  ),
  { name: "executable", files: ["tests/executable/**/*.test.ts"], needs: ["build"] },
];

/** Returns the test files of a suite, relative to the root. */
export function filesOf({ files, except }: Suite): string[] {
  const found = files.flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)]);
  const excluded = except === undefined ? undefined : new Bun.Glob(except);
  return [...new Set(found)].filter((path) => excluded?.match(path) !== true).sort();
}

/** The names that `--only` takes. */
export const stepNames: readonly string[] = [...checks, ...suites].map(({ name }) => name);

/** A task to run: a check, or a batch of the files of a suite. */
interface Task {
  /** The name of the check or suite. */
  readonly name: string;
  readonly command: readonly string[];
  readonly seconds: number;
  readonly isSuite: boolean;
  readonly needs: readonly Need[];
  readonly inMemory: boolean;
  readonly backend: string | undefined;
  /** The paths of its test files from the root; a check has none. */
  readonly files: readonly string[];
}

interface Outcome {
  readonly counts: Counts;
  readonly seconds: number;
  /** The output, which is shown if it failed. */
  readonly output: string;
  /** The seconds of each test file. */
  readonly measured: Seconds;
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * The command that runs tests. A test that hangs fails after two minutes, and none fails for being slow on a
 * slow machine.
 */
const testing = [bun, "test", "--timeout=120000", "--only-failures"];

/**
 * Minimum seconds of a file that gets a global object of its own. Garbage of earlier files has slowed long
 * ones down to a fifth, and for short ones loading the modules again takes a third of the time.
 */
const isolatedSeconds = 8;

const taskOf = ({ name, command, seconds }: Check): Task => ({
  ...{ name, command, seconds },
  ...{ isSuite: false, needs: [], inMemory: false, backend: undefined, files: [] },
});

/** Returns the key of a file in the measured seconds. */
const keyOf = (file: string, backend: string | undefined): string =>
  backend === undefined ? file : `${file}@${backend}`;

type Divide = (files: readonly string[], seconds: Seconds) => readonly Batch[];

function tasksOf(suite: Suite, files: readonly string[], divide: Divide = batchesOf): Task[] {
  const { name, needs = [], inMemory = [], onDisk = [], backend } = suite;
  const all = readSeconds(root);
  const seconds = Object.fromEntries(files.map((file) => [file, secondsOf(keyOf(file, backend), all)]));
  const matches = (globs: readonly string[], file: string) =>
    globs.some((glob) => new Bun.Glob(glob).match(file));
  const isInMemory = (file: string) => matches(inMemory, file) && !matches(onDisk, file);
  const isLong = (file: string) => seconds[file]! >= isolatedSeconds;
  return [true, false].flatMap((memory) => {
    const there = files.filter((file) => isInMemory(file) === memory);
    return [true, false].flatMap((long) => {
      const batches = divide(
        there.filter((file) => isLong(file) === long),
        seconds,
      );
      return batches.map((batch) => ({
        ...{ name, needs, backend, isSuite: true, inMemory: memory, ...batch },
        command: [...testing, ...(long ? ["--isolate"] : []), ...batch.files.map((file) => `./${file}`)],
      }));
    });
  });
}

/**
 * The number of executions after which Bun compiles a function, tier by tier, in the tests and the programs
 * that they start. These usually live for a second: by default, a third of the processor time of a start of
 * `coder` is spent on compiling code that runs a few times.
 */
const compilerThresholds = {
  BUN_JSC_thresholdForJITAfterWarmUp: "3000",
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "10000",
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: "1000000",
};

/** The milliseconds after which a batch that hangs is killed, and has failed. */
const taskMilliseconds = 8 * 60_000;

async function run(task: Task, manner: Manner): Promise<Outcome> {
  const started = performance.now();
  const memory = task.inMemory && process.env["TMPDIR"] === undefined ? memoryFolder() : undefined;
  const folder = mkdtempSync(join(memory ?? tmpdir(), "coder-check-"));
  const [report, log] = [join(folder, "report.xml"), join(folder, "log")];
  // A file in place of a pipe, which would stay open if a killed task left processes running.
  const output = openSync(log, "a");
  try {
    const reporting = task.isSuite ? ["--reporter=junit", `--reporter-outfile=${report}`] : [];
    const user = task.isSuite ? userOf(manner) : [];
    const backend = task.backend ?? (task.isSuite ? manner.backend : undefined);
    // Other users enter it too, like the temporary folder of the system.
    chmodSync(folder, 0o1777);
    const child = Bun.spawn([...user, ...task.command, ...reporting], {
      cwd: root,
      env: {
        ...process.env,
        ...(task.isSuite && compilerThresholds),
        NO_COLOR: "1",
        ...(memory !== undefined && { TMPDIR: folder }),
        ...(backend !== undefined && { CODER_JAIL: backend }),
        ...(user.length > 0 && { HOME: folder }),
      },
      stdio: ["ignore", output, output],
      timeout: taskMilliseconds,
      killSignal: "SIGKILL",
    });
    const succeeded = (await child.exited) === 0;
    const text = readIfThere(report);
    const counts = task.isSuite ? countTests(text, succeeded) : countOne(succeeded);
    const late = child.signalCode === null ? "" : `\nended by ${child.signalCode}`;
    return {
      counts,
      seconds: (performance.now() - started) / 1000,
      output: readIfThere(log) + late,
      measured: secondsIn(text, task.backend),
    };
  } finally {
    closeSync(output);
    // `rmSync` does not remove names that are not UTF-8, which a killed test leaves.
    Bun.spawnSync(["rm", "-rf", folder]);
  }
}

const mebibyte = 1024 * 1024;

/** The space that the tests need in a file system in memory, together with the memory of their programs. */
const memoryBytes = 4096 * mebibyte;

/**
 * Returns the folder of a file system in memory, or `undefined` if the machine has none that is large enough,
 * like many containers. Making and removing the trees of thousands of cases takes half of the processor time
 * there.
 */
function memoryFolder(): string | undefined {
  const folder = "/dev/shm";
  if (
    !existsSync(folder) ||
    /^\S+ \/dev\/shm (?!tmpfs)|^\S+ \/dev\/shm \S+ \S*noexec/m.test(readIfThere("/proc/mounts"))
  )
    return undefined;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > memoryBytes && freemem() > memoryBytes ? folder : undefined;
}

/** Returns the prefix that makes the rest of a command line run as that user. */
function userOf({ as }: Manner): string[] {
  if (as === undefined) return [];
  const group = Bun.spawnSync(["id", "-g", as]).stdout.toString().trim();
  return ["setpriv", `--reuid=${as}`, `--regid=${group}`, "--clear-groups", "--"];
}

const countOne = (succeeded: boolean): Counts => ({
  passed: succeeded ? 1 : 0,
  failed: succeeded ? 0 : 1,
  skipped: 0,
});

const readIfThere = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");

/**
 * Returns the totals in the root of a JUnit report. A batch that ran nothing, or that failed outside its
 * tests (a file that does not load), has one additional failure.
 */
export function countTests(report: string, succeeded: boolean): Counts {
  const head = report.match(/<testsuites [^>]*>/)?.[0] ?? "";
  const total = (name: string) => Number(head.match(new RegExp(` ${name}="(\\d+)"`))?.[1] ?? 0);
  const [tests, failures, skipped] = [total("tests"), total("failures"), total("skipped")];
  const passed = tests - failures - skipped;
  const isBroken = failures === 0 && (!succeeded || passed === 0);
  return { passed, failed: failures + (isBroken ? 1 : 0), skipped };
}

/** Returns the seconds of each file in a JUnit report, where the lines with two leading spaces are files. */
export function secondsIn(report: string, backend: string | undefined): Seconds {
  const files = report.matchAll(/^ {2}<testsuite [^>]*? file="([^"]+)"[^>]*? time="([\d.]+)"/gm);
  return Object.fromEntries(
    Array.from(files, ([, file, time]) => {
      const path = resolve("/", file!).replace(`${root}/`, "").replace(/^\//, "");
      return [keyOf(path, backend), Number(time)] as const;
    }),
  );
}

/** The processors that the tests use. */
const processors = Math.min(2, availableParallelism());

/**
 * The number of concurrent tasks. It exceeds the processors, because batches wait for programs that they
 * start, and for the disk: with one lane less, a tenth of the processor time was idle.
 */
const lanes = processors + 3;

interface Totals {
  readonly counts: Counts;
  readonly measured: Seconds;
  /** The number of test files that would not have ended in time. */
  readonly left: number;
}

interface RunOptions {
  readonly manner: Manner;
  /** The time limit. A batch of tests that would probably end after it is not started. */
  readonly seconds: number;
}

/** Runs the tasks, in their order, and prints each check or suite when it ends. */
async function runAll(tasks: readonly Task[], { manner, seconds }: RunOptions): Promise<Totals> {
  const started = performance.now();
  const missing: Need[] = [];
  if (tasks.some(({ name }) => name === "build")) missing.push("build");
  if (tasks.some(({ needs }) => needs.includes("browser")) && isInstallingBrowser()) missing.push("browser");
  const queue = new TaskQueue(tasks, missing);
  if (missing.includes("browser")) untilBrowserIsInstalled().then(() => queue.onThere("browser"));
  const shown = new Map<string, Shown>();
  for (const { name, isSuite } of tasks) {
    const of = shown.get(name) ?? { isSuite, open: 0, seconds: 0, counts: none };
    shown.set(name, { ...of, open: of.open + 1 });
  }
  const measured: Record<string, number> = {};
  let left = 0;
  const work = async () => {
    for (let task = await queue.take(); task !== undefined; task = await queue.take()) {
      const isLate = task.isSuite && (performance.now() - started) / 1000 + task.seconds > seconds;
      if (isLate) left += task.files.length;
      const outcome = isLate ? notRun : await run(task, manner);
      if (task.name === "build") queue.onThere("build");
      Object.assign(measured, outcome.measured);
      const before = shown.get(task.name)!;
      const after = {
        ...before,
        open: before.open - 1,
        seconds: before.seconds + outcome.seconds,
        counts: sum(before.counts, outcome.counts),
      };
      shown.set(task.name, after);
      if (outcome.counts.failed > 0) console.log(outcome.output.trim().replace(/^/gm, "      "));
      if (after.open === 0) print(task.name, after);
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
  return { counts: [...shown.values()].map(({ counts }) => counts).reduce(sum, none), measured, left };
}

/** Gives out tasks in their order. It passes over those that need something that is still missing. */
export class TaskQueue {
  readonly #tasks: Task[];
  readonly #missing: Set<Need>;
  #arrival = Promise.withResolvers<void>();

  constructor(tasks: readonly Task[], missing: readonly Need[]) {
    this.#tasks = [...tasks];
    this.#missing = new Set(missing);
  }

  /** Resolves to the next task that can run, or to `undefined` if none are left. */
  async take(): Promise<Task | undefined> {
    const next = this.#tasks.findIndex(({ needs }) => !needs.some((need) => this.#missing.has(need)));
    if (next >= 0) return this.#tasks.splice(next, 1)[0];
    if (this.#tasks.length === 0) return undefined;
    await this.#arrival.promise;
    return this.take();
  }

  /** Lets the tasks run that need this. */
  onThere(need: Need): void {
    this.#missing.delete(need);
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
  }
}

/** The variable with the path of a file that `.ci/run` creates after it has tried to install a browser. */
const installedVariable = "CODER_BROWSER_INSTALLED";
const pollMilliseconds = 200;

/** Returns whether a browser is still being installed. */
function isInstallingBrowser(): boolean {
  const installed = process.env[installedVariable];
  return installed !== undefined && !existsSync(installed);
}

async function untilBrowserIsInstalled(): Promise<void> {
  while (isInstallingBrowser()) await Bun.sleep(pollMilliseconds);
}

/**
 * Sorts the tasks so that all lanes end at about the same time: the build first, because others wait for it,
 * then the longest.
 */
const longestFirst = (tasks: readonly Task[]): Task[] => {
  const orderOf = ({ name, seconds }: Task) => (name === "build" ? Number.POSITIVE_INFINITY : seconds);
  return tasks.toSorted((one, other) => orderOf(other) - orderOf(one));
};

/** The results of a check or suite so far. */
interface Shown {
  readonly isSuite: boolean;
  /** The number of its tasks that have not ended. */
  readonly open: number;
  /** The total seconds of all its tasks, which run concurrently. */
  readonly seconds: number;
  readonly counts: Counts;
}

const none: Counts = { passed: 0, failed: 0, skipped: 0 };

const notRun: Outcome = { counts: none, seconds: 0, output: "", measured: {} };

const sum = (one: Counts, other: Counts): Counts => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
});

function print(name: string, { isSuite, counts, seconds }: Shown): void {
  const isLeftOut = counts.passed + counts.failed + counts.skipped === 0;
  const verdict = isLeftOut ? "left" : counts.failed === 0 ? "ok  " : "FAIL";
  console.log(
    `${verdict}  ${name.padEnd(24)}${seconds.toFixed(1).padStart(6)} s  ${isSuite ? render(counts) : ""}`.trimEnd(),
  );
}

function render({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/** The tasks to run, in this order, and the notice about those left out. */
interface Choice {
  readonly tasks: readonly Task[];
  /** The seconds that a person waits, if limited. */
  readonly seconds?: number;
  readonly manner: Manner;
  readonly notice?: string;
  /** Whether the seconds of each file replace those of the last measurement. */
  readonly isMeasuring: boolean;
}

function choose(argv: readonly string[], environment: NodeJS.ProcessEnv): Choice {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      all: { type: "boolean", default: false },
      since: { type: "string" },
      only: { type: "string", multiple: true },
      as: { type: "string" },
      backend: { type: "string" },
      measure: { type: "boolean", default: false },
    },
  });
  const { all, since, as, backend, measure: isMeasuring } = values;
  const only = values.only?.flatMap((list) => list.split(","));
  const ways = [positionals.length > 0, only !== undefined, since !== undefined, all || isMeasuring];
  if (ways.filter(Boolean).length > 1)
    throw new Error("Paths, --only, --since and --all choose what is run, each by itself; give one of them.");
  if (as !== undefined && process.getuid?.() !== 0) throw new Error("Only root may use --as.");
  if (as !== undefined && Bun.spawnSync(["id", "-g", as]).exitCode !== 0)
    throw new Error(`There is no user ${as}.`);
  const more = { manner: { as, backend }, isMeasuring };
  if (positionals.length > 0) return { ...more, tasks: longestFirst(tasksAt(positionals)) };
  if (only !== undefined) return { ...more, tasks: longestFirst(tasksNamed(only)) };
  const everything = () => ({ ...more, tasks: longestFirst(allTasks()) });
  if (all || isMeasuring || (environment["CI"] && since === undefined)) return everything();
  const changed = since === undefined && !existsSync(join(root, ".git")) ? [] : changedFiles(root, since);
  return changed.length === 0 ? everything() : { ...more, ...tasksFor(changed) };
}

const allTasks = (): Task[] => [
  ...checks.map(taskOf),
  ...suites.flatMap((suite) => tasksOf(suite, filesOf(suite))),
];

/** Returns the test files at these paths, or below them. */
function tasksAt(paths: readonly string[]): Task[] {
  const wanted = paths.map((path) => path.replace(/^\.\//, "").replace(/\/$/, ""));
  const isWanted = (file: string) => wanted.some((path) => file === path || file.startsWith(`${path}/`));
  const chosen = suites
    .filter(({ backend }) => backend === undefined)
    .map((suite) => [suite, filesOf(suite).filter(isWanted)] as const);
  for (const path of wanted)
    if (!chosen.some(([, files]) => files.some((file) => file === path || file.startsWith(`${path}/`))))
      throw new Error(`There is no test file at ${path}.`);
  const tasks = chosen.flatMap(([suite, files]) => tasksOf(suite, files));
  return withBuild(tasks);
}

/**
 * Returns the checks and suites of these names, with the build if one of them needs its result. Throws for an
 * unknown name.
 */
export function tasksNamed(names: readonly string[]): Task[] {
  const unknown = names.find((name) => !stepNames.includes(name));
  if (unknown !== undefined)
    throw new Error(`There is no step ${unknown}; they are ${stepNames.join(", ")}.`);
  return withBuild(allTasks().filter(({ name }) => names.includes(name)));
}

function withBuild(tasks: readonly Task[]): Task[] {
  const isMissing =
    tasks.some(({ needs }) => needs.includes("build")) && !tasks.some(({ name }) => name === "build");
  return [...(isMissing ? [taskOf(checks[0]!)] : []), ...tasks];
}

/** The seconds that a person waits for the tests of a change. */
const changeSeconds = 90;

/** The average number of busy lanes: they share the processors, and end one after the other. */
const workingLanes = 1.2 * processors;

/** The seconds of a batch of the tests of a change. They are short, so that few run when the time is up. */
const changeBatchSeconds = 10;

/**
 * Returns all checks, and the tests that can notice a change of these files, the nearest first, as many as
 * the time allows.
 */
function tasksFor(changed: readonly string[]): Pick<Choice, "tasks" | "notice" | "seconds"> {
  const seconds = readSeconds(root);
  const all = suites.map((suite) => ({ ...suite, files: filesOf(suite) }));
  const touched = touchedBy(changed, all, { plan, imports: readImports(root) });
  const costOf = ({ suite, file }: TestFile) =>
    secondsOf(keyOf(file, suites.find(({ name }) => name === suite)!.backend), seconds);
  const ofChecks = checks.reduce((total, check) => total + check.seconds, 0);
  const chosen = withinBudget(touched, costOf, changeSeconds * workingLanes - ofChecks);
  const filesIn = (name: string) => chosen.filter(({ suite }) => suite === name).map(({ file }) => file);
  const divide: Divide = (files, of) => batchesInOrder(files, of, changeBatchSeconds);
  const distanceOf = ({ name, files: [first] }: Task) =>
    chosen.findIndex(({ suite, file }) => suite === name && file === first);
  const tasks = suites
    .flatMap((suite) => tasksOf(suite, filesIn(suite.name), divide))
    .toSorted((one, other) => distanceOf(one) - distanceOf(other));
  const left = touched.length - chosen.length;
  const notice = `Running ${chosen.length} test files that the change of ${changed.length} files can touch${
    left > 0 ? `, the nearest ones; ${left} more would take longer than ${changeSeconds} s` : ""
  }. Everything: npm test -- --all`;
  const [build, ...others] = longestFirst(checks.map(taskOf));
  return { tasks: [build!, ...inTurn(tasks, others)], notice, seconds: changeSeconds };
}

/** Returns the items of both lists in turn, and then the rest of the longer one. */
export function inTurn<T>(one: readonly T[], other: readonly T[]): T[] {
  const length = Math.max(one.length, other.length);
  const places = Array.from({ length }, (_, place) => place);
  return places.flatMap((place) => [...one.slice(place, place + 1), ...other.slice(place, place + 1)]);
}

async function main(): Promise<void> {
  const {
    tasks,
    manner,
    notice,
    isMeasuring,
    seconds = Infinity,
  } = choose(process.argv.slice(2), process.env);
  if (notice !== undefined) console.log(`${notice}\n`);
  const { counts, measured, left } = await runAll(tasks, { manner, seconds });
  if (left > 0)
    console.log(`\nLeft out ${left} test files that would end after ${seconds} s on this machine.`);
  if (isMeasuring) writeSeconds(root, measured);
  console.log(`\n${render(counts)}`);
  if (counts.failed > 0) process.exitCode = 1;
}

if (import.meta.main) {
  await main().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 2;
  });
}
