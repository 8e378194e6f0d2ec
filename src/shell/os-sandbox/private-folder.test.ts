import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { makePrivateFolder } from "./private-folder.ts";

test("a folder with many files is removed while the event loop serves others", async () => {
  const folder = makePrivateFolder(tmpdir());
  for (let index = 0; index < 1000; index++) folder.write(`${index}`, "");
  let turns = 0;
  setImmediate(() => turns++);
  await folder.remove();
  expect([turns, existsSync(folder.path)]).toEqual([1, false]);
});
