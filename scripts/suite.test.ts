import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../package.json";
import { root } from "./build.ts";
import { stepNames } from "./check.ts";
import { longSuites, renderSuites } from "./suite.ts";

const scripts = Object.keys(packageJson.scripts);

/** The texts that name commands of this project. The list of changes is about the past. */
const texts = [
  "{CONTRIBUTING,README,SECURITY}.md",
  ".ci/run",
  ".github/**/*.yml",
  "{docs,src,scripts,tests,bench}/**/*.{ts,mjs,md}",
]
  .flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: root, dot: true })])
  // The project of the transcripts has scripts of its own.
  .filter((path) => !path.startsWith("tests/mcp/transcripts/"));

/** Returns each mention of a command that `pattern` finds: the path of the text, and the first group. */
const named = (pattern: RegExp): [path: string, name: string][] =>
  texts.flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(pattern)].map(
      ([, name = ""]) => [path, name] as [string, string],
    ),
  );

test("there are eight scripts", () => {
  expect(scripts).toEqual(["start", "test", "build", "format", "reference", "bench", "release", "suite"]);
});

test("each suite says in a line what it does, and its files are there", () => {
  for (const [name, { description, command }] of Object.entries(longSuites)) {
    expect(renderSuites()).toMatch(new RegExp(`^${name} +\\S.*$`, "m"));
    expect(description).not.toMatch(/\n|\.$/);
    const files = command.filter((part) => part.endsWith(".ts"));
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  }
});

test("every script, suite and step that a text names is there", () => {
  const found = named(/\bnpm run (?!suite -- )([\w:-]+)/g);
  expect(found.length).toBeGreaterThan(20);
  expect(found.filter(([, name]) => !scripts.includes(name))).toEqual([]);
  const suites = named(/\bnpm run suite -- ([a-z][\w-]*)/g);
  expect(suites.length).toBeGreaterThan(20);
  expect(suites.filter(([, name]) => !Object.hasOwn(longSuites, name))).toEqual([]);
  const known = new Set(stepNames);
  const only = named(/\bnpm test -- --only ([a-z][\w,-]*)/g).flatMap(([path, names]) =>
    names.split(",").map((name) => [path, name] as const),
  );
  expect(only.length).toBeGreaterThan(5);
  expect(only.filter(([, name]) => !known.has(name))).toEqual([]);
});

test("the page of commands has each script and suite", () => {
  const page = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
  const missing = Object.keys(longSuites).filter((name) => !page.includes(`\`npm run suite -- ${name}`));
  expect(missing).toEqual([]);
  expect(
    scripts.filter((name) => !page.includes(`\`npm run ${name}`) && name !== "test" && name !== "start"),
  ).toEqual([]);
});

async function runSuites(...args: string[]) {
  const child = Bun.spawn([process.execPath, "scripts/suite.ts", ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

test("without a name they are listed, and one that is not there is refused with the list", async () => {
  const listed = await runSuites();
  expect([listed.code, listed.stderr]).toEqual([0, ""]);
  expect(listed.stdout).toContain(renderSuites());
  const refused = await runSuites("rase");
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toStartWith("There is no suite rase; they are:\n");
  expect((await runSuites("only")).code).toBe(2);
});

test("arguments are passed on, and the status of the suite comes back", async () => {
  const refused = await runSuites("engine", "--only", "bus");
  expect([refused.code, refused.stderr]).toEqual([2, "give the engine's executable: --engine PATH\n"]);
  const passed = await runSuites("only", "scripts/measure.test.ts");
  expect(passed.code).toBe(0);
  expect(passed.stderr).toMatch(/\b[1-9]\d* pass\n\s*0 fail/);
});
