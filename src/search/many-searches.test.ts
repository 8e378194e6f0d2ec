import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deadlineIn } from "../base/scheduling/deadline.ts";
import { createTimeSlice } from "../base/scheduling/time-slice.ts";
import { countDescriptorsBelow } from "../filesystem/jail/jail.test-kit.ts";
import { openJail } from "../filesystem/jail/jail.ts";
import { compileGlobSet } from "../text/globs/glob-set.ts";
import { encodeFindings } from "./batches/findings-codec.ts";
import type { BatchReply } from "./batches/job.ts";
import type { SearchAnswer } from "./request.ts";
import { requestOf, stateRunning } from "./search.test-kit.ts";
import { SearchRun } from "./search-run.ts";
import { SharedFolder } from "./walk/shared-folder.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
for (let i = 0; i < 100; i++) {
  mkdirSync(join(base, `${i}`));
  writeFileSync(join(base, `${i}`, "a.txt"), "needle\n");
}
const jail = openJail({ basePath: base, deny: compileGlobSet([]), backend: "descriptors" });
afterAll(() => {
  jail.close();
  rmSync(base, { recursive: true });
});

const searches = 40;
const nothingFound: BatchReply = encodeFindings([]);

test("many searches at once leave descriptors for others, and each of them ends", async () => {
  const waiting: ((reply: BatchReply) => void)[] = [];
  const run = () => {
    const reply = new Promise<BatchReply>((resolve) => waiting.push(resolve));
    return { reply, abort: () => {} };
  };
  const state = stateRunning(run, { batchesAtOnce: 6, active: 0 });
  const request = requestOf({ pattern: "nee+dle", regex: true });
  const before = countDescriptorsBelow(base);
  const answers: Promise<SearchAnswer>[] = [];
  for (let i = 0; i < searches; i++) {
    state.active++;
    const folder = new SharedFolder(jail.admitFolder("."));
    const deadline = deadlineIn(Number.POSITIVE_INFINITY);
    const search = new SearchRun({
      request,
      deadline,
      slice: createTimeSlice(5),
      state,
      folder,
      walk: { jail, files: { sweepFolder: () => 0 }, ...request },
    });
    answers.push(search.run().then(({ answer }) => answer));
  }
  // Each search has the folders of its walk, and one folder of a batch that is always admitted.
  expect(countDescriptorsBelow(base) - before).toBeLessThan(640 + searches * 4);

  let done = false;
  const all = Promise.all(answers).finally(() => {
    done = true;
  });
  while (!done) {
    for (const reply of waiting.splice(0)) reply(nothingFound);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await all).every(({ truncated }) => !truncated)).toBe(true);
  expect(countDescriptorsBelow(base)).toBe(before);
  expect(state.held.folders).toBe(0);
});
