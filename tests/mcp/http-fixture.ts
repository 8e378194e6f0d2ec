import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { commandOf, compilerOptions, type Subject } from "../harness/subject.ts";
import { type McpFolderOptions, makeMcpFolder, watchStderr } from "./client.ts";

/** A program that serves a new folder over HTTP. */
export interface HttpFixture extends AsyncDisposable {
  /** The path of the served folder. */
  readonly base: string;
  readonly url: URL;
  readonly child: ChildProcess;
  stderr(): string;
  waitForStderr(pattern: RegExp): Promise<void>;
}

export interface HttpFixtureOptions extends McpFolderOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the program, and waits until it listens. */
export async function startHttp(
  subject: Subject,
  { args = ["--http", "0", "--no-token"], env = {}, ...folder }: HttpFixtureOptions = {},
): Promise<HttpFixture> {
  const { base, file, remove } = makeMcpFolder(folder);
  const [command, ...before] = commandOf(subject);
  const child = spawn(command, [...before, "mcp", "--config", file, ...args], {
    env: { ...compilerOptions, PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = watchStderr(child.stderr);
  await log.waitForStderr(/"message":"listening","url":"[^"]+"/);
  const [, url = ""] = /"message":"listening","url":"([^"]+)"/.exec(log.stderr()) ?? [];
  return {
    base,
    url: new URL(url),
    child,
    ...log,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
      remove();
    },
  };
}
