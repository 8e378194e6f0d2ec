/** Figures of the executable that no peer has: start-up time, throughput, memory, size of the tool list. */
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../scripts/build.ts";
import { functions } from "../src/coder/functions.ts";
import { startEngine } from "../src/embedded-engine/engine.ts";
import { median } from "./comparison.ts";
import { makeWorkFolder } from "./disk.ts";
import { type BusServer, startBusServer, startMcpServer, writeSettings } from "./programs.ts";

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The maximum. Without it, the figure is for information only. */
  readonly most?: number;
}

export async function measureFigures(rounds: number): Promise<Figure[]> {
  const folder = makeWorkFolder("little");
  for (let number = 0; number < 20; number++) {
    writeFileSync(join(folder, `file-${number}.txt`), `a line with number ${number}\n`.repeat(30));
  }
  return [
    await timeStart(folder, rounds),
    ...(await countCalls(folder, rounds)),
    ...countWithDelay(folder, rounds),
    ...(await measureMemory(folder)),
    await measureToolList(folder),
  ];
}

/** Measures the list of tools, which a model reads on every turn. */
async function measureToolList(folder: string): Promise<Figure> {
  await using server = await startMcpServer(folder);
  const value = JSON.stringify(await server.listTools()).length;
  return { name: "tools/list over MCP", value, unit: "bytes" };
}

async function timeStart(folder: string, rounds: number): Promise<Figure> {
  const config = writeSettings(folder, {});
  const samples: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const engine = await startEngine();
    const started = performance.now();
    const child = spawn(executable, ["--config", config, "--url", engine.url], { stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    await Promise.all(functions.map(({ id }) => engine.waitForFunction(id)));
    if (round >= 0) samples.push(performance.now() - started);
    child.kill("SIGTERM");
    await ended;
    await engine.stop();
  }
  return { name: "from start to registered", value: median(samples), unit: "ms" };
}

async function countCalls(folder: string, rounds: number): Promise<Figure[]> {
  await using bus = await startBusServer(folder);
  return await countCallsOn(bus, rounds, "on the bus");
}

/** Measures calls per second, with one and with 32 in flight. */
export async function countCallsOn(bus: Callable, rounds: number, where: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const inFlight of [1, 32]) {
    const calls = inFlight === 1 ? 1000 : 6400;
    const samples: number[] = [];
    for (let round = -1; round < rounds; round++) {
      const started = performance.now();
      await callMany(bus, { calls, inFlight }, () => ["coder::read-file", { path: "file-1.txt" }]);
      if (round >= 0) samples.push((1000 * calls) / (performance.now() - started));
    }
    figures.push({
      name: `read-file of 700 bytes ${where}, ${inFlight} in flight`,
      value: median(samples),
      unit: "calls/s",
    });
  }
  return figures;
}

/** Measures the cost of sending an answer no earlier than a millisecond after its call. */
function countWithDelay(folder: string, rounds: number): Figure[] {
  const script = join(import.meta.dirname, "answer-delay.ts");
  const { stdout, status } = spawnSync(process.execPath, [script, folder, String(rounds)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`answer-delay.ts ended with ${status}`);
  return JSON.parse(stdout.toString()) as Figure[];
}

async function measureMemory(folder: string): Promise<Figure[]> {
  await using bus = await startBusServer(folder);
  const search = (number: number): Call => [
    "coder::search",
    { query: number % 2 === 0 ? `number ${number % 50}` : `\\d${number % 10}\\b`, regex: number % 2 === 1 },
  ];
  await callMany(bus, { calls: 100, inFlight: 8 }, search);
  const before = residentMegabytes(bus);
  await callMany(bus, { calls: 10_000, inFlight: 8 }, search);
  return [
    { name: "memory after 100 searches", value: before, unit: "MB" },
    { name: "memory after 10,000 searches more", value: residentMegabytes(bus), unit: "MB" },
  ];
}

type Call = readonly [name: string, payload: Readonly<Record<string, unknown>>];

interface Load {
  readonly calls: number;
  readonly inFlight: number;
}

type Callable = Pick<BusServer, "call">;

async function callMany(
  bus: Callable,
  { calls, inFlight }: Load,
  callOf: (number: number) => Call,
): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < calls) await bus.call(...callOf(next++));
  };
  await Promise.all(Array.from({ length: inFlight }, work));
}

const residentMegabytes = ({ child }: BusServer): number =>
  Number(spawnSync("ps", ["-o", "rss=", "-p", String(child.pid)]).stdout.toString()) / 1024;
