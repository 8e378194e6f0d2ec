/** Folders and files that are too large to process at once. */

import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { callDriver } from "./call.ts";
import { type DriverFixture, withDriver } from "./driver-fixture.ts";

const tree = { "small.txt": "needle\n" };

describe("a folder of 100,000 entries", () => {
  const entries = 100_000;

  test("is listed, shown, searched and removed while other calls are served", () =>
    withDriver({ tree: { ...tree, "large/": null }, isVast: true }, async (driven) => {
      const large = join(driven.base, "large");
      fill(large, entries);
      const listed = await callDriver(driven, "coder::list-folder", { path: "large", page: 100 });
      expect(listed.answer).toMatchObject({ total: entries, has_more: true });
      const shown = await callDriver(driven, "coder::tree", { path: "large" });
      expect(shown.answer).toMatchObject({ root: { truncated: { shown: 50, total: entries } } });
      const wide = await callDriver(driven, "coder::tree", { path: "large", per_folder_limit: entries });
      expect([[], ["C213"]]).toContainEqual(wide.codes);
      const [found, first] = await withSmallCall(driven, "coder::search", {
        query: "nowhere",
        path: "large",
      });
      expect(found.answer).toMatchObject({ content_matches: [], truncated: false });
      expect(first).toBe("small");
      const whole = { paths: ["large"], recursive: true };
      const [removed, firstAgain] = await withSmallCall(driven, "coder::delete-file", whole);
      expect(removed.answer).toMatchObject({ results: [{ removed: true }] });
      expect(firstAgain).toBe("small");
    }));

  test("keeps no small call waiting, however many calls go through it at once", () =>
    withDriver({ tree: { ...tree, "large/": null }, isVast: true }, async (driven) => {
      fill(join(driven.base, "large"), entries);
      const vast = [
        ...Array.from({ length: 4 }, () => ["coder::list-folder", { path: "large" }] as const),
        ...Array.from({ length: 4 }, () => ["coder::tree", {}] as const),
        ...Array.from({ length: 2 }, (_, i) => ["coder::search", { query: `nowhere ${i}` }] as const),
      ];
      const order: string[] = [];
      const ask = (functionId: string, payload: unknown) =>
        driven.call(functionId, payload).finally(() => order.push(functionId));
      const all = vast.map(([functionId, payload]) => ask(functionId, payload));
      await ask("coder::read-file", { path: "small.txt" });
      for (const { error } of await Promise.all(all)) expect(error).toBeUndefined();
      expect(order[0]).toBe("coder::read-file");
    }));

  test("is left in part when its removal outlasts the call, and the rest goes with the next one", () =>
    withDriver(
      { tree: { ...tree, "large/": null }, isVast: true, config: { call_timeout_ms: 100 } },
      async (driven) => {
        const large = join(driven.base, "large");
        fill(large, entries / 10);
        const { held } = await driven.measure();
        let codes = ["C216"];
        for (let calls = 0; codes[0] === "C216" && calls < 100; calls++) {
          ({ codes } = await callDriver(driven, "coder::delete-file", { paths: ["large"], recursive: true }));
          expect((await driven.measure()).held).toBe(held);
        }
        expect(codes).toEqual([""]);
      },
    ));
});

describe("a file of 2 GiB", () => {
  const size = 2 * 1024 ** 3;
  const before = "first\nsecond\n";
  const after = "\nlast but one\nlast\n";
  /** Writes the two texts with a hole between them, which is one line and takes no space on the disk. */
  const makeSparse = (path: string) => {
    const descriptor = openSync(path, "w");
    writeSync(descriptor, before, 0);
    writeSync(descriptor, after, size - after.length);
    closeSync(descriptor);
  };

  test("is read in part, from both ends, with memory for what is answered", () =>
    withDriver({ tree }, async (driven) => {
      makeSparse(join(driven.base, "log"));
      const read = async (request: object) =>
        (await callDriver(driven, "coder::read-file", { path: "log", ...request })).answer;
      const start = { content: "second\n", lines_returned: 1, more_lines: true, size };
      expect(await read({ line_from: 2, line_to: 2 })).toMatchObject(start);
      const { peakBytes } = await driven.measure();
      for (let round = 0; round < 20; round++) {
        expect(await read({ line_from: 2, line_to: 2 })).toMatchObject(start);
        const end = { content: "last but one\nlast\n", lines_returned: 2, more_lines: false };
        expect(await read({ tail: 2 })).toMatchObject(end);
      }
      const { codes } = await callDriver(driven, "coder::read-file", { path: "log", line_from: 3 });
      expect(codes).toEqual(["C213"]);
      const whole = await callDriver(driven, "coder::read-file", { path: "log" });
      expect(whole.codes).toEqual(["C213"]);
      // Twice `max_read_bytes`, plus memory that the runtime may take at any time.
      expect((await driven.measure()).peakBytes - peakBytes).toBeLessThan(64 * 1024 ** 2);
    }));

  test("is counted to the end with the memory of one piece, while other calls are served", () =>
    withDriver({ tree, isVast: true, config: { call_timeout_ms: 100_000 } }, async (driven) => {
      makeSparse(join(driven.base, "log"));
      const { peakBytes } = await driven.measure();
      const request = { path: "log", line_from: 4, line_to: 5 };
      const [found, first] = await withSmallCall(driven, "coder::read-file", request);
      expect(found.answer).toMatchObject({
        content: "last but one\nlast\n",
        total_lines: 5,
        more_lines: false,
      });
      expect(first).toBe("small");
      expect((await driven.measure()).peakBytes - peakBytes).toBeLessThan(64 * 1024 ** 2);
    }));
});

/**
 * Makes a long call and a small one right after it. Returns the outcome of the long one, and which was
 * answered first.
 */
async function withSmallCall(driven: DriverFixture, functionId: string, payload: unknown) {
  const order: string[] = [];
  const long = callDriver(driven, functionId, payload).finally(() => order.push("long"));
  const small = driven.call("coder::read-file", { path: "small.txt" }).finally(() => order.push("small"));
  expect((await small).answer).toMatchObject({ content: "needle\n" });
  return [await long, order[0]] as const;
}

/** Creates the empty files f1 to f`count`. */
function fill(folder: string, count: number): void {
  execFileSync("sh", ["-c", `seq -f f%.0f ${count} | xargs touch`], { cwd: folder });
}
