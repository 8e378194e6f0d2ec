import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import type { Step } from "../../filesystem/disk/steps.ts";
import { fingerprintOf } from "./fingerprint.ts";

const version = { dev: 1n, ino: 2n, size: 3n, mtimeNs: 4n, ctimeNs: 5n };

const place = (content: Uint8Array, path = "a"): Step => ({
  kind: "place",
  change: 0,
  path,
  staged: {
    kind: "file",
    mode: 0o644,
    content: [content],
    times: { atime: new Date(0), mtime: new Date(1) },
  },
});

const rename = (to: string, ino = version.ino): Step => ({
  kind: "rename",
  change: 0,
  from: "a",
  to,
  expected: { ...version, ino },
});

test("steps have one fingerprint exactly if they do the same to the same entries", () => {
  const different: Step[][] = [
    [],
    [place(Buffer.from("a"))],
    [place(Buffer.from("b"))],
    [place(Buffer.from("a"), "b")],
    [place(Buffer.alloc(3_000_000))],
    [place(Buffer.alloc(3_000_000).fill("x", 2_999_999))],
    [rename("b")],
    [rename("c")],
    [rename("b", 9n)],
  ];
  const all = different.map((steps) => runAtOnce(fingerprintOf(steps)));
  expect(new Set(all).size).toBe(different.length);
  expect(different.map((steps) => runAtOnce(fingerprintOf(structuredClone(steps))))).toEqual(all);
});

test("each step, and each MiB of its content, is hashed by itself", () => {
  let yields = 0;
  const steps = [...Array.from({ length: 100 }, () => rename("b")), place(Buffer.alloc(8 * 1024 * 1024))];
  for (const _ of { [Symbol.iterator]: () => fingerprintOf(steps) }) yields++;
  expect(yields).toBe(100 + 8);
});
