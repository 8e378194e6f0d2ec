/**
 * `npm run suite -- page` opens the page over a journal of 10,000 checkpoints from real calls, and a
 * difference of 100,000 lines. It scrolls through both, and prints milliseconds: from the start of loading to
 * the first paint and to the newest checkpoint, and between two frames.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { openJournaled } from "../faults/journaled.ts";
import { closeBrowser, nextFrame, openPage, reasonAgainstBrowser } from "./browser.ts";
import { openReview } from "./fixture.ts";

const checkpoints = 10_000;
const lines = 50_000;

/** Maximum rows of a list in the document, whatever the length of the list. */
const maxRows = 100;

if (reasonAgainstBrowser !== undefined) throw new Error(reasonAgainstBrowser);

const content = (word: string): string =>
  Array.from({ length: lines }, (_, index) => `export ${word} value${index} = ${index * 7};\n`).join("");

/** Scrolls a list by one screen per frame, down and up. Returns the milliseconds between frames. */
async function scroll(list: Locator): Promise<{ readonly median: number; readonly longest: number }> {
  const frames = await list.evaluate(async (element) => {
    const view = globalThis as unknown as { requestAnimationFrame(call: (time: number) => void): void };
    const frame = () => new Promise<number>((resolve) => view.requestAnimationFrame(resolve));
    const found: number[] = [];
    let before = await frame();
    for (let count = 0; count < 400; count++) {
      element.scrollBy(0, (count < 200 ? 1 : -1) * element.clientHeight);
      const now = await frame();
      found.push(now - before);
      before = now;
    }
    return found;
  });
  const sorted = frames.toSorted((one, other) => one - other);
  return { median: sorted[sorted.length >> 1]!, longest: sorted.at(-1)! };
}

async function requireFewRows(list: Locator, what: string): Promise<void> {
  const rows = await list.locator(".row").count();
  if (rows > maxRows) throw new Error(`${what} has ${rows} rows in the document, more than ${maxRows}`);
}

const sinceLoading = (page: Page): Promise<number> => page.evaluate("performance.now()");

const state = mkdtempSync(join(tmpdir(), "coder-"));
try {
  await using review = await openReview({
    tree: { "large.ts": content("const") },
    configure: () => ({ journal: { dir: state, max_records: 100_000 } }),
  });
  const { call, runtime } = await openJournaled(review.base, state);
  const started = performance.now();
  for (let index = 1; index < checkpoints; index++)
    await call("coder::create-file", {
      files: [
        { path: `src/file${index % 100}.ts`, content: `export const value = ${index};\n`, overwrite: true },
      ],
    });
  await call("coder::create-file", {
    files: [{ path: "large.ts", content: content("let"), overwrite: true }],
  });
  await runtime.close();
  console.log(`${checkpoints} checkpoints, made in ${Math.round(performance.now() - started)} ms`);

  await using opened = await openPage(review.url);
  const { page, faults } = opened;
  const list = page.getByRole("listbox", { name: "Checkpoints" });
  const option = (name: RegExp) => list.getByRole("option", { name }).first();
  await option(new RegExp(`#${checkpoints} `)).waitFor();
  const newest = await sinceLoading(page);
  const paint = await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime");
  await list.focus();
  while (!(await page.getByText("10,000 changes").isVisible())) {
    await page.keyboard.press("End");
    await nextFrame(page);
  }
  const all = await sinceLoading(page);
  await page.keyboard.press("End");
  await option(/#1 /).waitFor();
  await requireFewRows(list, "the timeline");
  await list.evaluate((element) => element.scrollTo(0, 0));
  await option(new RegExp(`#${checkpoints} `)).waitFor();
  const timeline = await scroll(list);

  const chosen = await sinceLoading(page);
  await page.keyboard.press("Home");
  const diff = page.getByRole("region", { name: "Changes, lines" });
  await diff.getByText("+50,000").waitFor();
  await diff.getByText("value0 ").first().waitFor();
  const shown = (await sinceLoading(page)) - chosen;
  const difference = await scroll(diff);
  await diff.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await diff
    .getByText(`value${lines - 1}`)
    .first()
    .waitFor();
  await requireFewRows(diff, "the difference");
  if (faults.length > 0) throw new Error(faults.join("\n"));

  const rounded = (values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Math.round(Number(value))]));
  console.log("the timeline", rounded({ paint, newest, all, ...timeline }));
  console.log("the difference", rounded({ shown, ...difference }));
} finally {
  await closeBrowser();
  rmSync(state, { recursive: true, force: true });
}
