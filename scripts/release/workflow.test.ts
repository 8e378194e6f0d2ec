import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { root } from "../build.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly permissions: Readonly<Record<string, string>>;
  readonly container?: { readonly image: string };
  readonly steps: readonly Step[];
}

const folder = join(root, ".github/workflows");
const workflows = [...new Bun.Glob("*").scanSync(folder)].map((file): [string, Record<string, unknown>] => [
  file,
  parse(readFileSync(join(folder, file), "utf8")),
]);

test.each(workflows)("%s runs only what is pinned by a full hash", (_, { jobs }) => {
  for (const { container, steps } of Object.values(jobs as Record<string, Job>)) {
    if (container) expect(container.image).toMatch(/@sha256:[0-9a-f]{64}$/);
    for (const { uses } of steps) if (uses) expect(uses).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
  }
});

test.each(workflows)(
  "%s gives no right to all jobs, and none to write where something was installed",
  (_, { permissions, jobs }) => {
    expect(permissions).toEqual({});
    for (const { permissions, steps } of Object.values(jobs as Record<string, Job>)) {
      const isBuilding = steps.some(({ run }) => /npm (?!publish)/.test(run ?? ""));
      if (isBuilding) expect(permissions).toEqual({ contents: "read" });
    }
  },
);
