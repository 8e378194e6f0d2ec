import { expect, test } from "bun:test";
import fc from "fast-check";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
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

test("the pieces of a long record are the text of all of it", async () => {
  for (const count of [0, 1, 255, 256, 257, 1000]) {
    const steps = Array.from({ length: count }, () => record.steps[0]!);
    const bytes = await encoded(steps);
    expect(bytes.toString().slice(65)).toBe(`${JSON.stringify({ ...record, steps })}\n`);
    expect(decodeRecord(bytes)).toEqual({ record: { ...record, steps }, isCommitted: false });
  }
});

test("what was written is read", async () => {
  const bytes = await encoded();
  expect(decodeRecord(bytes)).toEqual({ record, isCommitted: false });
  expect(decodeRecord(Buffer.concat([bytes, committedMark]))).toEqual({ record, isCommitted: true });
});

test("a mark that was cut short is none", async () => {
  const bytes = await encoded();
  for (let length = 0; length < committedMark.length; length++)
    expect(decodeRecord(Buffer.concat([bytes, committedMark.subarray(0, length)]))).toEqual({
      record,
      isCommitted: false,
    });
});

test("one that was cut short, or changed anywhere, is damaged", async () => {
  const bytes = await encoded();
  for (let length = 0; length < bytes.length; length++)
    expect(decodeRecord(bytes.subarray(0, length))).toBe("damaged");
  for (let at = 0; at < bytes.length - 1; at++)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 255 }), (flip) => {
        const changed = Buffer.from(bytes);
        changed[at]! ^= flip;
        expect(decodeRecord(changed)).toBe("damaged");
      }),
      { numRuns: 5 },
    );
});
