/** `npm run suite -- transcripts [NAME…]`: plays all jobs or the named ones, and writes their transcripts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureExecutable } from "../../../scripts/build.ts";
import { loadJobs } from "./jobs.ts";
import { play } from "./play.ts";

const named = process.argv.slice(2);
const jobs = await loadJobs();
const unknown = named.find((name) => !jobs.some(([known]) => known === name));
if (unknown !== undefined) {
  console.error(`There is no job ${unknown}; they are ${jobs.map(([name]) => name).join(", ")}.`);
  process.exit(2);
}
await ensureExecutable();
for (const [name, job] of jobs) {
  if (named.length === 0 || named.includes(name))
    writeFileSync(join(import.meta.dirname, `${name}.md`), await play(job, "executable"));
}
