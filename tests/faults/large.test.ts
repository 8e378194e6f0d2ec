/** A folder too large to go through at once. */

import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { call } from "./call.ts";
import { type Driven, onDriven } from "./driven.ts";

const tree = { "small.txt": "needle\n" };

describe("a folder of 100,000 entries", () => {
  const entries = 100_000;

  test("is listed, shown, searched and removed while other calls are served", () =>
    onDriven({ tree: { ...tree, "large/": null }, isVast: true }, async (driven) => {
      const large = join(driven.base, "large");
      fill(large, entries);
      const listed = await call(driven, "coder::list-folder", { path: "large", page: 100 });
      expect(listed.answer).toMatchObject({ total: entries, has_more: true });
      const shown = await call(driven, "coder::tree", { path: "large" });
      expect(shown.answer).toMatchObject({ root: { truncated: { shown: 50, total: entries } } });
      const wide = await call(driven, "coder::tree", { path: "large", per_folder_limit: entries });
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
    onDriven({ tree: { ...tree, "large/": null }, isVast: true }, async (driven) => {
      fill(join(driven.base, "large"), entries);
      const vast = [
        ...Array.from({ length: 10 }, () => ["coder::list-folder", { path: "large" }] as const),
        ...Array.from({ length: 10 }, () => ["coder::tree", {}] as const),
        ...Array.from({ length: 4 }, (_, i) => ["coder::search", { query: `nowhere ${i}` }] as const),
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
    onDriven(
      { tree: { ...tree, "large/": null }, isVast: true, config: { call_timeout_ms: 100 } },
      async (driven) => {
        const large = join(driven.base, "large");
        fill(large, entries / 10);
        const { held } = await driven.measure();
        let codes = ["C216"];
        for (let calls = 0; codes[0] === "C216" && calls < 100; calls++) {
          ({ codes } = await call(driven, "coder::delete-file", { paths: ["large"], recursive: true }));
          expect((await driven.measure()).held).toBe(held);
        }
        expect(codes).toEqual([""]);
      },
    ));
});

/** The outcome of a long call, and which was answered first: it, or a small one made right after it. */
async function withSmallCall(driven: Driven, functionId: string, payload: unknown) {
  const order: string[] = [];
  const long = call(driven, functionId, payload).finally(() => order.push("long"));
  const small = driven.call("coder::read-file", { path: "small.txt" }).finally(() => order.push("small"));
  expect((await small).answer).toMatchObject({ content: "needle\n" });
  return [await long, order[0]] as const;
}

/** Makes the empty files f1 to f`count`. */
function fill(folder: string, count: number): void {
  execFileSync("sh", ["-c", `seq -f f%.0f ${count} | xargs touch`], { cwd: folder });
}
