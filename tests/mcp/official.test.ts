/** Runs the official conformance suite of the protocol against the executable. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type HttpFixture, startHttp } from "./http-fixture.ts";
import { notApplicable } from "./not-applicable.ts";

const suite = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);

/** The result of one check of a scenario. */
interface Check {
  /** The names of scenario and check, as `scenario/check`. */
  readonly key: string;
  readonly hasPassed: boolean;
  readonly error: string;
}

let server: HttpFixture;

beforeAll(async () => {
  // The suite does not send a token.
  server = await startHttp("executable", { args: ["--http", "0", "--no-token"], tree: { "a.txt": "a\n" } });
});

afterAll(() => server?.[Symbol.asyncDispose]());

/** Runs all scenarios of a revision of the protocol. */
async function run(revision: string): Promise<Check[]> {
  const folder = mkdtempSync(join(tmpdir(), "coder-"));
  const args = ["--url", server.url.href, "--suite", "all", "--spec-version", revision, "-o", folder];
  const child = spawn(process.execPath, [suite, "server", ...args], { stdio: "ignore" });
  await once(child, "exit");
  const checks = readdirSync(folder).flatMap((name) => checksIn(folder, name));
  rmSync(folder, { recursive: true });
  return checks;
}

interface Result {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** Reads the results of a scenario from a file such as `server-ping-2026-11-23T00-30-56-370Z/checks.json`. */
function checksIn(folder: string, name: string): Check[] {
  const [, scenario = name] = /^server-(.*?)-\d{4}-\d{2}-\d{2}T/.exec(name) ?? [];
  const results: Result[] = JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8"));
  return results.map(({ id, status, errorMessage = "" }) => ({
    key: `${scenario}/${id}`,
    hasPassed: status === "SUCCESS" || status === "INFO",
    error: errorMessage,
  }));
}

const reasonOf = (key: string) => notApplicable.find(({ checks }) => checks.includes(key));

const seen = new Set<string>();

test.each(["2025-06-18", "2025-11-25", "2026-07-28"])(
  "revision %s: what applies passes, and what is said not to apply does not",
  async (revision) => {
    const checks = await run(revision);
    for (const { key } of checks) seen.add(key);
    const failed = checks.filter(({ hasPassed }) => !hasPassed);
    expect(failed.filter(({ key, error }) => !reasonOf(key)?.says.test(error))).toEqual([]);
    const passed = checks.filter(({ hasPassed }) => hasPassed).map(({ key }) => key);
    expect(passed.filter((key) => reasonOf(key) !== undefined)).toEqual([]);
  },
);

test("all that is said not to apply is a check of the suite", () => {
  expect(notApplicable.flatMap(({ checks }) => checks).filter((key) => !seen.has(key))).toEqual([]);
});
