import { expect, test } from "bun:test";
import { workers } from "../../serve/workers.ts";
import { renderPages } from "./pages.ts";

test("each heading of a page names a field, a type or an alternative", () => {
  const headings = [...renderPages(Object.values(workers)).values()].flatMap(
    (text) => text.match(/^### .*$/gm) ?? [],
  );
  expect(headings).toContain("### `fs_scope.grants`");
  expect(headings).toContain('### op "insert"');
  expect(headings).toContain('### kind "sandbox"');
  expect(headings.filter((heading) => heading.includes("undefined"))).toEqual([]);
});
