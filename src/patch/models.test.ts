import { describe, expect, test } from "bun:test";
import { parse, patched } from "./patch.test-kit.ts";
import { unifiedCases } from "./unified-cases.test-kit.ts";
import { v4aCases } from "./v4a-cases.test-kit.ts";

describe.each([
  ["v4a", v4aCases],
  ["unified", unifiedCases],
] as const)("a patch in the format %s with", (format, cases) => {
  test.each(cases)("%s", (_, before, patch, after) => {
    expect(parse(patch).format).toBe(format);
    expect(patched(before, patch)).toEqual(after);
    expect(patched(before, patch, format)).toEqual(after);
  });

  test("is one of at least forty", () => {
    expect(cases.length).toBeGreaterThanOrEqual(40);
  });
});
