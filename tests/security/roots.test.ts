/**
 * The escape matrix where the base is a root among several, beside one that is what each escape case has outside: a link
 * that leads out of the one leads into the other. `npm run test:roots` tries every case on every backend.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { logFaults } from "../harness/with-worker.ts";
import { startWorker, type WorkerFixture } from "../harness/worker-fixture.ts";
import { backends } from "./backends.ts";
import { pathCalls } from "./calls.ts";
import { type EscapeCase, theBase } from "./escape-case.ts";
import { escapeCases } from "./escape-cases.ts";
import { Judge } from "./matrix-cell.ts";

const isWhole = process.env["ROOTS"] === "all";
const name = "served";

/**
 * Whether a path means the same below a name as it does alone: it is more than the base, and its own `..` do not lead to the
 * top, which is no way out.
 */
function fits({ path, expected }: EscapeCase): boolean {
  if (path === "" || /^(\/|[A-Z]:|<base>)/i.test(path) || expected === theBase) return false;
  if (path.includes("..") && expected.read === "C215") return false;
  let depth = 0;
  return path.split("/").every((one) => {
    depth += one === ".." ? -1 : one === "" || one === "." ? 0 : 1;
    return depth >= 0;
  });
}

const fitting = escapeCases.filter(fits);

/** A sample in which each layout has other cases. */
const sampleOf = (layout: number): readonly EscapeCase[] =>
  isWhole ? fitting : fitting.filter((_, index) => index % 10 === layout);

let cells = 0;

describe.each(isWhole ? backends : backends.slice(0, 1))("%s", (backend) => {
  describe.each([
    ["beside a read-only root", 0, false],
    ["as the read-only root", 3, true],
  ] as const)("%s", (_, layout, isReadOnly) => {
    let served: WorkerFixture;
    let judge: Judge;

    beforeAll(async () => {
      const roots = [
        { name, path: "<base>", read_only: isReadOnly },
        { name: "second", path: "<root>/outside", read_only: !isReadOnly },
      ];
      served = await startWorker("source", { fsync: false, roots }, { env: { CODER_JAIL: backend } });
      judge = await Judge.of(served, { prefix: `${name}/`, isReadOnly });
    });
    afterAll(async () => {
      expect(await served.stop()).toBe(0);
      expect(logFaults(served.worker.stdout(), served.worker.stderr())).toEqual([]);
    });

    test.each(sampleOf(layout).map((escapeCase) => [escapeCase.name, escapeCase] as const))(
      "%s",
      async (_, escapeCase) => {
        const faults: string[] = [];
        for (const pathCall of pathCalls) {
          const found = await judge.faults(escapeCase, pathCall);
          faults.push(...found.map((fault) => `${pathCall.name}: ${fault}`));
          cells++;
        }
        expect(faults).toEqual([]);
      },
    );
  });
});

test("most cases are tried", () => {
  expect(fitting.length).toBeGreaterThanOrEqual(60);
  expect(cells).toBeGreaterThanOrEqual(isWhole ? 4000 : 300);
});
