import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "coder-"));

const sdk = Bun.resolveSync("iii-sdk", import.meta.dir);
const connect = `
  import { createHash } from "node:crypto";
  import { Readable } from "node:stream";
  import { registerWorker } from ${JSON.stringify(sdk)};
  import { ChannelReader } from ${JSON.stringify(join(sdk, "../channel.mjs"))};
  import { createChannel } from ${JSON.stringify(join(sdk, "../helpers.mjs"))};
  console.debug = console.error = () => {};
  const url = process.argv[2];
  const worker = registerWorker(url, {
    otel: { enabled: false },
    enableMetricsReporting: false,
    reconnectionConfig: { initialDelayMs: 10 },
  });
  const sha256 = (data) => createHash("sha256").update(data).digest("hex");
  const bytes = Buffer.alloc(4 * 1024 * 1024, "0123456789abcdefg");
  const call = (function_id, payload, metadata) =>
    worker.trigger({ function_id, payload, metadata }).catch(({ code }) => ({ code }));
`;

const programs = {
  engine: `
    import { startEngine } from ${JSON.stringify(join(import.meta.dir, "engine.ts"))};
    const engine = await startEngine();
    process.on("SIGTERM", () => engine.stop());
    console.log(engine.url);
  `,
  server: `${connect}
    worker.registerFunction("p::echo", async (data, metadata) => ({ data, metadata }));
    worker.registerFunction("p::fail", async () => { throw new Error("no"); });
    worker.registerFunction("p::size", async ({ bytes }) => "x".repeat(bytes));
    worker.registerFunction("p::stream", async () => {
      const { readerRef, writer } = await createChannel(worker);
      Readable.from([bytes]).pipe(writer.stream);
      return readerRef;
    });
    process.on("SIGTERM", () => worker.shutdown());
    await worker.trigger({ function_id: "engine::workers::list", payload: {} });
    console.log("ready");
  `,
  client: `${connect}
    const { data } = await call("p::echo", { text: "é" });
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    const echoed = await Promise.all(numbers.map((n) => call("p::echo", n)));
    const size = (await call("p::size", { bytes: 15 * 1024 * 1024 })).length;
    const reader = new ChannelReader(url, await call("p::stream", {}));
    const streamed = sha256(await reader.readAll()) === sha256(bytes);
    const report = {
      text: data.text,
      named: typeof data._caller_worker_id,
      metadata: (await call("p::echo", [], { a: [1] })).metadata,
      concurrent: echoed.every(({ data }, n) => data === n),
      size,
      streamed,
      failed: await call("p::fail", {}),
      unknown: await call("p::none", {}),
      oversized: await call("p::size", { bytes: 16 * 1024 * 1024 }),
    };
    while ((await call("p::echo", {})).code === "function_not_found");
    console.log(JSON.stringify(report));
    await worker.shutdown();
  `,
};

const runtimes = { bun: process.execPath, node: "node" };
type Runtime = keyof typeof runtimes;

beforeAll(() => {
  // The SDK reads its version from the folder above the bundle.
  copyFileSync(join(sdk, "../../package.json"), join(folder, "package.json"));
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, `${name}.mjs`), text);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function bundle(target: Runtime): Promise<void> {
  const entrypoints = Object.keys(programs).map((name) => join(folder, `${name}.mjs`));
  const { success, logs } = await Bun.build({ entrypoints, target, outdir: join(folder, target) });
  if (!success) throw new AggregateError(logs);
}

function start(runtime: Runtime, program: keyof typeof programs, ...argv: string[]) {
  const script = join(folder, runtime, `${program}.js`);
  return Bun.spawn([runtimes[runtime], script, ...argv], { stdout: "pipe", stderr: "inherit" });
}

async function firstLine(process: ReturnType<typeof start>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of process.stdout) {
    text += decoder.decode(part, { stream: true });
    if (text.includes("\n")) break;
  }
  return text.split("\n", 1)[0] ?? "";
}

describe.each(["bun", "node"] as const)("engine, server and client as three processes on %s", (runtime) => {
  test("work together, survive a crash, and end by themselves", async () => {
    await bundle(runtime);
    await using engine = start(runtime, "engine");
    const url = await firstLine(engine);
    await using server = start(runtime, "server", url);
    expect(await firstLine(server)).toBe("ready");
    await using client = start(runtime, "client", url);
    expect(JSON.parse(await firstLine(client))).toEqual({
      text: "é",
      named: "string",
      metadata: { a: [1] },
      concurrent: true,
      size: 15 * 1024 * 1024,
      streamed: true,
      failed: { code: "invocation_failed" },
      unknown: { code: "function_not_found" },
      oversized: { code: "invocation_stopped" },
    });
    expect(await client.exited).toBe(0);
    server.kill("SIGTERM");
    engine.kill("SIGTERM");
    expect(await server.exited).toBe(0);
    expect(await engine.exited).toBe(0);
  });
});
