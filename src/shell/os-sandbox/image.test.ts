import { expect, test } from "bun:test";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { makeImage } from "./image.ts";
import { openKernel } from "./kernel.ts";

const kernel = openKernel()!;
const parts = ["one", "two", "three"].map((text) => Buffer.from(text));

test("a part is written in each step", () => {
  const steps = makeImage(kernel, parts);
  for (const _ of parts) expect(steps.next().done).toBe(false);
  const { done, value: image } = steps.next();
  if (!done) throw new Error("more steps than parts");
  expect(readFileSync(`/proc/self/fd/${image}`, "utf8")).toBe("onetwothree");
  closeSync(image);
});

test("an image that cannot be written leaves no descriptor behind", () => {
  const descriptor = openSync("/dev/full", "w");
  const full = { ...kernel, createFile: () => descriptor };
  expect(() => runAtOnce(makeImage(full, parts))).toThrow("ENOSPC");
  expect(() => fstatSync(descriptor)).toThrow("EBADF");
});
