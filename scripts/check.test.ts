import { expect, test } from "bun:test";
import { root } from "./build.ts";
import { scopes } from "./changed.ts";
import { countTests, filesOf, inTurn, secondsIn, suites, TaskQueue, tasksNamed } from "./check.ts";

const report = (totals: string) =>
  `<?xml version="1.0"?>\n<testsuites name="bun test" ${totals} time="1">\n</testsuites>`;

test("the totals are those of the report", () => {
  const counts = countTests(report('tests="10" assertions="44" failures="2" skipped="3"'), false);
  expect(counts).toEqual({ passed: 5, failed: 2, skipped: 3 });
});

test("a suite that breaks outside its tests has failed", () => {
  const counts = countTests(report('tests="10" assertions="44" failures="0" skipped="0"'), false);
  expect(counts).toEqual({ passed: 10, failed: 1, skipped: 0 });
});

test("a suite that ran nothing has failed", () => {
  expect(countTests("", true)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  const counts = countTests(report('tests="4" assertions="0" failures="0" skipped="4"'), true);
  expect(counts).toEqual({ passed: 0, failed: 1, skipped: 4 });
});

test("the seconds of each file are read from the report, and those on a backend have its name", () => {
  const file = (path: string, time: string) =>
    `  <testsuite name="${path}" file="${path}" tests="3" assertions="3" failures="0" skipped="0" time="${time}" hostname="h">\n    <testsuite name="inner" file="${path}" line="9" tests="1" time="9" hostname="h">`;
  const text = `${file("src/a.test.ts", "1.25")}\n${file(`${root.slice(1)}/src/b.test.ts`, "2")}\n`;
  expect(secondsIn(text, undefined)).toEqual({ "src/a.test.ts": 1.25, "src/b.test.ts": 2 });
  expect(secondsIn(text, "descriptors")).toMatchObject({ "src/a.test.ts@descriptors": 1.25 });
});

test("each test file belongs to one suite, besides those of a backend", () => {
  const files = [...new Bun.Glob("{src,scripts,tests}/**/*.test.ts").scanSync(root)];
  const always = suites.filter(({ backend }) => backend === undefined).flatMap(filesOf);
  expect(always.sort()).toEqual(files.sort());
  // Without a path, bun would run every file.
  expect(suites.filter((suite) => filesOf(suite).length === 0)).toEqual([]);
});

test("a suite that tries the executable comes with the build", () => {
  const named = (...names: string[]) => [...new Set(tasksNamed(names).map(({ name }) => name))];
  expect(named("shell")).toEqual(["build", "shell"]);
  expect(named("rooms")).toEqual(["rooms"]);
  expect(named("conformance", "rooms")).toEqual(["build", "rooms", "conformance"]);
  expect(() => named("shel")).toThrow("There is no step shel; they are build");
});

test("tests and checks come in turn, so that a slow machine runs some of both", () => {
  expect(inTurn([1, 2, 3, 4], [10, 20])).toEqual([1, 10, 2, 20, 3, 4]);
});

test("while the build runs, what does not need it is taken, and then the rest in order", async () => {
  const queue = new TaskQueue(tasksNamed(["executable", "rooms", "measure"]), ["build"]);
  const names = [];
  for (let taken = 0; taken < 3; taken++) names.push((await queue.take())!.name);
  expect(names).toEqual(["build", "rooms", "measure"]);
  const next = queue.take();
  queue.onThere("build");
  expect((await next)!.name).toBe("executable");
});

test("while a browser is installed, its tests wait, also after the build", async () => {
  const queue = new TaskQueue(tasksNamed(["review"]), ["build", "browser"]);
  expect((await queue.take())!.name).toBe("build");
  const next = queue.take();
  queue.onThere("build");
  expect(Bun.peek(next)).toBe(next);
  queue.onThere("browser");
  expect((await next)!.name).toBe("review");
});

test("the globs of files that are kept in memory name files of their suites", () => {
  const unused = suites.flatMap((suite) =>
    (suite.inMemory ?? []).filter((glob) => !filesOf(suite).some((file) => new Bun.Glob(glob).match(file))),
  );
  expect(unused).toEqual([]);
});

test("what a change selects are the suites", () => {
  const names = suites.map(({ name }) => name);
  expect(new Set(names)).toEqual(new Set(["unit", ...Object.keys(scopes)]));
});
