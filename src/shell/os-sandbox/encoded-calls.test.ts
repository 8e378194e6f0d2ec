import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { type EncodedCalls, encodeInSteps, type RequiredCall } from "./encoded-calls.ts";
import { entryBytes, modes } from "./machine-code.ts";
import { numberOf } from "./syscalls.ts";

const address = 0x10000200;
const place = { architecture: "x64", address } as const;

/** Decodes the entries, with the texts that their first arguments point to. */
function decode(encoded: EncodedCalls) {
  const data = Buffer.concat(encoded.data);
  const table = Buffer.concat(encoded.table);
  return Array.from({ length: table.length / entryBytes }, (_, index) => {
    const words = Array.from({ length: 8 }, (_, word) =>
      Number(table.readBigUInt64LE(index * entryBytes + 8 * word)),
    );
    const from = words[1]! - address;
    return [words[0], data.toString("utf8", from, data.indexOf(0, from)), ...words.slice(2)];
  });
}

test("each group is one step, and every entry points to its data", () => {
  const names = Array.from({ length: 2500 }, (_, index) => `/${"x".repeat(index % 50)}${index}`);
  const groups = names.map((name): RequiredCall[] => [["chdir", name]]);
  expect([...encodeInSteps(groups, place)].length).toBe(groups.length);
  const encoded = runAtOnce(encodeInSteps(groups, place));
  const number = numberOf("chdir", "x64");
  expect(decode(encoded)).toEqual(names.map((name) => [number, name, 0, 0, 0, 0, 0, modes.required]));
  expect(encoded.data.length).toBeGreaterThan(1);
});

test("a value in several calls is placed once", () => {
  const structure = Buffer.alloc(32, 1);
  const calls: RequiredCall[] = [
    ["mount", "/a", "/a", 0, 0, 0],
    ["mount_setattr", 0, "/a", 0, structure, 32],
    ["mount_setattr", 0, "/a", 0, structure, 32],
  ];
  const { data } = runAtOnce(encodeInSteps([calls], place));
  expect(Buffer.concat(data).length).toBe(8 + structure.length);
});
