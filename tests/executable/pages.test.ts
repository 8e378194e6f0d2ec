/** The commands in the documents print the text below them, which `npm run suite -- pages` updates. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../harness/subject.ts";
import { runPage, runPages, withoutTimes } from "./pages/run-page.ts";

test.each([...runPages])("%s", async (name) => {
  const page = readFileSync(join(repository, name), "utf8");
  expect(withoutTimes(await runPage(page))).toBe(withoutTimes(page));
});
