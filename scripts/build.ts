/**
 * Builds the program: `npm run build` makes dist/coder, an executable for this machine. A release builds the
 * other targets with these functions.
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
import { basename, dirname, join, relative, resolve } from "node:path";
import type { BunPlugin } from "bun";
import { meteredEngine, sdkVersion, threadTexts, unusedSchemas, wasmBytes } from "./bundle-plugins.ts";
import { buildPage, pageTexts } from "./page.ts";

/**
 * The folder of the sources bundled into few files, for tests: Bun starts these in a third of the time that
 * it takes for hundreds of files.
 */
const sourceBundle = join(dirname(import.meta.dir), ".work/source");

/**
 * The program in that bundle, beside the folders of the rooms, so that `spawnThread` finds the program of a
 * thread.
 */
const sourceProgram = "src/base/program/main.js";

/** The root of the repository. */
export const root = dirname(import.meta.dir);

/** The executable for this machine. */
export const executable = join(root, "dist/coder");

/** The notices of third-party components in the executables, written by `npm run suite -- licenses`. */
export const noticesFile = join(root, "THIRD-PARTY-NOTICES.txt");

/** The programs of the threads. A bundler does not follow the address of a thread. */
const threadEntries = [...new Bun.Glob("src/**/thread.ts").scanSync(root)].sort();

export interface ExecutableOptions {
  /** The path to write it to. The last name becomes part of the bytes, so equal builds need equal names. */
  readonly outfile: string;
  /** The kind of machine that it is for; by default this one, with the bun that builds. */
  readonly target?: CompileTarget;
}

export interface CompileTarget {
  /** The target that the program reports. */
  readonly triple: string;
  readonly compileTarget: Bun.Build.CompileTarget;
  /** The path of the bun to include, of this version and for that machine. */
  readonly runtime: string;
}

export interface BundleOptions {
  readonly outfile: string;
  /** The target that the program reports; by default the machine that it runs on. */
  readonly target?: string;
}

/** Returns the constants that a build sets in the sources. */
const constants = (target: string | undefined): Record<string, string> => ({
  "process.env.NODE_ENV": '"production"',
  // Threads are in the executable at their paths below src, instead of beside the module that starts them.
  COMPILED: "true",
  ENGINE_IS_METERED: "true",
  CODER_NOTICES: JSON.stringify(existsSync(noticesFile) ? readFileSync(noticesFile, "utf8") : ""),
  ...(target && { CODER_TARGET: JSON.stringify(target) }),
});

/**
 * Compiles the program and a Bun runtime into one executable. Bytecode and splitting reduce `--version` to a
 * few milliseconds. The runtime reads nothing from the current directory: a bunfig.toml there could name code
 * to run.
 */
export async function buildExecutable({ outfile, target }: ExecutableOptions): Promise<void> {
  mkdirSync(dirname(outfile), { recursive: true });
  // Build beside the target and rename: a running executable cannot be overwritten, and no program sees half
  // of one.
  const work = mkdtempSync(join(dirname(outfile), ".build-"));
  const made = join(work, basename(outfile));
  try {
    const page = pageTexts(await buildPage());
    await Bun.build({
      entrypoints: ["src/main.ts", ...threadEntries].map((path) => join(root, path)),
      root: join(root, "src"),
      target: "bun",
      format: "esm",
      splitting: true,
      bytecode: true,
      sourcemap: "linked",
      define: constants(target?.triple),
      plugins: [sdkVersion, unusedSchemas, page, meteredEngine({ isFile: true })],
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
 * Bundles the program into one CommonJS file for Node 20.11 and newer, for a single-executable application of
 * Node: such an application has no module beside it, not even a WebAssembly file or a thread.
 */
export async function buildNodeBundle({ outfile, target }: BundleOptions): Promise<void> {
  // These must precede the program, and cannot be done by a plugin of it: a build inside a build never ends.
  const page = pageTexts(await buildPage());
  const threads: Record<string, string> = {};
  for (const path of threadEntries)
    threads[dirname(relative("src", path))] = await bundleForNode(path, { target });
  const bundle = await bundleForNode("src/main.ts", { target, plugins: [threadTexts(threads), page] });
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
    plugins: [sdkVersion, unusedSchemas, meteredEngine({ isFile: false }), wasmBytes, ...plugins],
  });
  const [bundle] = outputs;
  if (bundle === undefined) throw new Error("The bundle is empty.");
  return bundle.text();
}

/** Returns the paths of all files with code in an executable, with Bun or with Node. */
export async function bundledFiles(): Promise<string[]> {
  const files = new Set<string>((await buildPage()).sources.map((path) => resolve(path)));
  for (const target of ["bun", "node"] as const) {
    const { metafile } = await Bun.build({
      entrypoints: ["src/main.ts", ...threadEntries].map((path) => join(root, path)),
      root: join(root, "src"),
      target,
      format: "esm",
      splitting: true,
      define: constants(undefined),
      plugins: [sdkVersion, unusedSchemas],
      metafile: true,
    });
    for (const { inputs } of Object.values(metafile!.outputs)) {
      for (const [path, { bytesInOutput }] of Object.entries(inputs))
        if (bytesInOutput > 0) files.add(resolve(path));
    }
  }
  return [...files].sort();
}

/** The programs that tests start repeatedly. */
const testPrograms = ["tests/faults/driver.ts", "tests/faults/transaction-child.ts"];

/**
 * Bundles the uncompiled sources without the constants of a build, together with the test programs that use
 * them. Threads start from files of their own, like in `src`.
 */
async function buildSourceBundle(): Promise<void> {
  rmSync(sourceBundle, { recursive: true, force: true });
  const plugins = [sdkVersion, wasmBytes, pageTexts(await buildPage())];
  const common = { root, outdir: sourceBundle, target: "bun", plugins } as const;
  await Bun.build({
    ...common,
    entrypoints: [join(root, "src/main.ts")],
    // Bytecode saves a third of the start time. It requires one file in CommonJS.
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
    naming: { entry: "[dir]/[name].ts", chunk: "src/base/chunks/[name]-[hash].js" },
  });
}

/**
 * Builds the executable for this machine, unless it exists and is made from the current sources. Returns
 * whether it did.
 */
export async function ensureExecutable(): Promise<boolean> {
  const stamp = `${executable}.sources`;
  const sources = digestOfSources();
  const isThere = [executable, stamp, sourceBundle].every((path) => existsSync(path));
  if (isThere && readFileSync(stamp, "utf8") === sources) return false;
  await Promise.all([buildExecutable({ outfile: executable }), buildSourceBundle()]);
  writeFileSync(stamp, sources);
  return true;
}

/**
 * Returns a digest of everything that the executable is made of: sources, packages, build scripts, the
 * runtime.
 */
function digestOfSources(): string {
  const sources = [...new Bun.Glob("src/**/*").scanSync(root)].filter((path) => !path.endsWith(".test.ts"));
  const rest = [
    ...testPrograms,
    "THIRD-PARTY-NOTICES.txt",
    "package.json",
    "package-lock.json",
    "scripts/build.ts",
    "scripts/bundle-plugins.ts",
    "scripts/page.ts",
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
