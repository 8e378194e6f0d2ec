import { afterAll, beforeEach, expect, test } from "bun:test";
import {
  fstatSync,
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

// Whatever is in /dev, such as /dev/shm, is granted once more, as a device.
const outer = tmpdir().startsWith("/dev/") ? "/var/tmp" : tmpdir();
const folder = realpathSync(mkdtempSync(join(outer, "coder-")));
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

interface Recording {
  readonly onGrant?: (path: string) => void;
  readonly canMount?: boolean;
}

/** Opens rules by a kernel that records the paths with a grant, and calls `onGrant` with each. */
function openRecorded({ onGrant = () => {}, canMount = false }: Recording = {}) {
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
  const abilities = {
    architecture: "x64" as const,
    canMount,
    processes: undefined,
    maskFolder: folder,
  };
  return { rulesets, source: openRulesets(kernel, policy, abilities) };
}

const below = (paths: readonly string[]) => paths.filter((path) => path.startsWith(root)).toSorted();

test("each entry beside a denied one is granted once", async () => {
  const { rulesets, source } = openRecorded();
  await source.current();
  expect(rulesets.map(below)).toEqual([[root, join(root, "a"), join(root, "b")]]);
  expect(source.hidden()).toEqual([secret]);
  await source.current();
  expect(rulesets.length).toBe(1);
  source.close();
});

test("an entry that is made while the rules are built is granted by the next call", async () => {
  const made = join(root, "made");
  const { rulesets, source } = openRecorded({
    onGrant(path) {
      if (path === join(root, "a")) writeFileSync(made, "");
    },
  });
  await source.current();
  await source.current();
  expect(rulesets.length).toBe(2);
  expect(rulesets[1]).toContain(made);
  source.close();
});

test("an entry that goes while the rules are built gets no grant", async () => {
  const [a, b] = [join(root, "a"), join(root, "b")];
  const { rulesets, source } = openRecorded({
    onGrant(path) {
      if (path === a) rmSync(b, { force: true });
      if (path === b) rmSync(a, { force: true });
    },
  });
  await source.current();
  expect(below(rulesets[0]!)).toHaveLength(2);
  source.close();
});

test("rules that a call has got stay open until it disposes of them, whatever replaces them", async () => {
  const { source } = openRecorded();
  const first = await source.current();
  writeFileSync(join(root, "c"), "");
  const second = await source.current();
  expect(second.ruleset).not.toBe(first.ruleset);
  expect(isOpen(first.ruleset)).toBe(true);
  first[Symbol.dispose]();
  // A thread of the pool closes descriptors.
  while (isOpen(first.ruleset)) await new Promise(setImmediate);
  source.close();
  expect(isOpen(second.ruleset)).toBe(true);
  second[Symbol.dispose]();
  while (isOpen(second.ruleset)) await new Promise(setImmediate);
});

test("calls share the rules, and the mounts, which are encoded once", async () => {
  const { rulesets, source } = openRecorded({ canMount: true });
  const all = await Promise.all([source.current(), source.current(), source.current()]);
  const later = await source.current();
  expect(rulesets.length).toBe(1);
  expect(later.mounts).toBeDefined();
  for (const { ruleset, mounts } of all) {
    expect(mounts).toBe(later.mounts);
    expect(ruleset).toBe(later.ruleset);
  }
  for (const one of [...all, later]) one[Symbol.dispose]();
  expect(isOpen(later.ruleset)).toBe(true);
  source.close();
});

test("a call that comes while the rules are built gets those of a later reading", async () => {
  const made = join(root, "made");
  const calls: Promise<unknown>[] = [];
  const { rulesets, source } = openRecorded({
    onGrant(path) {
      if (path !== join(root, "a") || calls.length > 0) return;
      writeFileSync(made, "");
      calls.push(source.current());
    },
  });
  await source.current();
  await Promise.all(calls);
  expect(rulesets.length).toBe(2);
  expect(rulesets[1]).toContain(made);
  source.close();
});

function isOpen(descriptor: number): boolean {
  try {
    fstatSync(descriptor);
    return true;
  } catch {
    return false;
  }
}
