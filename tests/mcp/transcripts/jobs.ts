/** Loads the jobs, which are named after their files. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { AgentJob } from "./job.ts";

const folder = join(import.meta.dirname, "jobs");

/** Returns all jobs of the folder `jobs`, sorted by name. */
export async function loadJobs(): Promise<[name: string, job: AgentJob][]> {
  const names = readdirSync(folder)
    .sort()
    .map((file) => file.replace(/\.ts$/, ""));
  return Promise.all(
    names.map(async (name): Promise<[string, AgentJob]> => {
      const job = (await import(join(folder, `${name}.ts`))) as { readonly default: AgentJob };
      return [name, job.default];
    }),
  );
}
