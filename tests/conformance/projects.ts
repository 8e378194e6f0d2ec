/** Folders for starting workers in, with various configuration files, and the outcomes of such starts. */
import { expect } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type RunOptions, type Subject, startCoder } from "../harness/subject.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";

const folders: string[] = [];

/** Removes all projects. Tests call it in `afterAll`. */
export function removeProjects(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
}

/**
 * Makes a folder with these files and the folders `a/` and `b/` for serving. Each of the three has a file
 * that is denied by default.
 */
export function projectOf(files: Readonly<Record<string, string>>): string {
  const project = temporaryFolder();
  folders.push(project);
  const usual = { "a/.env": "secret-a\n", "b/.env": "secret-b\n", ".env": "secret\n" };
  for (const [path, text] of Object.entries({ ...usual, ...files })) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  return project;
}

interface Serving {
  readonly base_path: string;
  readonly config: string;
  /** The whole log of the worker. */
  readonly stderr: string;
}

/** Starts a worker, stops it when it serves, and returns what it has logged. */
export async function serving(
  subject: Subject,
  args: readonly string[],
  options: RunOptions,
): Promise<Serving> {
  const running = startCoder(subject, ["--engine", "embedded:0", ...args], options);
  await running.waitForStderr(/"message":"serving".*\n/);
  running.child.kill("SIGTERM");
  await running.exited;
  const lines = running.stderr().trimEnd().split("\n");
  const said = lines.map((line) => JSON.parse(line)).find(({ message }) => message === "serving");
  return { base_path: said.base_path, config: said.config, stderr: running.stderr() };
}

/** Expects the worker to exit by itself without serving, with a single sentence that has these words. */
export async function expectRefusal(
  subject: Subject,
  { args, words, ...options }: RunOptions & { args: readonly string[]; words: readonly string[] },
): Promise<void> {
  const running = startCoder(subject, args, options);
  running.waitForStderr(/"message":"serving"/).then(
    () => running.child.kill(),
    () => {},
  );
  const code = await running.exited;
  const stdout = running.stdout();
  const stderr = running.stderr();
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  const sentences = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
  expect(sentences).toHaveLength(1);
  expect(words.filter((word) => !sentences[0]!.includes(word))).toEqual([]);
  expect(stderr).not.toContain('"message":"serving"');
}

/** Flags for serving with an embedded engine at any free port. */
export const serveArgs = ["--engine", "embedded:0"];
