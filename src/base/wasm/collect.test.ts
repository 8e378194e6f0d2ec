import { expect, spyOn, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { collectSoon } from "./collect.ts";

test("collects at the next turn of the event loop, once however often it is called, and again later", async () => {
  const gc = spyOn(Bun, "gc");
  try {
    for (const times of [1, 2]) {
      collectSoon();
      collectSoon();
      expect(gc).toHaveBeenCalledTimes(times - 1);
      await setImmediate();
      expect(gc).toHaveBeenCalledTimes(times);
      // Beside the work of the main thread, which a collection of a large heap would stop.
      expect(gc).toHaveBeenLastCalledWith(false);
    }
  } finally {
    gc.mockRestore();
  }
});
