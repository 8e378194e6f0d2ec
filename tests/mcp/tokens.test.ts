/** Tests the bytes of common jobs in docs/mcp.md. `npm run bench` measures those of the reference server. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../harness/subject.ts";
import { connectStdio } from "./client.ts";
import { countJob } from "./tokens/count.ts";
import { jobs } from "./tokens/jobs.ts";
import { project } from "./tokens/project.ts";

/** The rows of the table by job: our calls and bytes, and those of the reference server. */
const documented = new Map(
  [
    ...readFileSync(join(repository, "docs/mcp.md"), "utf8").matchAll(
      /^\| (.+?) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| \d+ % \|$/gm,
    ),
  ].map(
    ([, name = "", ...numbers]) => [name, numbers.map(Number) as [number, number, number, number]] as const,
  ),
);

test.each(jobs)("$name takes as many calls and bytes as documented", async ({ name, ours }) => {
  const { calls, bytes } = await countJob(ours, () => connectStdio("executable", { tree: project }));
  expect([calls, bytes]).toEqual(documented.get(name)?.slice(0, 2) as number[]);
});

test("no job takes more than with the reference server, and all together at most half", () => {
  const rows = [...documented];
  expect(rows.slice(0, -2).map(([name]) => name)).toEqual(jobs.map(({ name }) => name));
  expect(rows.filter(([, [, ours, , theirs]]) => ours > theirs)).toEqual([]);
  const totals = rows.slice(-2);
  expect(totals.map(([name]) => name)).toEqual(["all but those in a file of 3,000 lines", "all"]);
  expect(totals.filter(([, [, ours, , theirs]]) => ours > theirs / 2)).toEqual([]);
});
