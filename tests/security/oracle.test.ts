/** An answer must not reveal whether something exists that the caller may not reach. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { defaultOtherPaths } from "../harness/path-arguments.ts";
import { compareSnapshots, type Tree } from "../harness/tree.ts";
import { startWorker, type WorkerFixture } from "../harness/worker-fixture.ts";
import { backends } from "./backends.ts";
import { pathCalls } from "./calls.ts";

const link: Tree = {
  l: { link: "../outside/x" },
  m: { link: "../outside" },
  [defaultOtherPaths.there]: "inside\n",
};

/** Trees with equal bases. They differ only outside. */
const outsides: readonly Tree[] = [
  { ...link },
  { ...link, "../outside/x": "outside-secret\n" },
  { ...link, "../outside/x/y": "outside-secret\n" },
  { ...link, "../outside/x": { link: "../base" } },
  { ...link, "../outside/x": { fifo: true } },
];

const paths = ["l", "l/y", "l/..", "m/x", "m/x/y", "../outside/x", "../outside/x/../x"];

describe.each(backends)("%s", (backend) => {
  let served: WorkerFixture;

  beforeAll(async () => {
    served = await startWorker("source", {}, { env: { CODER_JAIL: backend } });
  });
  afterAll(() => served?.stop());

  test.each(pathCalls.map((pathCall) => [pathCall.name, pathCall] as const))(
    "%s tells nothing about what is outside",
    async (_, { id, payload }) => {
      const seen = new Map(paths.map((path) => [path, new Set<string>()]));
      for (const tree of outsides) {
        served.build(tree);
        const before = served.snapshot();
        for (const path of paths) {
          const { answer, error } = await served.call(id, payload(path));
          seen.get(path)!.add(JSON.stringify(answer ?? error?.message));
        }
        expect(compareSnapshots(served.snapshot(), before)).toEqual([]);
      }
      for (const answers of seen.values()) {
        expect([...answers]).toHaveLength(1);
        expect([...answers][0]).toContain("C215");
      }
    },
  );
});
