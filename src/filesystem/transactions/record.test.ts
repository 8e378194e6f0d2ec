import { expect, test } from "bun:test";
import fc from "fast-check";
import { createTimeSlice, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import { temporaryName } from "../jail/temporary.ts";
import { isGenuine } from "./genuine-record.ts";
import { committedMark, decodeRecord, encodeRecord, type IntentRecord } from "./record.ts";

const record: IntentRecord = {
  version: 1,
  transaction: "0123456789abcdef",
  maker: ".coder-tmp-x",
  state: { dev: "1", ino: "3" },
  base: { dev: "1", ino: "2" },
  steps: [{ kind: "chmod", path: "a\nb", before: 0o644, after: 0o600, entry: entryOf("file") }],
};

function entryOf(kind: "file") {
  return { kind, dev: "1", ino: "18446744073709551615", size: "0", mtime: "0", ctime: "0" } as const;
}

const encoded = async (steps = record.steps) =>
  Buffer.concat(await encodeRecord({ ...record, steps }, createTimeSlice(5)));

const decode = (bytes: Buffer) => decodeRecord(bytes, createTimeSlice(5));

test("a record of megabytes is hashed, parsed, and checked in steps", async () => {
  const steps = Array.from({ length: 10_000 }, () => record.steps[0]!);
  const bytes = await encoded(steps);
  expect(bytes.length).toBeGreaterThan(1024 * 1024);
  let pauses = 0;
  const slice: TimeSlice = {
    isDue: true,
    async yieldIfDue() {
      pauses++;
    },
  };
  const decoded = await decodeRecord(bytes, slice);
  expect(decoded).toEqual({ record: { ...record, steps }, isCommitted: false });
  const made = { ...record, steps, maker: temporaryName() };
  const genuine = isGenuine(made, { id: record.transaction, state: record.state });
  let checked = 0;
  while (!genuine.next().done) checked++;
  expect([pauses > steps.length, checked]).toEqual([true, steps.length]);
});

test("the pieces of a long record are the text of all of it", async () => {
  for (const count of [0, 1, 255, 256, 257, 1000]) {
    const steps = Array.from({ length: count }, () => record.steps[0]!);
    const bytes = await encoded(steps);
    expect(bytes.toString().slice(65)).toBe(`${JSON.stringify({ ...record, steps })}\n`);
    expect(await decode(bytes)).toEqual({ record: { ...record, steps }, isCommitted: false });
  }
});

test("what was written is read", async () => {
  const bytes = await encoded();
  expect(await decode(bytes)).toEqual({ record, isCommitted: false });
  expect(await decode(Buffer.concat([bytes, committedMark]))).toEqual({ record, isCommitted: true });
});

test("a mark that was cut short is none", async () => {
  const bytes = await encoded();
  for (let length = 0; length < committedMark.length; length++)
    expect(await decode(Buffer.concat([bytes, committedMark.subarray(0, length)]))).toEqual({
      record,
      isCommitted: false,
    });
});

test("one that was cut short, or changed anywhere, is damaged", async () => {
  const bytes = await encoded();
  for (let length = 0; length < bytes.length; length++)
    expect(await decode(bytes.subarray(0, length))).toBe("damaged");
  for (let at = 0; at < bytes.length - 1; at++)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 255 }), async (flip) => {
        const changed = Buffer.from(bytes);
        changed[at]! ^= flip;
        expect(await decode(changed)).toBe("damaged");
      }),
      { numRuns: 5 },
    );
});
