/**
 * One side of races, as a process of its own. In each race, it repeats the call of a cell, checks every
 * answer and the files outside, and prints a `RaceReport`.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../../src/base/log/log.ts";
import { createInvoke } from "../../../src/calls/invoke.ts";
import { functions } from "../../../src/coder/functions.ts";
import { loadConfig, openCoder } from "../../../src/coder/services.ts";
import { readNamed } from "../../../src/config/source.ts";
import { countDescriptors } from "../../harness/descriptors.ts";
import { pathCalls } from "../calls.ts";
import { type Call, outsideName, secrets } from "../escape-case.ts";
import { leaksIn } from "../probe.ts";
import type { Cell } from "./cells.ts";
import { callChecked } from "./checked.ts";
import { breachesOf, type RaceLayout, servedAs, TreeRestorer } from "./race-tree.ts";
import { takeTexts } from "./take-texts.ts";
import { serveRaces } from "./victims.ts";

export interface RaceJob {
  readonly cell: Cell;
  /** The name of the path argument for the call. */
  readonly argument: string;
  /** The folder that holds the tree. */
  readonly root: string;
  /** A backend of the jail, which CODER_JAIL also names; or `checked`, which stops once it has lost. */
  readonly subject: string;
  readonly seconds: number;
  /** The way the base is served. Default: alone. */
  readonly layout?: RaceLayout;
}

export interface RaceReport {
  readonly calls: number;
  /** The number of calls that showed or changed something outside. */
  readonly escapes: number;
  /** Examples of escapes, of host paths in answers, and of unexpected failures. */
  readonly faults: readonly string[];
  /** The numbers of open descriptors after the first call and after the last. */
  readonly descriptors: readonly [number, number];
  /** The number of calls for each outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
}

interface Caller extends AsyncDisposable {
  /** Makes a call on a path and returns the whole answer. */
  call(path: string, number: number): Promise<string> | string;
}

/** The subject that is not a backend, but the design of `checked.ts`. */
export const checked = "checked by realpath";
const writing: readonly Call[] = ["update", "create", "overwrite", "delete", "remove"];
/** The state folder of this process. It lies outside the base, which is built again for each race. */
const stateFolder = join(tmpdir(), `coder-state-${process.pid}`);
const faultsKept = 5;
/** Minimum calls of a race, however busy the machine is. */
const fewestCalls = 20;
async function race(job: RaceJob): Promise<RaceReport> {
  const { cell, root, subject, seconds } = job;
  const faults: string[] = [];
  await using caller = subject === checked ? checkedCaller(cell, root) : await jailedCaller(job, faults);
  using restorer = new TreeRestorer(root, cell.swap);
  const isWriting = writing.includes(cell.call);
  const outcomes: Record<string, number> = {};
  let [calls, escapes, before] = [0, 0, 0];
  const end = performance.now() + seconds * 1000;
  console.log("started");
  while (performance.now() < end || calls < fewestCalls) {
    if (isWriting) restorer.restore();
    const path = cell.path.replace("#", String(calls));
    const answer = await caller.call(path, calls);
    if (calls++ === 0) before = await countDescriptors();
    const breaches = isWriting ? breachesOf(root) : [];
    const shown = [...secrets, outsideName].filter((word) => answer.includes(word));
    const leaks = leaksIn(answer, "", root).filter((leak) => !shown.includes(leak));
    const found = [
      ...breaches,
      ...shown.map((word) => `shows ${word}`),
      ...leaks.map((leak) => `leaks ${leak}`),
    ];
    if (faults.length < faultsKept) faults.push(...found.map((fault) => `${fault}: ${answer}`));
    if (breaches.length + shown.length > 0) escapes++;
    const outcome = answer.match(/C2\d\d/)?.[0] ?? "ok";
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (subject === checked && escapes > 0) break;
  }
  rmSync(stateFolder, { recursive: true, force: true });
  return { calls, escapes, faults, descriptors: [before, await countDescriptors(before)], outcomes };
}

const checkedCaller = (cell: Cell, root: string): Caller => ({
  call: (path) => callChecked(cell.call, join(root, "base"), path),
  async [Symbol.asyncDispose]() {},
});

async function jailedCaller(
  { argument: name, root, layout = "base" }: RaceJob,
  faults: string[],
): Promise<Caller> {
  const { config: keys, prefix, more } = servedAs(layout, root);
  const file = join(stateFolder, "config.yaml");
  mkdirSync(stateFolder, { recursive: true });
  writeFileSync(file, JSON.stringify({ ...keys, fsync: false }));
  const config = await readNamed(file);
  const runtime = await openCoder(loadConfig({ config, basePath: undefined, environment: {} }), {
    environment: { ...process.env, XDG_STATE_HOME: stateFolder },
  });
  const log = createLog({ level: "error", form: "text", write: (line) => faults.push(line) });
  const invoke = createInvoke(runtime, log);
  const { id, hasOtherPaths, payload } = pathCalls.find((argument) => argument.name === name)!;
  const definition = functions.find((one) => one.id === id)!;
  return {
    async call(path, number) {
      const [there, free] = ["f", `moved-${number}`];
      // The last call may have moved the file away.
      if (hasOtherPaths) writeFileSync(join(root, "base", there), "inside\n");
      const sent = payload(prefix + path, { there: prefix + there, free: prefix + free });
      const answer = JSON.stringify(await invoke(definition, { ...(sent as object), ...more }));
      // Adds the texts that a call has moved or copied to where the caller can read them.
      return answer + takeTexts(join(root, "base", free));
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}

if (import.meta.main) await serveRaces(race);
