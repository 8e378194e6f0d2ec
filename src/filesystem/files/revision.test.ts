import { expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashAhead, largestAtOnce, quickRevisionOf, revisionOf, revisionOfBytes } from "./revision.ts";

test("a revision is the SHA-256 digest of all bytes, in however many pieces they are", () => {
  // The vector "abc" of FIPS 180-4.
  const abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  const pieces = (...texts: string[]) => texts.map((text) => Buffer.from(text));
  expect(revisionOfBytes(pieces("abc"))).toBe(abc);
  expect(revisionOfBytes(pieces("a", "", "bc"))).toBe(abc);
  expect(revisionOfBytes([])).toBe(revisionOfBytes(pieces("")));
});

/** O_PATH: the content of such a descriptor cannot be read. */
const withoutContent = 0x200000;

function openedAs<T>(path: string, flags: string | number, use: (descriptor: number) => T): T {
  const descriptor = openSync(path, flags);
  try {
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

test("a large file is hashed ahead in slices, and not read again until it changes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "coder-"));
  const [path, held] = [join(folder, "large"), join(folder, "held")];
  const content = Buffer.alloc(16 * 1024 * 1024, 7);
  let slices = 0;
  const slice = {
    isDue: true,
    async yieldIfDue() {
      slices++;
    },
  };
  const ahead = (file: string) => hashAhead((use) => openedAs(file, "r", use), slice);
  const { now } = Date;
  try {
    for (const file of [path, held]) writeFileSync(file, content);
    Date.now = () => statSync(path).ctimeMs + 50;
    await ahead(path);
    expect(() => openedAs(path, withoutContent, revisionOf)).toThrow("EBADF");
    Date.now = () => now() + 1000;
    const writer = openSync(held, "r+");
    await ahead(held);
    expect(() => openedAs(held, withoutContent, revisionOf)).toThrow("EBADF");
    closeSync(writer);
    expect(slices).toBe(0);
    await ahead(path);
    expect(slices).toBe(128);
    expect(openedAs(path, withoutContent, revisionOf)).toBe(revisionOfBytes([content]));
    appendFileSync(path, "x");
    expect(() => openedAs(path, withoutContent, revisionOf)).toThrow("EBADF");
    expect(openedAs(path, "r", revisionOf)).toBe(revisionOfBytes([content, Buffer.from("x")]));
    Date.now = now;
    truncateSync(path, largestAtOnce + 1);
    await ahead(path);
    expect(openedAs(path, withoutContent, revisionOf)).toBe(openedAs(path, "r", revisionOf));
    slices = 0;
    await ahead(path);
    expect(slices).toBe(0);
  } finally {
    Date.now = now;
    rmSync(folder, { recursive: true });
  }
});

test("a step hashes up to 32 MiB at once, and has the revision of a larger file only if that was hashed ahead", async () => {
  const folder = mkdtempSync(join(tmpdir(), "coder-"));
  const path = join(folder, "large");
  const slice = { isDue: false, yieldIfDue: async () => {} };
  try {
    writeFileSync(path, "");
    truncateSync(path, largestAtOnce);
    const atMost = openedAs(path, "r", revisionOf);
    expect(openedAs(path, "r", quickRevisionOf)).toBe(atMost);
    truncateSync(path, largestAtOnce + 1);
    expect(openedAs(path, "r", quickRevisionOf)).toBeUndefined();
    await hashAhead((use) => openedAs(path, "r", use), slice);
    expect(openedAs(path, "r", quickRevisionOf)).toBe(openedAs(path, "r", revisionOf));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
