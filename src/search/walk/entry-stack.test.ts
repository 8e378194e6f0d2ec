import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import type { EntryKind } from "../../filesystem/jail/kind.ts";
import { EntryStack } from "./entry-stack.ts";

interface Named {
  readonly name: string;
  readonly kind: EntryKind;
}

const byte = fc.constantFrom("a", "b", " ", "-", ".", "0", "\xff", "\xc3\xa9");
const name = fc.array(byte, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
const kind = fc.constantFrom<EntryKind>("file", "dir", "symlink");
const folder = (maxLength: number) =>
  fc.uniqueArray(fc.record({ name, kind }), { maxLength, selector: ({ name }) => name });

function push(stack: EntryStack, entries: readonly Named[]): void {
  for (const { name, kind } of entries) {
    const bytes = Buffer.from(`before ${name} behind`, "latin1");
    stack.push(bytes, 7, bytes.length - 7, kind);
  }
}

const entriesFrom = (stack: EntryStack, from: number): Named[] =>
  Array.from({ length: stack.size - from }, (_, i) => ({
    name: stack.bytes.toString("latin1", stack.start(from + i), stack.end(from + i)),
    kind: stack.kind(from + i),
  }));

/** Returns the common start of the paths at and below an entry. */
const pathOf = ({ name, kind }: Named): string => (kind === "dir" ? `${name}/` : name);
const inPathOrder = (entries: readonly Named[]): Named[] =>
  [...entries].sort((one, other) => (pathOf(one) < pathOf(other) ? -1 : 1));

test.each([12, 60])("of up to %p entries a folder stands where the paths below it belong", (most) => {
  fc.assert(
    fc.property(folder(most), folder(most), (lower, upper) => {
      const stack = new EntryStack();
      push(stack, lower);
      if (!stack.sortChunk(0)) runAtOnce(stack.sort(0));
      push(stack, upper);
      runAtOnce(stack.sort(lower.length));
      expect(entriesFrom(stack, lower.length)).toEqual(inPathOrder(upper));
      stack.drop(lower.length);
      expect(entriesFrom(stack, 0)).toEqual(inPathOrder(lower));
    }),
    { numRuns: 500 },
  );
});

test("what was taken away leaves room, and there is always more", () => {
  const stack = new EntryStack();
  const long = (i: number): Named => ({ name: `${i} `.padEnd(255, "x"), kind: i % 2 === 0 ? "dir" : "file" });
  const names = Array.from({ length: 300 }, (_, i) => long(i));
  for (let time = 0; time < 3; time++) {
    push(stack, names.slice(0, 1));
    push(stack, names.slice(1));
    expect(entriesFrom(stack, 0)).toEqual(names);
    stack.drop(1);
    push(stack, names.slice(1));
    expect(entriesFrom(stack, 0)).toEqual(names);
    stack.drop(0);
    expect(stack.size).toBe(0);
  }
});
