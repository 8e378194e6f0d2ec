import { expect, test } from "bun:test";
import { listRoots } from "./list-roots.ts";

const root = (name: string, isReadOnly = false) => ({ name, isReadOnly, hostPath: `/somewhere/${name}` });

const listed = (names: readonly string[], gone: readonly string[] = []) =>
  listRoots({ hasTop: true, roots: names.map((name) => root(name, name === "lib")), goneRoots: () => gone });

test("roots are listed by name, with the read-only ones and those that are gone marked", () => {
  expect(listed(["app", "lib"])).toBe("app/, lib/ (read-only)");
  expect(listed(["app", "lib"], ["app", "lib"])).toBe("app/ (gone), lib/ (read-only, gone)");
});

test("one base has no list, and a long list ends with the number of the others", () => {
  expect(listRoots({ hasTop: false, roots: [root(".")], goneRoots: () => [] })).toBeUndefined();
  const many = Array.from({ length: 23 }, (_, index) => `r${index}`);
  expect(listed(many)).toEndWith(", r19/ and 3 more, which coder::info lists");
});
