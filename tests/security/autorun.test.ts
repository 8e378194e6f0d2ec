/**
 * Files that make other programs run commands, each from the table in src/filesystem/jail/autorun.ts, against
 * every function that writes. The oracle is the same worker in the profile `contract`: whatever a call
 * changes there, the profile `agent` refuses.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createLog } from "../../src/base/log/log.ts";
import { createInvoke } from "../../src/calls/invoke.ts";
import { functions } from "../../src/coder/functions.ts";
import { loadConfig, openCoder } from "../../src/coder/services.ts";
import { autorunFiles } from "../../src/filesystem/jail/autorun.ts";
import type { PathArgument } from "../harness/path-arguments.ts";
import { pathCalls } from "./calls.ts";
import { openShellFunctions, shellPathArguments } from "./shell/shell.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));

const log = createLog({ level: "error", form: "text", write: (line) => process.stderr.write(line) });

/**
 * Returns the names that the braces of a glob stand for, below the folder `p`, with "x" for each asterisk.
 */
function namesOf(glob: string): string[] {
  const braces = /\{([^{}]*)\}/.exec(glob);
  if (braces === null) return [`p/${glob.replace(/^\*\*\//, "").replaceAll("*", "x")}`];
  return braces[1]!.split(",").flatMap((one) => namesOf(glob.replace(braces[0], () => one)));
}

interface Cell {
  readonly path: string;
  /** Whether a file exists at the path. */
  readonly isThere: boolean;
  readonly argument: PathArgument;
}

/**
 * Returns the first name of each glob with every argument. Each further name, and a file below the first,
 * gets only an argument that creates it.
 */
function cellsOf(globs: readonly string[], { changing }: Family): Cell[] {
  const making = changing.find(({ access }) => access === "create" || access === "replace")!;
  return globs.flatMap((glob) => {
    const [first = "", ...further] = namesOf(glob);
    return [
      ...changing.flatMap((argument) => [true, false].map((isThere) => ({ path: first, isThere, argument }))),
      ...[`${first}/inside`, ...further].map((path) => ({ path, isThere: false, argument: making })),
    ];
  });
}

type Profile = "contract" | "agent";

interface Worker {
  call(argument: PathArgument, path: string): Promise<string>;
  close(): Promise<void>;
}

interface Family {
  /** The arguments that remove a folder with everything in it. */
  readonly removing: readonly PathArgument[];
  readonly changing: readonly PathArgument[];
  open(base: string, profile: Profile): Promise<Worker>;
}

/**
 * Returns the arguments that change their path. A copy leaves its source alone, and so does a call that only
 * reads a file or names a folder.
 */
const changing = (all: readonly PathArgument[]) =>
  all.filter(({ effect, access }) => effect === "writes" && !["copy", "list", "read"].includes(access));

const families: Readonly<Record<string, Family>> = {
  coder: {
    changing: changing(pathCalls),
    removing: pathCalls.filter(({ access }) => access === "remove-tree"),
    async open(base, profile) {
      const config = {
        source: "test",
        keys: { fsync: false, base_path: base, profile, unknown_fields: "ignore", index: "off" },
      };
      const runtime = await openCoder(loadConfig({ config, basePath: undefined, environment: {} }), {
        environment: { XDG_STATE_HOME: join(root, "state") },
      });
      const invoke = createInvoke(runtime, log);
      return {
        call: async ({ id, payload }, path) =>
          JSON.stringify(await invoke(functions.find((one) => one.id === id)!, payload(path))),
        close: () => runtime.close(),
      };
    },
  },
  shell: {
    changing: changing(shellPathArguments),
    removing: shellPathArguments.filter(({ access }) => access === "remove-tree"),
    async open(base, profile) {
      const shell = await openShellFunctions(base, { denied: [], profile }, (line) =>
        process.stderr.write(line),
      );
      return {
        call: (argument, path) => shell.call(argument, join(base, path)),
        close: shell.close,
      };
    },
  },
};

function build(base: string, { path, isThere }: Pick<Cell, "path" | "isThere">): void {
  mkdirSync(base, { recursive: true });
  for (const name of readdirSync(base)) rmSync(join(base, name), { recursive: true });
  writeFileSync(join(base, "other.txt"), "inside\n");
  mkdirSync(dirname(join(base, path)), { recursive: true });
  if (isThere) writeFileSync(join(base, path), "inside\n");
}

function stateAt(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return "none";
  return `${stats.ino} ${stats.mode} ${stats.isDirectory() ? "" : readFileSync(path, "utf8")}`;
}

describe.each(Object.entries(families))("%s", (name, family) => {
  const base = join(root, name);
  const workers = new Map<Profile, Worker>();
  beforeAll(async () => {
    mkdirSync(base, { recursive: true });
    for (const profile of ["contract", "agent"] as const)
      workers.set(profile, await family.open(base, profile));
  });
  afterAll(async () => {
    for (const worker of workers.values()) await worker.close();
  });

  test.each(autorunFiles.map(({ program, globs }) => [program, globs] as const))("%s", async (_, globs) => {
    const cells = cellsOf(globs, family);
    const effects = async (profile: Profile, tried: readonly Cell[]) => {
      const worker = workers.get(profile)!;
      const found: { cell: Cell; isChanged: boolean; answer: string }[] = [];
      for (const cell of tried) {
        const { path, argument } = cell;
        build(base, cell);
        const before = stateAt(join(base, path));
        const answer = await worker.call(argument, path);
        found.push({ cell, isChanged: stateAt(join(base, path)) !== before, answer });
      }
      return found;
    };
    const harmful = (await effects("contract", cells)).filter(({ isChanged }) => isChanged);
    const refused = await effects(
      "agent",
      harmful.map(({ cell }) => cell),
    );
    const faults = refused
      .filter(({ isChanged, answer }) => isChanged || !answer.includes("configuration protects"))
      .map(({ cell, isChanged, answer }) => `${cell.argument.name} ${cell.path}: ${isChanged} ${answer}`);
    expect(faults).toEqual([]);
    // Guards against arguments and paths that never do harm.
    const seen = new Set(harmful.flatMap(({ cell }) => [cell.argument.name, cell.path]));
    const all = new Set(cells.flatMap(({ path, argument }) => [argument.name, path]));
    expect([...all].filter((one) => !seen.has(one))).toEqual([]);
  });
});

describe.each(Object.entries(families))("folders, %s", (name, family) => {
  const base = join(root, `${name}-folders`);
  const names = autorunFiles.flatMap(({ globs }) => globs).flatMap(namesOf);
  const answersOf = async (folders: readonly (readonly [path: string, folder: string])[]) => {
    mkdirSync(base, { recursive: true });
    const worker = await family.open(base, "agent");
    const found: string[] = [];
    for (const argument of family.removing)
      for (const [path, folder] of folders) {
        build(base, { path, isThere: true });
        const answer = await worker.call(argument, folder);
        const isGone = stateAt(join(base, folder)) === "none";
        if (isGone === answer.includes("configuration protects")) found.push(`${path}: ${answer}`);
        if (!isGone) found.push(path);
      }
    await worker.close();
    return found;
  };

  test("one goes with each of the files in it", async () => {
    expect(family.removing.length).toBeGreaterThan(0);
    expect(await answersOf(names.map((path) => [path, "p"]))).toEqual([]);
  });

  test("one whose own name is part of the rule stays", async () => {
    const spanning = names.filter((path) => path.split("/").length > 2);
    expect(spanning.length).toBeGreaterThan(10);
    const kept = await answersOf(spanning.map((path) => [path, dirname(path)]));
    expect(kept).toEqual(family.removing.flatMap(() => spanning));
  });
});

test("the table has more than forty files", () => {
  expect(autorunFiles.flatMap(({ globs }) => globs.flatMap(namesOf)).length).toBeGreaterThan(40);
});
