/**
 * `npm run release`: writes an archive and a checksum for each worker and target to dist/release, the
 * packages of npm to dist/release/npm, MCPB bundles, the entry in the registry of MCP, a formula of Homebrew,
 * and NOTES.md. The workers are those of src/base/about.ts, one executable under several names; the targets
 * are those of targets.json.
 *
 *     npm run release -- --targets aarch64-apple-darwin,x86_64-unknown-linux-musl --out /tmp/release
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { workerNames } from "../src/base/about.ts";
import { buildExecutable, buildNodeBundle, type CompileTarget, noticesFile, root } from "./build.ts";
import { packExecutable, renderChecksum, sha256 } from "./release/archive.ts";
import type { Artefact } from "./release/artefact.ts";
import { releaseUrl, renderFormula } from "./release/formula.ts";
import { signAdHoc } from "./release/mach-o.ts";
import { type PublishedBundle, registryEntry } from "./release/manifests/manifests.ts";
import { bundleName, desktopTargets, packBundle } from "./release/mcpb/bundle.ts";
import { renderNotes } from "./release/notes.ts";
import { type NpmPackage, packLauncher, packPlatformPackage } from "./release/npm/packages.ts";
import { fetchFile, lockedPackage } from "./release/packages.ts";
import { injectBlob, makeBlob } from "./release/single-executable.ts";
import { chooseTargets, type ReleaseTarget } from "./release/targets.ts";

/**
 * Builds and packs every worker for each of `targets` into `folder`, and prints a line for each archive.
 * Removes earlier releases from it first, because the pipeline publishes everything in the folder.
 */
export async function release(targets: readonly ReleaseTarget[], folder: string): Promise<Artefact[]> {
  mkdirSync(folder, { recursive: true });
  const earlier = new Bun.Glob(
    `{NOTES.md,server.json,coder.rb,*.mcpb,{${workerNames.join(",")}}-*.{tar.gz,sha256}}`,
  );
  for (const name of earlier.scanSync(folder)) rmSync(join(folder, name));
  const notices = { name: basename(noticesFile), contents: readFileSync(noticesFile) };
  rmSync(join(folder, "npm"), { recursive: true, force: true });
  const artefacts: Artefact[] = [];
  const bundles: PublishedBundle[] = [];
  writePackage(packLauncher(), folder);
  for (const target of targets) {
    const { executable, programBytes } = await buildTarget(target);
    writePackage(packPlatformPackage(target, executable), folder);
    if (desktopTargets.includes(target.triple)) bundles.push(writeBundle(target, executable, folder));
    const sizes = { executableBytes: executable.length, programBytes };
    const packed = packExecutable(workerNames, executable, notices);
    for (const [index, worker] of workerNames.entries()) {
      const written = write(packed[index] as Buffer, join(folder, `${worker}-${target.triple}`));
      artefacts.push({ worker, target, ...sizes, ...written });
    }
  }
  writeFileSync(join(folder, "server.json"), `${JSON.stringify(registryEntry(bundles), null, 2)}\n`);
  const formula = renderFormula(artefacts);
  if (formula !== undefined) writeFileSync(join(folder, "coder.rb"), formula);
  return artefacts;
}

/** An executable, and the size of its program without the runtime. */
interface Built {
  readonly executable: Buffer;
  readonly programBytes: number;
}

/** Builds the executable for a target. */
export async function buildTarget({ triple, runtime }: ReleaseTarget): Promise<Built> {
  const work = mkdtempSync(join(tmpdir(), "coder-release-"));
  try {
    const file = fetchFile(lockedPackage(runtime.package), runtime.file, work);
    const { compileTarget } = runtime;
    return compileTarget === undefined
      ? await assemble(triple, file)
      : await compile({ triple, compileTarget, runtime: file });
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Compiles the executable with Bun, in the folder of the runtime. */
async function compile(target: CompileTarget): Promise<Built> {
  const outfile = join(dirname(target.runtime), "coder");
  await buildExecutable({ outfile, target });
  const executable = readFileSync(outfile);
  return {
    executable: target.compileTarget === "bun-darwin-x64" ? signAdHoc(executable, "coder") : executable,
    programBytes: executable.length - statSync(target.runtime).size,
  };
}

/** Assembles the executable with Node. */
async function assemble(triple: string, runtime: string): Promise<Built> {
  const outfile = join(dirname(runtime), "coder.cjs");
  await buildNodeBundle({ outfile, target: triple });
  const blob = makeBlob("coder.cjs", readFileSync(outfile));
  return { executable: injectBlob(readFileSync(runtime), blob), programBytes: blob.length };
}

/** Writes an archive, and its checksum beside it. */
function write(packed: Buffer, place: string): Pick<Artefact, "archive" | "archiveBytes" | "digest"> {
  const archive = `${place}.tar.gz`;
  const digest = sha256(packed);
  writeFileSync(archive, packed);
  writeFileSync(`${place}.sha256`, renderChecksum(digest, basename(archive)));
  return { archive, archiveBytes: packed.length, digest };
}

/** Writes a package of npm below `folder`. */
function writePackage({ file, archive }: NpmPackage, folder: string): void {
  mkdirSync(join(folder, "npm"), { recursive: true });
  writeFileSync(join(folder, "npm", file), archive);
}

/** Writes an MCPB bundle, and returns what the registry of MCP says about it. */
function writeBundle({ triple }: ReleaseTarget, executable: Buffer, folder: string): PublishedBundle {
  const [name, bundle] = [bundleName(triple), packBundle(triple, executable)];
  writeFileSync(join(folder, name), bundle);
  return { url: releaseUrl(name), digest: sha256(bundle) };
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { targets: { type: "string" }, out: { type: "string" } } });
  const folder = resolve(values.out ?? join(root, "dist/release"));
  const artefacts = await release(chooseTargets(values.targets), folder);
  writeFileSync(join(folder, "NOTES.md"), renderNotes(artefacts));
  for (const { archive, archiveBytes, digest } of artefacts)
    console.log(`${digest}  ${(archiveBytes / 1e6).toFixed(1).padStart(5)} MB  ${archive}`);
}
