import { expect, test } from "bun:test";
import { renderPage } from "./pages.ts";

test.each([
  [{}, "[nothing found: no file matches the path, globs and file types]"],
  [{ stopped_by: "deadline", next_cursor: "c" } as const, "[nothing found: no file was searched]"],
  [{ not_searched: [{ count: 1, reason: "binary" }] } as const, "[nothing found: no file was searched]"],
])("where no file was searched, an answer with %j says why only if it is known", (page, line) => {
  const [first] = renderPage({ ...page, searched: { bytes: 0, files: 0 } } as never, {
    isEmpty: true,
    sentence: (text) => text,
  });
  expect(first).toBe(line);
});
