import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { buildNodeBundle, executable } from "../../scripts/build.ts";
import type { ProcessResult } from "../harness/subject.ts";

/** A shipped form of the program, in a folder without the rest of the repository. */
export interface Artifact {
  readonly name: "executable" | "Node bundle";
  readonly command: readonly string[];
}

export interface Artifacts extends Disposable {
  /** A temporary folder that contains only the artifacts. */
  readonly folder: string;
  readonly executable: Artifact;
  readonly bundle: Artifact;
}

/** Puts both artifacts into a temporary folder, which their disposal removes. */
export async function installArtifacts(): Promise<Artifacts> {
  if (!existsSync(executable))
    throw new Error(`${executable} is missing: run "npm run build" before these tests`);
  const folder = mkdtempSync(join(tmpdir(), "coder-"));
  const [compiled, bundle] = [join(folder, "coder"), join(folder, "coder.cjs")];
  copyFileSync(executable, compiled);
  await buildNodeBundle({ outfile: bundle });
  return {
    folder,
    executable: { name: "executable", command: [compiled] },
    bundle: { name: "Node bundle", command: ["node", bundle] },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

export interface ArtifactOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `artifact` without the environment variables of engines and logs. */
export function startArtifact(
  { command }: Pick<Artifact, "command">,
  args: readonly string[],
  { cwd, env }: ArtifactOptions,
): Subprocess<"ignore", "pipe", "pipe"> {
  const { PATH = "", HOME = "" } = process.env;
  return Bun.spawn([...command, ...args], {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Runs `artifact` to completion and returns its output. */
export async function runArtifact(
  artifact: Pick<Artifact, "command">,
  args: readonly string[],
  options: ArtifactOptions,
): Promise<ProcessResult> {
  const child = startArtifact(artifact, args, options);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

/** Calls a function through the engine at `url`. Retries until the engine and the worker are ready. */
export async function callArtifact(
  artifact: Artifact,
  [id, payload, url]: readonly [string, string, string],
  cwd: string,
): Promise<ProcessResult> {
  const ended = await runArtifact(artifact, ["call", id, payload, "--url", url], { cwd });
  const isEarly = /^(No engine answers|function_not_found)/.test(ended.stderr);
  return isEarly ? callArtifact(artifact, [id, payload, url], cwd) : ended;
}
