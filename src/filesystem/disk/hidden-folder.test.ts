import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync } from "node:fs";
import { FilesFixture } from "../files/files.test-kit.ts";
import { backends, countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import { removeHiddenFolder } from "./hidden-folder.ts";

describe.each(backends)("%s", (backend) => {
  /** Removes the folder, and returns the maximum number of its entries that were held at once. */
  async function remove(bench: FilesFixture): Promise<number> {
    using outer = bench.jailed.admitFolder(".");
    const before = countDescriptorsBelow(bench.root);
    let most = 0;
    const slice = {
      get isDue() {
        most = Math.max(most, countDescriptorsBelow(bench.root) - before);
        return false;
      },
      yieldIfDue: async () => {},
    };
    await removeHiddenFolder(outer, "hidden", slice);
    expect(existsSync(bench.at("hidden"))).toBe(false);
    expect(countDescriptorsBelow(bench.root)).toBe(before);
    return most;
  }

  const files = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`hidden/d/${index}`, "text"]));

  test("removed files are freed in the background, several at once, before the removal ends", async () => {
    using bench = new FilesFixture(backend, files(30));
    const most = await remove(bench);
    expect(most).toBeGreaterThanOrEqual(8);
    expect(most).toBeLessThan(16);
  });

  test("entries that may not be read are removed too", async () => {
    using bench = new FilesFixture(backend, { ...files(3), "hidden/l": { link: "d" }, "hidden/e/f": "text" });
    chmodSync(bench.at("hidden/d/0"), 0);
    chmodSync(bench.at("hidden/e"), 0);
    expect(await remove(bench)).toBeLessThan(8);
  });
});
