/** Sessions as a model sees them are those of `transcripts/*.md`. A difference is reviewed and then written, not silenced. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

test("each transcript has a job", () => {
  const written = readdirSync(folder).filter((file) => file.endsWith(".md"));
  expect(written.sort()).toEqual(jobs.map(([name]) => `${name}.md`));
});
