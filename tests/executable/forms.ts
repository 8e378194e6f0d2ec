import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { buildNodeBundle, executable } from "../../scripts/build.ts";

/** A form in which the program is shipped, alone in a folder: nothing of the repository lies beside it. */
export interface Form {
  readonly name: "executable" | "Node bundle";
  readonly command: readonly string[];
}

export interface Forms extends Disposable {
  /** A temporary folder with nothing in it but the forms. */
  readonly folder: string;
  readonly executable: Form;
  readonly bundle: Form;
}

/** Puts both forms into a temporary folder, which goes when they are disposed of. */
export async function installForms(): Promise<Forms> {
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

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `form` with an environment that says nothing about engines or logs. */
export function start(
  { command }: Form,
  args: readonly string[],
  { cwd, env }: RunOptions,
): Subprocess<"ignore", "pipe", "pipe"> {
  const { PATH = "", HOME = "" } = process.env;
  return Bun.spawn([...command, ...args], {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Runs `form` to its end. */
export async function run(form: Form, args: readonly string[], options: RunOptions): Promise<Ended> {
  const child = start(form, args, options);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

/** Calls a function through the engine at `url`, and again while its worker is only about to be there. */
export async function call(
  form: Form,
  [id, payload, url]: readonly [string, string, string],
  cwd: string,
): Promise<Ended> {
  const ended = await run(form, ["call", id, payload, "--url", url], { cwd });
  const isEarly = /^(No engine answers|function_not_found)/.test(ended.stderr);
  return isEarly ? call(form, [id, payload, url], cwd) : ended;
}
