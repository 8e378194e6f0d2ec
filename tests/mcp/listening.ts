import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { commandOf, type Subject } from "../harness/subject.ts";
import { type FolderOptions, makeFolder, watch } from "./client.ts";

/** A program that serves a folder of its own over HTTP. */
export interface Listening extends AsyncDisposable {
  readonly url: URL;
  readonly child: ChildProcess;
  stderr(): string;
  saying(pattern: RegExp): Promise<void>;
}

export interface ListenOptions extends FolderOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts it, and waits until it listens. */
export async function listen(
  subject: Subject,
  { args = ["--http", "0", "--no-token"], env = {}, ...folder }: ListenOptions = {},
): Promise<Listening> {
  const { file, remove } = makeFolder(folder);
  const [command, ...before] = commandOf(subject);
  const child = spawn(command, [...before, "mcp", "--config", file, ...args], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = watch(child.stderr);
  await log.saying(/"url":"[^"]+"/);
  const [, url = ""] = /"url":"([^"]+)"/.exec(log.stderr()) ?? [];
  return {
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
