/**
 * Files that calls may read but not change, against every function that writes: the files that decide the
 * configuration, under every name, and those that `write_deny_globs` cover. The oracle is the same worker
 * without the protection: a call that changes one of these files there is refused here and changes nothing.
 */
import { afterAll, describe, expect, test } from "bun:test";
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createLog } from "../../src/base/log/log.ts";
import { createInvoke } from "../../src/calls/invoke.ts";
import { functions } from "../../src/coder/functions.ts";
import { loadConfig, openCoder } from "../../src/coder/services.ts";
import type { OtherPaths, PathArgument } from "../harness/path-arguments.ts";
import { backends, triedThrough } from "./backends.ts";
import { pathCalls } from "./calls.ts";
import { openShellFunctions, shellPathArguments } from "./shell/shell.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));

const log = createLog({ level: "error", form: "text", write: (line) => process.stderr.write(line) });

/** Paths below the base. The second is a link, and the last two do not exist yet. */
const protectedPaths = ["config.yaml", "link.yaml", "later.yaml", "new/deep/later.yaml"];

/** The entries that decide the configuration: these names, their targets, and another name of one. */
const watched = ["config.yaml", "link.yaml", "sub", "sub/own.yaml", "hard.yaml", "later.yaml", "new"];

/** The paths that calls use: these names, other spellings, and folders that hold a protected file. */
const paths = [
  ...watched,
  "./config.yaml",
  "sub/../config.yaml",
  "folder/own.yaml",
  "folder/../link.yaml",
  "other/more.yaml",
  "other",
  "new/deep/later.yaml",
  "new/deep",
];

const word = "inside\n";

function build(base: string): void {
  mkdirSync(base, { recursive: true });
  for (const name of readdirSync(base)) rmSync(join(base, name), { recursive: true });
  const files = ["a.txt", "config.yaml", "sub/own.yaml", "other/deep/later.yaml", "plain/x.txt"];
  for (const path of files) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), word);
  }
  symlinkSync("sub/own.yaml", join(base, "link.yaml"));
  symlinkSync("sub", join(base, "folder"));
  linkSync(join(base, "sub/own.yaml"), join(base, "hard.yaml"));
  linkSync(join(base, "config.yaml"), join(base, "other/more.yaml"));
}

/** Leaves out the other names of the files, which no glob covers. */
const byName = (all: readonly string[]) =>
  all.filter((path) => path !== "hard.yaml" && !path.endsWith("more.yaml"));

/** Returns the state of entries that must not change, except that a missing folder may be created. */
function stateOf(base: string, watched: readonly string[]): string {
  return watched.map((path) => `${path}: ${stateAt(join(base, path))}`).join("\n");
}

function stateAt(path: string): string {
  try {
    const stats = lstatSync(path);
    if (path.endsWith("/new")) return laterIn(path);
    return `${stats.ino} ${stats.mode} ${stats.isDirectory() ? "" : readFileSync(path, "utf8")}`;
  } catch {
    return "none";
  }
}

function laterIn(folder: string): string {
  try {
    return readFileSync(join(folder, "deep/later.yaml"), "utf8");
  } catch {
    return "none";
  }
}

interface Worker {
  call(argument: string, path: string): Promise<string>;
  close(): Promise<void>;
}

interface Kind {
  readonly argumentNames: readonly string[];
  readonly denied: RegExp;
  /** The entries that must not change. `paths` are those that calls use. */
  readonly watched: readonly string[];
  readonly paths: readonly string[];
  /** Opens a worker that protects these paths, which are relative to the base. */
  open(base: string, protectedPaths: readonly string[], backend: string | undefined): Promise<Worker>;
}

/** The other ends of calls with two paths. The folder may lie above a protected file. */
const otherEnds: readonly OtherPaths[] = ["a.txt", "other"].map((there) => ({ there, free: "moved-here" }));

/**
 * Returns the arguments whose path a call changes: a copy leaves its source alone, and so does a call that
 * only names a folder.
 */
const writing = (all: readonly PathArgument[]) =>
  all
    .filter(({ effect, access }) => effect === "writes" && !["copy", "list", "read"].includes(access))
    .flatMap((argument) =>
      argument.hasOtherPaths
        ? // A patch cannot move a folder.
          otherEnds
            .slice(0, argument.access === "create-tree" ? 1 : 2)
            .map((others) => ({ ...argument, others, name: `${argument.name}, ${others.there}` }))
        : [{ ...argument, others: otherEnds[0]! }],
    );

const coderArguments = writing(pathCalls);

const shellArguments = writing(shellPathArguments);

interface Protection {
  readonly keys?: Readonly<Record<string, unknown>>;
  readonly configFiles?: readonly string[];
}

async function openCoderWith(
  { keys, configFiles = [] }: Protection,
  backend: string | undefined,
): Promise<Worker> {
  const found = { source: "test", keys: { fsync: false, ...keys } };
  const config = loadConfig({ config: found, basePath: undefined, environment: {} });
  const environment = { CODER_JAIL: backend, XDG_STATE_HOME: join(root, "state") };
  const runtime = await openCoder(config, { configFiles, environment });
  const invoke = createInvoke(runtime, log);
  return {
    async call(name, path) {
      const { id, payload, others } = coderArguments.find((argument) => argument.name === name)!;
      const definition = functions.find((candidate) => candidate.id === id)!;
      const answer = JSON.stringify(await invoke(definition, payload(path, others)));
      return answer.replace(/"(?:transaction":"\w+|plan":"\w+|plan_expires_at":\d+)/g, "");
    },
    close: () => runtime.close(),
  };
}

const hostPaths = (base: string, names: readonly string[]) => names.map((path) => join(base, path));

const kinds: Readonly<Record<string, Kind>> = {
  coder: {
    argumentNames: coderArguments.map(({ name }) => name),
    denied: /C211/,
    watched,
    paths,
    open: (base, names, backend) =>
      openCoderWith({ keys: { base_path: base }, configFiles: hostPaths(base, names) }, backend),
  },
  "coder, write_deny_globs": {
    argumentNames: coderArguments.map(({ name }) => name),
    denied: /C222/,
    // The files in a folder do not protect it: its mode may change.
    watched: byName(watched).filter((path) => path !== "sub"),
    paths: byName(paths),
    open: (base, names, backend) =>
      openCoderWith(
        { keys: { base_path: base, write_deny_globs: names.length === 0 ? [] : [...names, "sub/own.yaml"] } },
        backend,
      ),
  },
  shell: {
    argumentNames: shellArguments.map(({ name }) => name),
    denied: /S215|fs\.denylist_paths/,
    watched,
    paths,
    async open(base, names, backend) {
      const configFiles = hostPaths(base, names);
      const shell = await openShellFunctions(base, { denied: [], configFiles, backend }, (line) =>
        process.stderr.write(line),
      );
      return {
        call(wanted, path) {
          const argument = shellArguments.find(({ name }) => name === wanted)!;
          return shell.call(argument, join(base, path), argument.others);
        },
        close: shell.close,
      };
    },
  },
};

describe.each(backends)("%s", (backend) => {
  describe.each(Object.entries(kinds))("%s", (name, kind) => {
    const argumentNames = triedThrough(backend, kind.argumentNames);
    const base = join(root, `${backend}-${name}`);

    async function opened<T>(protect: boolean, use: (worker: Worker) => Promise<T>): Promise<T> {
      build(base);
      const worker = await kind.open(base, protect ? protectedPaths : [], backend);
      try {
        return await use(worker);
      } finally {
        await worker.close();
      }
    }

    /** Builds the tree and makes a call. Returns the answer, and whether a watched entry has changed. */
    async function effectOf(worker: Worker, argument: string, path: string) {
      build(base);
      const before = stateOf(base, kind.watched);
      const answer = await worker.call(argument, path);
      return { answer, changed: stateOf(base, kind.watched) !== before };
    }

    test("what would change them is denied, and changes nothing", async () => {
      const cells = argumentNames.flatMap((argument) => kind.paths.map((path) => [argument, path] as const));
      const harmful = await opened(false, async (worker) => {
        const found: (readonly [string, string])[] = [];
        for (const [argument, path] of cells)
          if ((await effectOf(worker, argument, path)).changed) found.push([argument, path]);
        return found;
      });
      const faults = await opened(true, async (worker) => {
        const found: string[] = [];
        for (const [argument, path] of harmful) {
          const { answer, changed } = await effectOf(worker, argument, path);
          if (changed || !kind.denied.test(answer)) found.push(`${argument} ${path}: ${changed} ${answer}`);
        }
        return found;
      });
      expect(faults).toEqual([]);
      // Guards against arguments that never do harm.
      const seen = new Set(harmful.map(([argument]) => argument));
      expect(argumentNames.filter((argument) => !seen.has(argument))).toEqual([]);
    });

    test("what leaves them alone is answered as without the protection", async () => {
      const others = ["plain/x.txt", "plain/config.yaml", "new/beside.txt"];
      const cells = argumentNames.flatMap((argument) => others.map((path) => [argument, path] as const));
      const answers = (protect: boolean) =>
        opened(protect, async (worker) => {
          const found: string[] = [];
          for (const [argument, path] of cells) {
            const { answer } = await effectOf(worker, argument, path);
            found.push(`${argument} ${path}: ${answer}`);
          }
          return found;
        });
      expect(await answers(true)).toEqual(await answers(false));
    });
  });
});

test("a file that takes the place of a protected one is protected too", async () => {
  const base = join(root, "replaced");
  build(base);
  const file = join(base, "config.yaml");
  const worker = await kinds["coder"]!.open(base, ["config.yaml"], undefined);
  writeFileSync(join(base, "next.yaml"), "next\n");
  rmSync(file);
  linkSync(join(base, "next.yaml"), file);
  expect(await worker.call("coder::update-file /files/*/path write", "next.yaml")).toContain("C211");
  await worker.close();
});

test("they are read as ever", async () => {
  const base = join(root, "read");
  build(base);
  const config = { source: "test", keys: { base_path: base } };
  const runtime = await openCoder(loadConfig({ config, basePath: undefined, environment: {} }), {
    configFiles: [join(base, "config.yaml")],
  });
  const read = functions.find(({ id }) => id === "coder::read-file")!;
  expect(JSON.stringify(await createInvoke(runtime, log)(read, { path: "config.yaml" }))).toContain("inside");
  await runtime.close();
});
