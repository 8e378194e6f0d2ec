import { expect, test } from "bun:test";
import { root } from "./build.ts";
import { scopes } from "./changed.ts";
import { countTests, steps, stepsNamed } from "./check.ts";

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

const always = steps.filter(({ isSuite, backend }) => isSuite && backend === undefined);
const pathsOf = ({ command }: (typeof steps)[number]) => command.filter((part) => part.startsWith("./"));

test("each test file belongs to one step", () => {
  const files = [...new Bun.Glob("{src,scripts,tests}/**/*.test.ts").scanSync(root)];
  const stepsOf = (file: string) =>
    always.filter((step) =>
      pathsOf(step).some((path) => `./${file}` === path || `./${file}`.startsWith(`${path}/`)),
    );
  expect(files.filter((file) => stepsOf(file).length !== 1)).toEqual([]);
  // Without a path, bun would run all that there are.
  expect(steps.filter((step) => step.isSuite && pathsOf(step).length === 0)).toEqual([]);
});

test("a suite in several steps goes by its name, and each step by its own", () => {
  const named = (...names: string[]) => stepsNamed(steps, names).map(({ name }) => name);
  expect(named("shell")).toEqual(["build", "shell-1", "shell-2"]);
  expect(named("conformance-2", "rooms")).toEqual(["build", "rooms", "conformance-2"]);
  expect(() => named("shel")).toThrow("There is no step shel; they are build");
});

test("what a change selects are the suites", () => {
  const suites = steps.filter(({ isSuite }) => isSuite).map(({ name, suite }) => suite ?? name);
  expect(new Set(suites)).toEqual(new Set(["unit", ...Object.keys(scopes)]));
});
