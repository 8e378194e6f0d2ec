/**
 * The escape matrix with the base as a root among several, beside a root with everything that each escape
 * case has outside: a link that leads out of the one leads into the other. `npm run suite -- roots` tries
 * every case on every backend.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { logFaults } from "../harness/with-worker.ts";
import { startWorker, type WorkerFixture } from "../harness/worker-fixture.ts";
import { backends, isWhole } from "./backends.ts";
import { pathCalls } from "./calls.ts";
import { type Call, type EscapeCase, theBase } from "./escape-case.ts";
import { escapeCases } from "./escape-cases.ts";
import { Judge } from "./matrix-cell.ts";

const name = "served";

/**
 * Returns whether a path means the same below the name of a root as it does alone: it is more than the base,
 * and its `..` do not lead to the top, which is not an escape.
 */
function fits({ name: what, path, expected }: EscapeCase): boolean {
  // The refusal that keeps a root differs from that of the base.
  if (what === "a link to the base") return false;
  if (path === "" || /^(\/|[A-Z]:|<base>)/i.test(path) || expected === theBase) return false;
  if (path.includes("..") && expected.read === "C215") return false;
  let depth = 0;
  return path.split("/").every((one) => {
    depth += one === ".." ? -1 : one === "" || one === "." ? 0 : 1;
    return depth >= 0;
  });
}

const fitting = escapeCases.filter(fits);

/** Returns a sample of the cases, with others for each layout. */
const sampleOf = (layout: number): readonly EscapeCase[] =>
  isWhole ? fitting : fitting.filter((_, index) => index % 10 === layout);

const triedBackends = isWhole ? backends : backends.slice(0, 1);

let cells = 0;

describe.each(triedBackends)("%s", (backend) => {
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

describe.each(triedBackends)("%s", (backend) => {
  let served: WorkerFixture;

  beforeAll(async () => {
    const roots = ["stays", "goes"].map((one) => ({ name: one, path: `<base>/${one}` }));
    served = await startWorker("source", { roots }, { env: { CODER_JAIL: backend } });
  });
  afterAll(() => served?.stop());

  const isOnFolder = (call: Call): boolean => ["list", "tree", "search"].includes(call);

  /** Makes every call in a root. Returns those that are refused because the root is gone, and the others. */
  async function outcomesIn(root: string): Promise<Record<"gone" | "others", string[]>> {
    const outcomes: Record<"gone" | "others", string[]> = { gone: [], others: [] };
    for (const { id, name: argument, call, payload } of pathCalls) {
      served.build({ "stays/d/a.txt": "a\n", "stays/other.txt": "b\n" });
      const path = `${root}/${isOnFolder(call) ? "d" : "d/a.txt"}`;
      const others = { there: "stays/other.txt", free: "stays/free" };
      const { answer, error } = await served.call(id, payload(path, others));
      const shown = JSON.stringify(answer ?? error?.message);
      const isGone = shown.includes("C216") && shown.includes("The root \\");
      outcomes[isGone ? "gone" : "others"].push(`${argument}: ${shown}`);
    }
    return outcomes;
  }

  test("a root that vanishes makes every call in it C216, others go on, and it is back with its folder", async () => {
    expect((await outcomesIn("goes")).others).toEqual([]);
    expect((await outcomesIn("stays")).gone).toEqual([]);
    served.build({ "stays/": null, "goes/d/a.txt": "back\n" });
    const { answer } = await served.call("coder::read-file", { path: "goes/d/a.txt" });
    expect(answer).toMatchObject({ content: "back\n" });
    const { answer: listed } = await served.call("coder::list-folder", {});
    expect(JSON.stringify(listed)).toContain('"total":2');
  });
});
