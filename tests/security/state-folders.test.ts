/**
 * The state folders of all workers, wherever they lie, against every function of both families. The oracle is
 * a folder with another name: a call that reads or changes that one neither reads nor changes a state folder.
 */
import { afterAll, expect, test } from "bun:test";
import {
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
import { join } from "node:path";
import { createLog } from "../../src/base/log/log.ts";
import { createInvoke } from "../../src/calls/invoke.ts";
import { functions } from "../../src/coder/functions.ts";
import { loadConfig, openCoder } from "../../src/coder/services.ts";
import type { PathArgument } from "../harness/path-arguments.ts";
import { pathCalls } from "./calls.ts";
import { openShellFunctions, shellPathArguments } from "./shell/shell.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));

const log = createLog({ level: "error", form: "text", write: (line) => process.stderr.write(line) });

/** A name as `stateFolderName` returns it, and a name that differs in its last letter. */
const names = { state: "project-0123456789ab.coder-state", free: "project-0123456789ab.coder-statf" };

/** A part of a state folder's content, which the queries of `pathCalls` find. */
const kept = "denied secret\n";

function build(base: string, name: string): void {
  mkdirSync(base, { recursive: true });
  for (const one of readdirSync(base)) rmSync(join(base, one), { recursive: true });
  for (const outer of [".local/state/coder", "elsewhere"])
    for (const inner of ["intents", "segments"]) {
      mkdirSync(join(base, outer, name, inner), { recursive: true });
      writeFileSync(join(base, outer, name, inner, "record"), kept, { mode: 0o600 });
    }
  writeFileSync(join(base, "other.txt"), "text\n");
  symlinkSync(`.local/state/coder/${name}`, join(base, "link"));
}

const pathsOf = (name: string) => [
  `.local/state/coder/${name}/intents`,
  `.local/state/coder/${name}`,
  `.local/state/coder/${name}/intents/record`,
  `.local/state/coder/${name}/intents/new`,
  `elsewhere/${name}/segments/record`,
  "link/intents/record",
  ".local",
  "elsewhere",
];

/** Returns the entries of a folder at any depth, with their inodes, modes and times. */
function stateIn(folder: string): string {
  const own = lstatSync(folder, { throwIfNoEntry: false });
  if (own === undefined) return "gone";
  const inside = own.isDirectory() ? readdirSync(folder, { recursive: true, encoding: "utf8" }).sort() : [];
  return ["", ...inside]
    .map((path) => {
      const { ino, mode, ctimeMs } = lstatSync(join(folder, path));
      return `${path} ${ino} ${mode} ${ctimeMs}`;
    })
    .join("\n");
}

/** Returns whether a file elsewhere has the content of the folders with this name. */
const isCopied = (base: string, name: string): boolean =>
  readdirSync(base, { recursive: true, encoding: "utf8" }).some((path) => {
    const isElsewhere = !path.split("/").includes(name) && !path.startsWith("link");
    const file = join(base, path);
    return isElsewhere && lstatSync(file).isFile() && readFileSync(file, "utf8").includes("denied secret");
  });

interface Worker {
  call(argument: PathArgument, path: string): Promise<string>;
  close(): Promise<void>;
}

interface Family {
  readonly all: readonly PathArgument[];
  open(base: string): Promise<Worker>;
}

/**
 * Returns the arguments that can do harm. The base of a patch is only the folder that its paths start in, and
 * a file without a patch is not shown.
 */
const harmful = (all: readonly PathArgument[]) =>
  all.filter(({ name }) => !/^coder::apply-patch \/(?:base_dir list|patch_path read)$/.test(name));

/** Fields that change an example: that of a listing shows a later page. */
const firstPage: Readonly<Record<string, object>> = { "coder::list-folder": { page: 1 } };

const families: Readonly<Record<string, Family>> = {
  coder: {
    all: harmful(pathCalls),
    async open(base) {
      const config = { source: "test", keys: { fsync: false, base_path: base } };
      const runtime = await openCoder(loadConfig({ config, basePath: undefined, environment: {} }), {
        environment: { XDG_STATE_HOME: join(root, "state") },
      });
      const invoke = createInvoke(runtime, log);
      return {
        async call({ id, payload }, path) {
          const definition = functions.find((one) => one.id === id)!;
          return JSON.stringify(await invoke(definition, { ...payload(path), ...firstPage[id] }));
        },
        close: () => runtime.close(),
      };
    },
  },
  shell: {
    all: harmful(shellPathArguments),
    async open(base) {
      const shell = await openShellFunctions(base, { denied: [] }, (line) => process.stderr.write(line));
      return { call: (argument, path) => shell.call(argument, join(base, path)), close: shell.close };
    },
  },
};

test.each(Object.entries(families))("%s", async (family, { all, open }) => {
  const base = join(root, family);
  const stateOf = (name: string) =>
    [".local/state/coder", "elsewhere"].map((outer) => stateIn(join(base, outer, name))).join("\n");
  const effectsOn = async (name: string) => {
    build(base, name);
    const worker = await open(base);
    const found: { argument: string; path: string; answer: string }[] = [];
    for (const argument of all)
      for (const path of pathsOf(name)) {
        build(base, name);
        const before = stateOf(name);
        const answer = await worker.call(argument, path);
        const isShown = /denied secret|"record"|\/record/.test(answer.replaceAll(path, ""));
        if (isShown || isCopied(base, name) || stateOf(name) !== before)
          found.push({ argument: argument.name, path, answer });
      }
    await worker.close();
    return found;
  };
  const free = await effectsOn(names.free);
  // Guards against arguments that never do harm.
  const unseen = all.filter(({ name }) => !free.some(({ argument }) => argument === name));
  expect(unseen.map(({ name }) => name)).toEqual([]);
  expect(await effectsOn(names.state)).toEqual([]);
});

test("a worker does not serve what lies in a state folder", () => {
  const base = join(root, "served");
  build(base, names.state);
  const config = { source: "test", keys: { base_path: join(base, "elsewhere", names.state, "segments") } };
  const opened = openCoder(loadConfig({ config, basePath: undefined, environment: {} }), { environment: {} });
  expect(opened).rejects.toThrow("lies in the state folder of a worker");
});
