import { expect, test } from "bun:test";
import fc from "fast-check";
import { createLineBuffer } from "./line-buffer.ts";

test("a line after a pause goes on at once, those right behind it together", async () => {
  const written: string[] = [];
  const burst = Promise.withResolvers<void>();
  const lines = createLineBuffer((text) => {
    written.push(text);
    if (written.length === 2) burst.resolve();
  });
  lines.write("a\n");
  expect(written).toEqual(["a\n"]);
  for (const line of ["b\n", "c\n", "d\n"]) lines.write(line);
  expect(written).toEqual(["a\n"]);
  await burst.promise;
  expect(written).toEqual(["a\n", "b\nc\nd\n"]);
});

test("flushing passes on what waits, once", () => {
  const written: string[] = [];
  const lines = createLineBuffer((text) => written.push(text));
  for (const line of ["a\n", "b\n"]) lines.write(line);
  lines.flush();
  lines.flush();
  expect(written).toEqual(["a\n", "b\n"]);
});

test("no line is lost, doubled or out of order, whenever they come", async () => {
  const step = fc.constantFrom("write", "flush", "wait");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      let written = "";
      let expected = "";
      const lines = createLineBuffer((text) => {
        written += text;
      });
      for (const [index, one] of steps.entries()) {
        if (one === "flush") lines.flush();
        else if (one === "wait") await new Promise((resolve) => setTimeout(resolve, 6));
        else {
          lines.write(`${index}\n`);
          expected += `${index}\n`;
        }
      }
      lines.flush();
      expect(written).toBe(expected);
    }),
    { numRuns: 30 },
  );
});
