import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Tree } from "../harness/tree.ts";
import {
  type ClientOutcome,
  type ConfigFields,
  startWorker,
  type WorkerFixture,
} from "../harness/worker-fixture.ts";

interface Layout {
  readonly name: string;
  /** The beginning of every path: empty, or the name of a root. */
  readonly prefix: string;
  readonly config: ConfigFields;
}

const roots = [
  { name: "a", path: "<base>/a" },
  { name: "b", path: "<base>/b", read_only: true },
];
const layouts: readonly Layout[] = [
  { name: "below the base", prefix: "", config: {} },
  { name: "in one of two roots", prefix: "a/", config: { roots } },
  { name: "in a root that is read-only", prefix: "b/", config: { roots } },
];

// No halves of surrogate pairs: the engine drops such frames, and the calls would never be answered.
const character = fc.constantFrom("a", "z", "é", "😀", " ", ".", "-", "A");
const name = fc.string({ unit: character, minLength: 1, maxLength: 8 }).filter((text) => !/^\.+$/.test(text));
const deniedName = fc.oneof(
  fc.constant(".env"),
  name.map((text) => `.env.${text}`),
  name.map((text) => `${text}.pem`),
  name.map((text) => `${text}.key`),
  name.map((text) => `secrets/${text}`),
);

/** A denied path, the folders above it, and the kind of entry that is there. */
const situation = fc.record({
  folders: fc.array(name, { maxLength: 2 }),
  denied: deniedName,
  kind: fc.constantFrom("file", "folder", "link"),
});

const calls: Readonly<Record<string, (path: string) => unknown>> = {
  "coder::read-file": (path) => ({ path }),
  "coder::update-file": (path) => ({ files: [{ path, ops: [{ op: "insert", at_line: 1, content: "x" }] }] }),
  "coder::list-folder": (path) => ({ path }),
  "coder::tree": (path) => ({ path }),
  "coder::search": (path) => ({ path, query: "x" }),
  "coder::create-file": (path) => ({ files: [{ path, content: "x", overwrite: true }] }),
  "coder::delete-file": (path) => ({ paths: [path], recursive: true }),
};

/** Functions that succeed if the path is missing and not denied, so the two answers differ. */
const succeedsOnMissing = ["coder::create-file", "coder::delete-file"];

const seen = ({ answer, error }: ClientOutcome): unknown => error?.message ?? answer;

describe.each(layouts)("$name", ({ prefix, config }) => {
  let guarded: WorkerFixture;
  let open: WorkerFixture;

  beforeAll(async () => {
    [guarded, open] = await Promise.all([
      startWorker("source", config),
      startWorker("source", { ...config, non_accessible_globs: [] }),
    ]);
  });
  afterAll(() => Promise.all([guarded?.stop(), open?.stop()]));

  test.each(Object.keys(calls))("%s tells nobody whether a path is denied or missing", async (functionId) => {
    await fc.assert(
      fc.asyncProperty(situation, async ({ folders, denied, kind }) => {
        const path = prefix + [...folders, denied].join("/");
        const payload = calls[functionId]!(path);
        const above: Tree = { "a/": null, "b/": null, [`${[`${prefix}.`, ...folders].join("/")}/`]: null };
        const there: Tree =
          kind === "folder"
            ? { [`${path}/x`]: "denied-secret" }
            : { [path]: kind === "link" ? { link: "nowhere" } : "denied-secret" };
        guarded.build({ ...above, ...there });
        const whenDenied = seen(await guarded.call(functionId, payload));
        guarded.build(above);
        expect(seen(await guarded.call(functionId, payload))).toEqual(whenDenied);
        if (succeedsOnMissing.includes(functionId)) {
          expect(JSON.stringify(whenDenied)).toContain("C211");
          return;
        }
        open.build(above);
        expect(seen(await open.call(functionId, payload))).toEqual(whenDenied);
      }),
      { numRuns: 40 },
    );
  });
});
