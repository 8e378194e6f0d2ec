/**
 * `npm run suite -- engine --engine PATH`: runs the conformance and bus suites on an executable of the iii
 * engine. Each worker under test gets an engine of its own, with its own folder and port, which is ended
 * afterwards.
 *
 *     npm run suite -- engine --engine ~/.local/bin/iii --only bus
 */
import { accessSync, constants } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { engineVariable } from "../tests/harness/engines/executable.ts";
import { ensureExecutable, root } from "./build.ts";

/** The suites that run on any engine, and their files. */
const suites: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      "golden",
      "bus",
      "answers",
      "pages",
      "denied",
      "source",
      "executable",
      "triggers",
      "reload",
      "telemetry",
    ].map((name) => [name, `tests/conformance/${name}.test.ts`]),
  ),
  roots: "tests/conformance/parts-of-the-tree.test.ts",
  quotas: "tests/conformance/operating.test.ts",
  channels: "tests/shell/source.test.ts",
  jobs: "tests/shell/job-finished.test.ts",
};

/** The files that need an engine inside their own process, with the reason. */
const leftOut: Readonly<Record<string, string>> = {
  "bus-embedded": "cuts connections as a crash of the engine would",
  cli: "tries the worker's own engine and its refusals",
};

const { values } = parseArgs({ options: { engine: { type: "string" }, only: { type: "string" } } });

/** Returns the fault of the command line, or `undefined` if it is valid. */
function mistake(): string | undefined {
  if (values.engine === undefined) return "give the engine's executable: --engine PATH";
  const unknown = values.only?.split(",").find((name) => !Object.hasOwn(suites, name));
  if (unknown !== undefined)
    return `there is no suite ${unknown}; they are ${Object.keys(suites).join(", ")}`;
  try {
    accessSync(values.engine, constants.X_OK);
  } catch {
    return `${values.engine} is not a file that can be run`;
  }
  return undefined;
}

async function run(engine: string): Promise<number> {
  if (await ensureExecutable()) console.log("Compiled dist/coder.");
  for (const [name, reason] of Object.entries(leftOut)) console.log(`Left out: ${name}, which ${reason}.`);
  const chosen = values.only?.split(",") ?? Object.keys(suites);
  const files = chosen.map((name) => join(root, suites[name]!));
  const child = Bun.spawn(
    [process.execPath, "test", "--isolate", "--timeout=120000", "--only-failures", ...files],
    {
      cwd: root,
      env: { ...process.env, [engineVariable]: resolve(engine) },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  return child.exited;
}

const wrong = mistake();
if (wrong !== undefined) console.error(wrong);
process.exitCode = wrong === undefined ? await run(values.engine!) : 2;
