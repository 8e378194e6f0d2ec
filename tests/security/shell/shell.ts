/** The functions `shell::fs::*` in this process, with a fake bus. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { createLog } from "../../../src/base/log/log.ts";
import type { BusAccess, ChannelSink, ChannelSource } from "../../../src/calls/contract/bus-access.ts";
import { createInvoke } from "../../../src/calls/invoke.ts";
import { readNamed } from "../../../src/config/source.ts";
import { workers } from "../../../src/serve/workers.ts";
import {
  defaultOtherPaths,
  type OtherPaths,
  type PathArgument,
  pathArgumentsOf,
} from "../../harness/path-arguments.ts";

const content = { channel_id: "c", access_key: "k" };
/** Matches the words of forbidden files, but does not contain them. */
const pattern = "(outside|denied).(secret|name)|inside";

/** Changes to the examples of functions, so that nothing escapes the suites. */
const overrides = {
  "shell::fs::grep": { pattern, include_glob: [] },
  "shell::fs::sed": { pattern, replacement: "new", include_glob: [] },
  "shell::fs::chmod": { mode: "0711" },
  "shell::fs::write": { content },
};

/** All path arguments of the functions, from their definitions. The paths must be absolute. */
export const shellPathArguments: readonly PathArgument[] = pathArgumentsOf(
  workers.shell.functions,
  overrides,
);

export interface ShellFunctions {
  /**
   * Makes a call and returns everything that the caller sees, including the bytes of a file. `others` are
   * relative to the base.
   */
  call(argument: PathArgument, path: string, others?: OtherPaths): Promise<string>;
  close(): Promise<void>;
}

/** Host paths that calls must not reach, and host paths that they must not change. */
export interface ProtectedPaths {
  readonly denied: readonly string[];
  readonly configFiles?: readonly string[];
  /** The profile of the worker. Default: `contract`. */
  readonly profile?: "contract" | "agent";
  /** The backend of the jail. Default: that of CODER_JAIL. */
  readonly backend?: string | undefined;
  /** The `fs_scope` of each call. */
  readonly scope?: object | undefined;
}

/** Opens the functions for `base`. Passes the lines of the log to `onLog`. */
export async function openShellFunctions(
  base: string,
  {
    denied,
    configFiles = [],
    profile = "contract",
    backend = process.env["CODER_JAIL"],
    scope,
  }: ProtectedPaths,
  onLog: (line: string) => void,
): Promise<ShellFunctions> {
  const settings = mkdtempSync(join(tmpdir(), "coder-"));
  const configFile = join(settings, "shell.yaml");
  writeFileSync(
    configFile,
    JSON.stringify({
      profile,
      unknown_fields: "ignore",
      os_sandbox: "off",
      fs: { host_root: base, denylist_paths: denied },
    }),
  );
  const log = createLog({ level: "error", form: "text", write: onLog });
  const { functions, open } = workers.shell;
  const config = await readNamed(configFile);
  const runtime = await open({
    config,
    configFiles,
    mode: "serve",
    readOnly: false,
    basePath: undefined,
    environment: { CODER_JAIL: backend },
    log,
  });
  rmSync(settings, { recursive: true });
  const invoke = createInvoke(runtime, log);
  return {
    async call({ id, payload }, path, { there, free } = defaultOtherPaths) {
      const bus = new FakeBus();
      const definition = functions.find((one) => one.id === id)!;
      const others = { there: join(base, there), free: join(base, free) };
      const sent = { ...payload(path, others), ...(scope && { fs_scope: scope }) };
      const outcome = await invoke(definition, sent, { bus });
      return JSON.stringify(outcome) + (await bus.sent());
    },
    close: () => runtime.close(),
  };
}

/** A bus that keeps what is sent. Every channel to read from holds "new". */
class FakeBus implements BusAccess {
  #sent: Promise<string> | undefined;

  call(): Promise<never> {
    throw new Error("no other worker is there");
  }

  async createChannel() {
    return { reader: { ...content, direction: "read" }, writer: { ...content, direction: "write" } } as const;
  }

  openSource(): ChannelSource {
    return {
      stream: Readable.from([Buffer.from("new")]),
      onMessage: () => undefined,
      close: () => undefined,
    };
  }

  openSink(): ChannelSink {
    const pieces: string[] = [];
    const stream = new Writable({
      write(piece, _, done) {
        pieces.push(String(piece));
        done();
      },
    });
    this.#sent = new Promise((resolve) => stream.once("close", () => resolve(pieces.join(""))));
    return {
      stream,
      connect: () => undefined,
      sendMessage: (text) => pieces.push(text),
      close: () => undefined,
    };
  }

  /** Returns everything that was sent, once the channel is closed. */
  async sent(): Promise<string> {
    return (await this.#sent) ?? "";
  }
}
