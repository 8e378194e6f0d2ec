/** What an answer must not tell: whether something is there that the caller may not reach. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Served, serve } from "../harness/served.ts";
import { compareSnapshots, type Tree } from "../harness/tree.ts";
import { usualOthers } from "../harness/ways.ts";
import { backends } from "./backends.ts";
import { ways } from "./calls.ts";

const link: Tree = {
  l: { link: "../outside/x" },
  m: { link: "../outside" },
  [usualOthers.there]: "inside\n",
};

/** The same base each time; what differs lies outside. */
const outsides: readonly Tree[] = [
  { ...link },
  { ...link, "../outside/x": "outside-secret\n" },
  { ...link, "../outside/x/y": "outside-secret\n" },
  { ...link, "../outside/x": { link: "../base" } },
  { ...link, "../outside/x": { fifo: true } },
];

const paths = ["l", "l/y", "l/..", "m/x", "m/x/y", "../outside/x", "../outside/x/../x"];

describe.each(backends)("%s", (backend) => {
  let served: Served;

  beforeAll(async () => {
    served = await serve("source", {}, { env: { CODER_JAIL: backend } });
  });
  afterAll(() => served?.stop());

  test.each(ways.map((way) => [way.name, way] as const))(
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
