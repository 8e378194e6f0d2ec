import { afterAll, beforeEach, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Kernel } from "./kernel.ts";
import { openRulesets } from "./ruleset.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(folder, { recursive: true }));

const root = join(folder, "root");
const secret = join(root, "secret");
beforeEach(() => {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root);
  writeFileSync(secret, "");
  for (const name of ["a", "b"]) writeFileSync(join(root, name), "");
  // A change within one tick of the system's clock would leave the time of a folder that was just made.
  utimesSync(root, 1, 1);
});

/** Opens rules by a kernel that records the paths with a grant, and calls `onGrant` with each. */
function openRecorded(onGrant: (path: string) => void = () => {}) {
  const rulesets: string[][] = [];
  const kernel: Kernel = {
    landlockAbi: 6,
    hasSeccomp: true,
    canRunFiles: true,
    makePipe: () => undefined,
    createFile: () => undefined,
    createRuleset() {
      rulesets.push([]);
      return openSync("/dev/null", "r");
    },
    grant(_ruleset, _access, descriptor) {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      rulesets.at(-1)!.push(path);
      onGrant(path);
      return true;
    },
  };
  const policy = { writable: [root], denied: [secret], network: "none" as const };
  const abilities = { canMount: false, processes: undefined, maskFolder: folder };
  return { rulesets, source: openRulesets(kernel, policy, abilities) };
}

const below = (paths: readonly string[]) => paths.filter((path) => path.startsWith(root)).toSorted();

test("each entry beside a denied one is granted once", async () => {
  const { rulesets, source } = openRecorded();
  await source.current();
  expect(rulesets.map(below)).toEqual([[root, join(root, "a"), join(root, "b")]]);
  expect(source.withheld()).toEqual([secret]);
  await source.current();
  expect(rulesets.length).toBe(1);
  source.close();
});

test("an entry that is made while the rules are built is granted by the next call", async () => {
  const made = join(root, "made");
  const { rulesets, source } = openRecorded((path) => {
    if (path === join(root, "a")) writeFileSync(made, "");
  });
  await source.current();
  await source.current();
  expect(rulesets.length).toBe(2);
  expect(rulesets[1]).toContain(made);
  source.close();
});

test("an entry that goes while the rules are built gets no grant", async () => {
  const [a, b] = [join(root, "a"), join(root, "b")];
  const { rulesets, source } = openRecorded((path) => {
    if (path === a) rmSync(b, { force: true });
    if (path === b) rmSync(a, { force: true });
  });
  await source.current();
  expect(below(rulesets[0]!)).toHaveLength(2);
  source.close();
});
