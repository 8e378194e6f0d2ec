/** The functions `shell::fs::*` in this process, around a folder, with a bus that is only made up. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { readNamed } from "../../../src/config/source.ts";
import type { BusAccess, ChannelSink, ChannelSource } from "../../../src/contract/definition.ts";
import { createLog } from "../../../src/log/log.ts";
import { createInvoke } from "../../../src/worker/invoke.ts";
import { workers } from "../../../src/workers.ts";

/** A way to call a function on an absolute path. */
export interface Way {
  readonly op: string;
  readonly name: string;
  readonly effect: "reads" | "writes";
  payload(path: string, base: string): Readonly<Record<string, unknown>>;
}

const content = { channel_id: "c", access_key: "k" };
/** Finds the words of forbidden files, without being one. */
const pattern = "(outside|denied).(secret|name)|inside";

const way = (op: string, effect: Way["effect"], payload: Way["payload"], name = op): Way => ({
  op,
  effect,
  payload,
  name,
});

/** How each function is brought to act on a path. A function of `shell::fs` that is missing here fails the matrix. */
export const ways: readonly Way[] = [
  way("ls", "reads", (path) => ({ path })),
  way("stat", "reads", (path) => ({ path })),
  way("read", "reads", (path) => ({ path })),
  way("grep", "reads", (path) => ({ path, pattern })),
  way("mkdir", "writes", (path) => ({ path, parents: true })),
  way("rm", "writes", (path) => ({ path })),
  way("rm", "writes", (path) => ({ path, recursive: true }), "rm tree"),
  way("chmod", "writes", (path) => ({ path, mode: "0711" })),
  way("chmod", "writes", (path) => ({ path, mode: "0711", recursive: true }), "chmod tree"),
  way("mv", "writes", (path, base) => ({ src: path, dst: `${base}/moved-here` }), "mv away"),
  way("mv", "writes", (path, base) => ({ src: `${base}/a.txt`, dst: path }), "mv to"),
  way("mv", "writes", (path, base) => ({ src: `${base}/a.txt`, dst: path, overwrite: true }), "mv onto"),
  way("sed", "writes", (path) => ({ files: [path], pattern, replacement: "new" })),
  way("sed", "writes", (path) => ({ path, pattern, replacement: "new" }), "sed tree"),
  way("write", "writes", (path) => ({ path, content, parents: true })),
];

export interface Shell {
  /** Makes a call and returns all that the caller is shown, the bytes of a file too. */
  call(way: Way, path: string): Promise<string>;
  close(): Promise<void>;
}

/** Host paths that calls must not reach, and those that they must not change. */
export interface OutOfReach {
  readonly denied: readonly string[];
  readonly configFiles?: readonly string[];
}

/** Opens the functions around `base`. What is logged goes to `onLog`. */
export async function openShell(
  base: string,
  { denied, configFiles = [] }: OutOfReach,
  onLog: (line: string) => void,
): Promise<Shell> {
  const settings = mkdtempSync(join(tmpdir(), "coder-"));
  const configFile = join(settings, "shell.yaml");
  writeFileSync(configFile, JSON.stringify({ fs: { host_root: base, denylist_paths: denied } }));
  const log = createLog({ level: "error", form: "text", write: onLog });
  const { functions, open } = workers.shell;
  const config = await readNamed(configFile);
  const workshop = await open({
    config,
    configFiles,
    mode: "serve",
    readOnly: false,
    basePath: undefined,
    environment: {},
    log,
  });
  rmSync(settings, { recursive: true });
  const invoke = createInvoke(workshop, log);
  return {
    async call({ op, payload }, path) {
      const bus = new PretendedBus();
      const definition = functions.find(({ id }) => id === `shell::fs::${op}`)!;
      const outcome = await invoke(definition, payload(path, base), { bus });
      return JSON.stringify(outcome) + (await bus.sent());
    },
    close: () => workshop.close(),
  };
}

/** Every channel to read from holds "new"; what is sent is kept. */
class PretendedBus implements BusAccess {
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

  /** What was sent, once all of it was. */
  async sent(): Promise<string> {
    return (await this.#sent) ?? "";
  }
}
