/** Compares sessions with `transcripts/*.md`. A difference is reviewed like code, and then written. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FunctionDefinition } from "../../src/calls/contract/definition.ts";
import { workers } from "../../src/serve/workers.ts";
import { toolOf } from "./suite-worker.ts";
import { laterParts, sentParts } from "./transcripts/coverage.ts";
import { callsOf } from "./transcripts/job.ts";
import { loadJobs } from "./transcripts/jobs.ts";
import { play } from "./transcripts/play.ts";

const folder = join(import.meta.dirname, "transcripts");
const jobs = await loadJobs();

const read = (name: string): string => {
  try {
    return readFileSync(join(folder, `${name}.md`), "utf8");
  } catch {
    return "";
  }
};

test.each(jobs)("%s is as written down", async (name, job) => {
  const advice = `read the difference as a model would; to accept it: npm run suite -- transcripts ${name}`;
  expect(await play(job, "executable"), advice).toBe(read(name));
});

/**
 * Jobs that use most of the parts that differ between runtimes. Other suites compare source and executable
 * call by call.
 */
const onSources = ["background-job", "calls-at-once", "every-kind-of-change"];

test.each(jobs.filter(([name]) => onSources.includes(name)))(
  "%s is the same on the sources",
  async (name, job) => {
    expect(await play(job, "source")).toBe(read(name));
  },
);

test("each transcript has a job", () => {
  const written = readdirSync(folder).filter((file) => file.endsWith(".md"));
  expect(written.sort()).toEqual(jobs.map(([name]) => `${name}.md`));
});

/** The functions that are served as tools over MCP. */
const definitions: readonly FunctionDefinition[] = Object.values(workers)
  .flatMap(({ functions }) => functions)
  .filter(({ needsBus = false }) => !needsBus);

test("each function, and each field and value that came later, is used in a job", () => {
  const used = new Set(
    jobs.flatMap(([, job]) =>
      callsOf(job).flatMap((call) => {
        const definition = definitions.find(({ id }) => toolOf(id) === call.tool);
        return definition === undefined ? [] : sentParts(call, definition);
      }),
    ),
  );
  const wanted = [...new Set(definitions.flatMap(laterParts))];
  expect(wanted.length).toBeGreaterThan(150);
  expect(wanted.filter((part) => !used.has(part))).toEqual([]);
});

test("each tool succeeds in a job", () => {
  const succeeded = new Set(
    jobs.flatMap(([name]) =>
      [...read(name).matchAll(/^## \d+\. (\w+)\n(?:(?!^## )[\s\S])*?^isError: false$/gm)].map(
        ([, tool]) => tool,
      ),
    ),
  );
  expect(definitions.map(({ id }) => toolOf(id)).filter((tool) => !succeeded.has(tool))).toEqual([]);
});
