import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { workerNames } from "../../../src/base/about.ts";
import { root } from "../../build.ts";
import { converse } from "./converse.ts";

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(realpathSync(tmpdir()), "coder-"));
});

afterEach(() => rmSync(base, { recursive: true }));

const sources = (worker: string, ...more: string[]) => [
  process.execPath,
  join(root, "src/main.ts"),
  "--worker",
  worker,
  ...more,
];

test.each(workerNames)(
  "the sources of %s hold the conversation that a release is tried with",
  async (worker) => {
    await converse(worker, sources(worker), base);
  },
);

test("a worker that lacks a function is told of", async () => {
  await expect(converse("coder", sources("coder", "--read-only"), base, 2000)).rejects.toThrow();
});

test("a worker that does not start is told of with its log", async () => {
  const broken = converse("coder", [process.execPath, "-e", 'console.error("no luck")'], base);
  await expect(broken).rejects.toThrow("the worker ended before it served\nno luck");
});
