import { expect, test } from "bun:test";
import { renderProgress } from "./progress.ts";

test("progress has the time, and the files per second of a search", () => {
  expect(renderProgress("coder::undo", 540, 0)).toBe("coder::undo 0.5 s");
  expect(renderProgress("coder::search", 2000, 5001)).toBe(
    "coder::search 2.0 s, 5001 files, 2501 per second",
  );
});
