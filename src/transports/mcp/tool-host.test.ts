import { expect, test } from "bun:test";
import { createLog } from "../../base/log/log.ts";
import { ToolHost } from "./tool-host.ts";

test("the first list of tools prepares calls, and the next ones do not", async () => {
  let warmUps = 0;
  const warmed = Promise.withResolvers<void>();
  const host = new ToolHost({
    worker: "coder",
    functions: [],
    invoke: () => Promise.reject(new Error("no call")),
    log: createLog({ level: "error", form: "text", write: () => {} }),
    millisecondsOf: () => 1000,
    maxReadBytes: undefined,
    warmUp: () => {
      warmUps++;
      warmed.resolve();
    },
    isStructured: false,
    takesFlatEnvelopes: true,
    isForgiving: true,
    listsRareFields: false,
  });
  host.warmUpSoon();
  host.warmUpSoon();
  expect(warmUps).toBe(0);
  await warmed.promise;
  expect(warmUps).toBe(1);
});
