/**
 * `npm test`: everything that is checked, the same here and on a server. A step that fails does not keep the others
 * from running. The last line says `N passed, N failed`; a step that is no test suite counts as one.
 *
 *     npm test -- --only unit,rooms
 *     npm test -- --only unit,escapes,faults --as nobody
 *     npm test -- --only faults --backend current-directory
 *     npm test -- --changed origin/main
 */
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./build.ts";
import { changedFiles, select } from "./changed.ts";
import { plan } from "./house.ts";

interface Step {
  readonly name: string;
  /** The suite that it is a part of: `--only` takes that name too. */
  readonly suite?: string;
  readonly command: readonly string[];
  /** It is a run of bun's tests, counted one by one. */
  readonly isSuite?: boolean;
  /** It tries dist/coder. */
  readonly needsBuild?: boolean;
  /** How the jail holds folders in it; by default what is best on this machine. */
  readonly backend?: string;
}

/** How suites are run, when not as always. */
interface Manner {
  /** The user who runs them; only root may choose one. */
  readonly as?: string | undefined;
  /** For suites that have no backend of their own. */
  readonly backend?: string | undefined;
}

interface Outcome {
  readonly counts: Counts;
  readonly seconds: number;
  /** What to show when it failed. */
  readonly output: string;
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const bun = process.execPath;
const tool = (name: string) => join(root, "node_modules/.bin", name);

/**
 * Runs each file in a fresh global object: garbage of earlier files slowed the last one down to a fifth. A test that hangs
 * fails after two minutes, and none fails for being slow on a slow machine. `npm run test:only` does the same.
 */
const testing = [bun, "test", "--isolate", "--timeout=120000", "--only-failures"];

const suite = (name: string, folders: readonly string[], more: Partial<Step> = {}): Step => ({
  name,
  command: [...testing, ...folders],
  isSuite: true,
  ...more,
});

/**
 * The test files below these folders, in two parts: as one step they would take longer than two others. `first` are names of files,
 * or of folders with a slash at the end; the second part is whatever else there is.
 */
function halves(folders: readonly string[], first: readonly string[]): [string[], string[]] {
  const all = folders
    .flatMap((folder) => [...new Bun.Glob(`${folder}/**/*.test.ts`).scanSync(root)])
    .map((path) => `./${path}`)
    .sort();
  const isFirst = (path: string) =>
    first.some((name) =>
      name.endsWith("/") ? path.includes(`/${name}`) : path.endsWith(`/${name}.test.ts`),
    );
  return [all.filter(isFirst), all.filter((path) => !isFirst(path))];
}

const [races, escapes] = halves(["tests/security"], ["race"]);
const conformance = halves(["tests/conformance", "tests/harness"], ["executable", "source"]);
const shell = halves(["tests/shell"], ["busy", "files", "peers", "processes", "start"]);
const units = halves(
  ["src", "scripts"],
  ["coder/", "files/", "index/", "search/", "transactions/", "watch/"],
);

/** The faults that meet the disk where the jail holds folders in another way. */
const faultsOfBackends = ["blocking", "disk", "tampering", "two-workers"].map(
  (name) => `./tests/faults/${name}.test.ts`,
);

/** A suite as two steps, each with the name of the suite and a number. */
const suiteInHalves = (name: string, halved: readonly string[][], needsBuild = true): Step[] =>
  halved.map((files, index) => suite(`${name}-${index + 1}`, files, { suite: name, needsBuild }));

export const steps: readonly Step[] = [
  { name: "build", command: [bun, "scripts/build.ts"] },
  { name: "format", command: [tool("biome"), "ci", "--colors=off", "--error-on-warnings", "."] },
  { name: "types", command: [tool("tsc"), "--noEmit", "-p", "tsconfig.json"] },
  { name: "types-node", command: [tool("tsc"), "--noEmit", "-p", "tsconfig.node.json"] },
  { name: "rooms", command: [bun, "scripts/rooms.ts"] },
  { name: "names", command: [bun, "scripts/names.ts"] },
  { name: "measure", command: [bun, "scripts/measure.ts"] },
  { name: "reference", command: [bun, "scripts/reference.ts", "--check"] },
  { name: "licenses", command: [bun, "scripts/licenses.ts", "--check"] },
  // The longest first, so that both lanes end at about the same time.
  ...suiteInHalves("unit", units, false),
  suite("faults", ["./tests/faults"], { needsBuild: true }),
  suite("races", races, { needsBuild: true }),
  ...suiteInHalves("conformance", conformance),
  ...suiteInHalves("shell", shell),
  suite("mcp", ["./tests/mcp"], { needsBuild: true }),
  suite("escapes", escapes, { needsBuild: true }),
  ...["descriptors", "current-directory"].map((backend) =>
    suite(`faults-${backend}`, faultsOfBackends, { backend }),
  ),
  suite("executable", ["./tests/executable"], { needsBuild: true }),
];

/** A step that hangs is killed and has failed. */
const stepMilliseconds = 8 * 60_000;

async function runStep(step: Step, manner: Manner): Promise<Outcome> {
  const started = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "coder-check-"));
  const [report, log] = [join(folder, "report.xml"), join(folder, "log")];
  // A file, not a pipe: whatever a killed step leaves behind would keep a pipe open.
  const output = openSync(log, "a");
  try {
    const reporting = step.isSuite ? ["--reporter=junit", `--reporter-outfile=${report}`] : [];
    const user = step.isSuite ? userOf(manner) : [];
    const backend = step.backend ?? (step.isSuite ? manner.backend : undefined);
    if (user.length > 0) chmodSync(folder, 0o777);
    const child = Bun.spawn([...user, ...step.command, ...reporting], {
      cwd: root,
      env: {
        ...process.env,
        NO_COLOR: "1",
        ...(backend !== undefined && { CODER_JAIL: backend }),
        ...(user.length > 0 && { HOME: folder }),
      },
      stdio: ["ignore", output, output],
      timeout: stepMilliseconds,
      killSignal: "SIGKILL",
    });
    const succeeded = (await child.exited) === 0;
    const counts = step.isSuite ? countTests(readIfThere(report), succeeded) : countOne(succeeded);
    const late = child.signalCode === null ? "" : `\nended by ${child.signalCode}`;
    return { counts, seconds: (performance.now() - started) / 1000, output: readIfThere(log) + late };
  } finally {
    closeSync(output);
    rmSync(folder, { recursive: true });
  }
}

/** What makes the rest of a command line run as that user. */
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
 * The totals in the root of a JUnit report. A suite that ran nothing, or that failed outside its tests (a file that
 * does not load), has a failure more.
 */
export function countTests(report: string, succeeded: boolean): Counts {
  const head = report.match(/<testsuites [^>]*>/)?.[0] ?? "";
  const total = (name: string) => Number(head.match(new RegExp(` ${name}="(\\d+)"`))?.[1] ?? 0);
  const [tests, failures, skipped] = [total("tests"), total("failures"), total("skipped")];
  const passed = tests - failures - skipped;
  const isBroken = failures === 0 && (!succeeded || passed === 0);
  return { passed, failed: failures + (isBroken ? 1 : 0), skipped };
}

/** Runs the steps, two at a time where there are two processors, and prints each when it ends. Gives the totals. */
async function runAll({ chosen, manner }: Choice): Promise<Counts> {
  const queue = [...chosen];
  const total = { passed: 0, failed: 0, skipped: 0 };
  let build: Promise<unknown> = Promise.resolve();
  const work = async () => {
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
      if (step.needsBuild) await build;
      const running = runStep(step, manner);
      if (step.name === "build") build = running;
      const outcome = await running;
      print(step, outcome);
      for (const key of ["passed", "failed", "skipped"] as const) total[key] += outcome.counts[key];
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  return total;
}

function print({ name, isSuite }: Step, { counts, seconds, output }: Outcome): void {
  const verdict = counts.failed === 0 ? "ok  " : "FAIL";
  console.log(
    `${verdict}  ${name.padEnd(24)}${seconds.toFixed(1).padStart(6)} s  ${isSuite ? render(counts) : ""}`.trimEnd(),
  );
  if (counts.failed > 0) console.log(output.trim().replace(/^/gm, "      "));
}

function render({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

interface Choice {
  readonly chosen: readonly Step[];
  readonly manner: Manner;
}

function choose(argv: readonly string[]): Choice {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      only: { type: "string", multiple: true },
      as: { type: "string" },
      backend: { type: "string" },
      changed: { type: "boolean" },
    },
  });
  if (positionals.length > (values.changed ? 1 : 0))
    throw new Error(`Unexpected argument ${positionals.at(-1)}.`);
  const { as, backend } = values;
  if (as !== undefined && process.getuid?.() !== 0) throw new Error("Only root may use --as.");
  if (as !== undefined && Bun.spawnSync(["id", "-g", as]).exitCode !== 0)
    throw new Error(`There is no user ${as}.`);
  const all = values.changed ? stepsFor(changedFiles(root, positionals[0])) : steps;
  return {
    chosen: stepsNamed(
      all,
      values.only?.flatMap((list) => list.split(",")),
    ),
    manner: { as, backend },
  };
}

/** The steps that can notice a change of these files: of the unit tests their own, and everything that is no suite. */
function stepsFor(changed: readonly string[]): readonly Step[] {
  const { unit, suites } = select(
    changed,
    plan,
    units
      .flat()
      .map((path) => path.slice("./".length))
      .sort(),
  );
  const others = steps.filter(
    (step) => !step.isSuite || (step.suite !== "unit" && suites.includes(step.suite ?? step.name)),
  );
  const paths = unit.map((path) => `./${path}`);
  return paths.length > 0 ? [...others, suite("unit", paths)] : others;
}

/**
 * The steps of these names, or of suites of these names, among `some`, with the build if one of them tries its result; without
 * names, all of them. Throws where a name is neither.
 */
export function stepsNamed(some: readonly Step[], names: readonly string[] | undefined): readonly Step[] {
  if (names === undefined) return some;
  const namesOf = ({ name, suite: whole }: Step) => (whole === undefined ? [name] : [whole, name]);
  const known = [...new Set(steps.flatMap(namesOf))];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`There is no step ${unknown}; they are ${known.join(", ")}.`);
  const named = some.filter((step) => namesOf(step).some((name) => names.includes(name)));
  return some.filter(
    (step) => named.includes(step) || (step.name === "build" && named.some(({ needsBuild }) => needsBuild)),
  );
}

async function main(): Promise<void> {
  const total = await runAll(choose(process.argv.slice(2)));
  console.log(`\n${render(total)}`);
  if (total.failed > 0) process.exitCode = 1;
}

if (import.meta.main) {
  await main().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 2;
  });
}
