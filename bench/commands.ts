/**
 * Measures the cost of the sandbox for a command: `shell::exec` of true(1) in this process, alternately
 * without the sandbox and with it.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLog } from "../src/base/log/log.ts";
import { createInvoke } from "../src/calls/invoke.ts";
import { defaultShellConfig } from "../src/shell/config.ts";
import { shellFunctions } from "../src/shell/functions.ts";
import { openShell } from "../src/shell/services.ts";
import { median, type Ratio } from "./comparison.ts";
import { makeWorkFolder } from "./disk.ts";
import type { Figure } from "./figures.ts";

/** Maximum milliseconds that the sandbox may add to a command. */
const maxMilliseconds = 15;

const warmUp = 10;
const perRound = 60;

export interface CommandCosts {
  readonly ratios: readonly Ratio[];
  readonly figures: readonly Figure[];
}

export async function measureCommands(rounds: number): Promise<CommandCosts> {
  const folder = makeWorkFolder("commands");
  mkdirSync(join(folder, "config"), { recursive: true });
  for (const name of [".env", "config/key"]) writeFileSync(join(folder, name), "secret\n");
  const below = [join(folder, ".env"), join(folder, "config/key")];
  const without = await openCommands(folder, { os_sandbox: "off" });
  const confined = {
    "under the sandbox": await openCommands(folder, { os_sandbox: "required" }),
    "with two denied files, behind mounts": await openCommands(folder, { os_sandbox: "required" }, below),
  };
  const all = [without, ...Object.values(confined)];
  for (let number = 0; number < warmUp; number++) for (const { run } of all) await run();
  const samples: number[][][] = all.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const one of samples) one.push([]);
    for (let number = 0; number < perRound; number++)
      for (const [index, { run }] of all.entries()) samples[index]!.at(-1)!.push(await timeOf(run));
  }
  for (const { close } of all) await close();
  const [alone, ...others] = samples.map((ofRounds) => ofRounds.map(median));
  const costs = Object.keys(confined).map((name, index) => ({ name, alone: alone!, ours: others[index]! }));
  return { ratios: costs.map(rowOf), figures: costs.map(figureOf) };
}

/** The medians of the rounds, in milliseconds. */
interface Cost {
  readonly name: string;
  readonly ours: readonly number[];
  readonly alone: readonly number[];
}

async function openCommands(folder: string, changes: object, denied: readonly string[] = []) {
  const usual = defaultShellConfig();
  const fs = {
    ...usual.fs,
    host_root: folder,
    denylist_paths: [...usual.fs.denylist_paths, ...denied],
  };
  const log = createLog({ level: "error", form: "json", write: console.error });
  const config = { ...usual, allowlist: ["true"], fs, ...changes };
  const runtime = await openShell(config, { environment: {}, log });
  const invoke = createInvoke(runtime, log);
  const exec = shellFunctions.find(({ id }) => id === "shell::exec")!;
  return {
    async run() {
      const outcome = await invoke(exec, { command: "true" });
      if ("error" in outcome) throw new Error(outcome.error);
      if ((outcome.answer as { exit_code: number }).exit_code !== 0) throw new Error("true(1) has failed");
    },
    close: () => runtime.close(),
  };
}

async function timeOf(run: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

function rowOf({ name, ours, alone }: Cost): Ratio {
  const quotients = ours.map((value, round) => value / alone[round]!);
  return {
    group: "a command, by shell::exec",
    name,
    peer: "without the sandbox",
    ours: median(ours),
    theirs: median(alone),
    ratio: median(quotients),
    spread: [Math.min(...quotients), Math.max(...quotients)],
    target: undefined,
    cpuRatio: undefined,
  };
}

const figureOf = ({ name, ours, alone }: Cost): Figure => ({
  name: `what a command takes longer ${name}`,
  value: median(ours.map((value, round) => value - alone[round]!)),
  unit: "ms",
  most: maxMilliseconds,
});
