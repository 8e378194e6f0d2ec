/**
 * Builds the program: `npm run build` makes dist/coder, an executable for this machine. A release builds the other
 * targets with the same functions.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { BunPlugin } from "bun";
import { sdkVersion, threadTexts, wasmBytes } from "./bundle-plugins.ts";

/** The sources in few files, for tests: Bun starts these in a third of the time that it takes for hundreds of files. */
const sourceBundle = join(dirname(import.meta.dir), ".work/source");

/** The program in that bundle: beside the folders of the rooms, from where `spawnThread` finds the program of a thread. */
const sourceProgram = "src/program/main.js";

/** The repository. */
export const root = dirname(import.meta.dir);

/** The executable for this machine. */
export const executable = join(root, "dist/coder");

/** What of others is in the executables; made by `npm run suite -- licenses`. */
export const noticesFile = join(root, "THIRD-PARTY-NOTICES.txt");

/** The threads that the program starts: a bundler does not follow the address of a thread. */
const threadEntries = [...new Bun.Glob("src/*/thread.ts").scanSync(root)].sort();

export interface ExecutableOptions {
  /** Where to write it. The last name becomes part of the bytes, so equal builds need equal names. */
  readonly outfile: string;
  /** The kind of machine it is for; default this one, with the bun that builds. */
  readonly target?: CompileTarget;
}

export interface CompileTarget {
  /** What the program says it was built for. */
  readonly triple: string;
  readonly compileTarget: Bun.Build.CompileTarget;
  /** The bun to put in, of this version and for that machine. */
  readonly runtime: string;
}

export interface BundleOptions {
  readonly outfile: string;
  /** The target that the program says it was built for; default the machine it runs on. */
  readonly target?: string;
}

/** What the sources know about being built. */
const constants = (target: string | undefined): Record<string, string> => ({
  "process.env.NODE_ENV": '"production"',
  // Threads are in the executable, at their paths below src, and no longer beside the module that starts them.
  COMPILED: "true",
  CODER_NOTICES: JSON.stringify(existsSync(noticesFile) ? readFileSync(noticesFile, "utf8") : ""),
  ...(target && { CODER_TARGET: JSON.stringify(target) }),
});

/**
 * Compiles the program and a Bun runtime into one executable. Bytecode and splitting keep `--version` at a few
 * milliseconds. What the runtime would read from the current directory is off: a bunfig.toml there could name code
 * to run.
 */
export async function buildExecutable({ outfile, target }: ExecutableOptions): Promise<void> {
  mkdirSync(dirname(outfile), { recursive: true });
  // Builds beside the target and renames: a running executable cannot be overwritten, and no program sees half of one.
  const work = mkdtempSync(join(dirname(outfile), ".build-"));
  const made = join(work, basename(outfile));
  try {
    await Bun.build({
      entrypoints: ["src/main.ts", ...threadEntries].map((path) => join(root, path)),
      root: join(root, "src"),
      target: "bun",
      format: "esm",
      splitting: true,
      bytecode: true,
      sourcemap: "linked",
      define: constants(target?.triple),
      plugins: [sdkVersion],
      compile: {
        outfile: made,
        ...(target && { target: target.compileTarget, executablePath: target.runtime }),
        autoloadDotenv: false,
        autoloadBunfig: false,
        autoloadTsconfig: false,
        autoloadPackageJson: false,
      },
    });
    // The map beside the executable is a copy of the one inside it.
    renameSync(made, outfile);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * The program as one CommonJS file for Node 20.11 and newer, which a single-executable application of Node needs:
 * it has no module beside it, not even a WebAssembly file or a thread.
 */
export async function buildNodeBundle({ outfile, target }: BundleOptions): Promise<void> {
  // Before the program, not from a plugin of it: a build inside a build never ends.
  const threads: Record<string, string> = {};
  for (const path of threadEntries) threads[basename(dirname(path))] = await bundleForNode(path, { target });
  const bundle = await bundleForNode("src/main.ts", { target, plugins: [threadTexts(threads)] });
  mkdirSync(dirname(outfile), { recursive: true });
  writeFileSync(outfile, bundle);
}

interface NodeBundle {
  readonly target: string | undefined;
  readonly plugins?: BunPlugin[];
}

async function bundleForNode(entry: string, { target, plugins = [] }: NodeBundle): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(root, entry)],
    target: "node",
    format: "cjs",
    minify: { whitespace: true, syntax: true },
    // Otherwise Bun writes the path of each source on this machine here.
    define: { ...constants(target), "import.meta.url": '"file:///coder"' },
    plugins: [sdkVersion, wasmBytes, ...plugins],
  });
  const [bundle] = outputs;
  if (bundle === undefined) throw new Error("The bundle is empty.");
  return bundle.text();
}

/** The paths of all files of which something is in an executable, be it with Bun or with Node. */
export async function bundledFiles(): Promise<string[]> {
  const files = new Set<string>();
  for (const target of ["bun", "node"] as const) {
    const { metafile } = await Bun.build({
      entrypoints: ["src/main.ts", ...threadEntries].map((path) => join(root, path)),
      root: join(root, "src"),
      target,
      format: "esm",
      splitting: true,
      define: constants(undefined),
      plugins: [sdkVersion],
      metafile: true,
    });
    for (const { inputs } of Object.values(metafile!.outputs)) {
      for (const [path, { bytesInOutput }] of Object.entries(inputs))
        if (bytesInOutput > 0) files.add(resolve(path));
    }
  }
  return [...files].sort();
}

/** Programs that tests start again and again. */
const testPrograms = ["tests/faults/driver.ts", "tests/faults/transaction-child.ts"];

/**
 * Bundles the sources as they are, not compiled and without the constants of a build, and with them the programs of tests
 * that use them. Threads start from files of their own, as they do from `src`.
 */
async function buildSourceBundle(): Promise<void> {
  rmSync(sourceBundle, { recursive: true, force: true });
  const plugins = [sdkVersion, wasmBytes];
  const common = { root, outdir: sourceBundle, target: "bun", plugins } as const;
  await Bun.build({
    ...common,
    entrypoints: [join(root, "src/main.ts")],
    // Bytecode takes a third off the time that the program needs to start. It is for one file in CommonJS.
    format: "cjs",
    bytecode: true,
    naming: sourceProgram,
  });
  await Bun.build({
    ...common,
    entrypoints: [...threadEntries, ...testPrograms].map((path) => join(root, path)),
    format: "esm",
    splitting: true,
    sourcemap: "linked",
    naming: { entry: "[dir]/[name].ts", chunk: "src/chunks/[name]-[hash].js" },
  });
}

/** Builds the executable for this machine unless it is there and made of the present sources. Says whether it did. */
export async function ensureExecutable(): Promise<boolean> {
  const stamp = `${executable}.sources`;
  const sources = digestOfSources();
  const isThere = [executable, stamp, sourceBundle].every((path) => existsSync(path));
  if (isThere && readFileSync(stamp, "utf8") === sources) return false;
  await Promise.all([buildExecutable({ outfile: executable }), buildSourceBundle()]);
  writeFileSync(stamp, sources);
  return true;
}

/** Changes with whatever the executable is made of: sources, packages, the way it is built, the runtime. */
function digestOfSources(): string {
  const sources = [...new Bun.Glob("src/**/*").scanSync(root)].filter((path) => !path.endsWith(".test.ts"));
  const rest = [
    ...testPrograms,
    "THIRD-PARTY-NOTICES.txt",
    "package.json",
    "package-lock.json",
    "scripts/build.ts",
    "scripts/bundle-plugins.ts",
  ];
  const hash = createHash("sha256").update(Bun.version);
  for (const path of [...sources.sort(), ...rest]) {
    hash.update(`\0${path}\0`).update(readFileSync(join(root, path)));
  }
  return hash.digest("hex");
}

if (import.meta.main) {
  const started = performance.now();
  const built = await ensureExecutable();
  const megabytes = (statSync(executable).size / 1e6).toFixed(0);
  console.log(
    `dist/coder, ${megabytes} MB, ${built ? `built in ${Math.round(performance.now() - started)} ms` : "is up to date"}`,
  );
}
