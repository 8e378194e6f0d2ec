import { expect, test } from "bun:test";
import { jailedPath } from "./jailed-path.ts";

test("one name in a folder is a path", () => {
  expect(String(jailedPath("/proc/self/fd/7/", "a.txt"))).toBe("/proc/self/fd/7/a.txt");
  expect(String(jailedPath("./", "."))).toBe("./.");
  expect(String(jailedPath("./", "..."))).toBe("./...");
  const bytes = jailedPath("./", Buffer.from([0xff, 0x61])) as unknown as Buffer;
  expect([...bytes]).toEqual([0x2e, 0x2f, 0xff, 0x61]);
});

test.each(["", "..", "a/b", "/", "a\0", "../x"])("%p is not one name", (name) => {
  expect(() => jailedPath("./", name)).toThrow("one name");
  expect(() => jailedPath("./", Buffer.from(name))).toThrow("one name");
});
