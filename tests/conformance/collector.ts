/**
 * `npm run suite -- collector`: sends spans and metrics over the bus and over MCP to a third-party collector,
 * [rotel](https://github.com/streamfold/rotel). `python3 -m pip` installs it from PyPI into .work, for Linux
 * and CPython.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureExecutable, root } from "../../scripts/build.ts";
import { parentId, traceCallsOf, tracedCalls, traceId, traceparent } from "../harness/traced-calls.ts";
import { withWorker } from "../harness/with-worker.ts";
import { connectStdio } from "../mcp/client.ts";

const version = "0.0.1a15";
const folder = join(root, `.work/rotel-${version}`);

function install(): string {
  if (!existsSync(folder)) {
    const args = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, `rotel==${version}`];
    execFileSync("python3", args, { stdio: ["ignore", 2, 2] });
  }
  return join(folder, "rotel/rotel-agent");
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The ports and the folder of a collector. */
interface Places {
  readonly http: number;
  readonly grpc: number;
  readonly own: string;
}

/** A process of the collector, which prints the spans and metrics that it receives. */
class Collector {
  readonly #process: ChildProcess;
  #output = "";
  #wake: () => void = () => {};

  constructor(program: string, { http, grpc, own }: Places) {
    const address = (port: number) => `127.0.0.1:${port}`;
    const args = [
      ...["start", "--exporter", "blackhole", "--pid-file", join(own, "pid")],
      ...["--otlp-http-endpoint", address(http), "--otlp-grpc-endpoint", address(grpc)],
      ...["--debug-log", "traces", "--debug-log", "metrics", "--debug-log-verbosity", "detailed"],
    ];
    this.#process = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
        this.#wake();
      });
  }

  /** Resolves to the whole output as soon as it contains all of `words`. */
  async printed(...words: string[]): Promise<string> {
    while (!words.every((word) => this.#output.includes(word)))
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#output;
  }

  /** Discards the output so far. */
  clear(): void {
    this.#output = "";
  }

  end(): void {
    this.#process.kill();
  }
}

async function tryBoth(collector: Collector, env: Readonly<Record<string, string>>): Promise<void> {
  const expected = ["Name           : coder::read-file", traceId, parentId, "error.type: Str(C211)"];
  const metrics = ["rpc.server.call.duration", "coder.answer.size", "coder.journal.size"];
  const check = async (system: string) => {
    const printed = await collector.printed(`rpc.system.name: Str(${system})`, ...expected, ...metrics);
    for (const word of ["needle", "a.txt", "none.txt"])
      if (printed.includes(word)) throw new Error(`The collector was told ${word}.`);
    console.log(`${system}: the collector has the spans in their trace, and the metrics`);
    collector.clear();
  };
  await withWorker(
    "executable",
    async ({ build, client, call }) => {
      build({ "a.txt": "needle" });
      traceCallsOf(client);
      for (const [id, payload] of tracedCalls) await call(id, payload);
    },
    { env },
  );
  await check("iii");
  await using fixture = await connectStdio("executable", { tree: { "a.txt": "needle" }, env });
  for (const [, given] of tracedCalls)
    await fixture.client.callTool({ name: "coder_read_file", arguments: given, _meta: { traceparent } });
  await fixture.client.close();
  await check("mcp");
}

const own = mkdtempSync(join(tmpdir(), "coder-"));
await ensureExecutable();
const [http, grpc] = [await freePort(), await freePort()];
const collector = new Collector(install(), { http, grpc, own });
const late = setTimeout(() => {
  console.error("The collector did not print what it should, within a minute.");
  collector.end();
  process.exit(1);
}, 60_000);
try {
  await collector.printed("Starting Rotel");
  await tryBoth(collector, { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${http}` });
} finally {
  clearTimeout(late);
  collector.end();
  rmSync(own, { recursive: true });
}
