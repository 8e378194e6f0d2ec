import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { makePrivateFolder } from "./private-folder.ts";

test("a folder with many files is removed while the event loop serves others", async () => {
  const folder = makePrivateFolder(tmpdir());
  for (let index = 0; index < 4000; index++) folder.write(`${index}`, "");
  const removed = folder.remove();
  const isServing = existsSync(folder.path);
  await removed;
  expect([isServing, existsSync(folder.path)]).toEqual([true, false]);
});
