/** The page in a real browser, used by the roles and names that assistive technology reads. */
import { afterAll, expect, test } from "bun:test";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import type { CallToolResult, ClientOptions } from "@modelcontextprotocol/client";
import type { Locator, Page } from "playwright-core";
import { testUnless } from "../faults/machine.ts";
import { connectStdio, textOf } from "../mcp/client.ts";
import { closeBrowser, nextFrame, openPage, reasonAgainstBrowser, violationsOf } from "./browser.ts";
import { type Agent, openReview, type ReviewFixture } from "./fixture.ts";
import { hostileContents, hostileNames } from "./hostile.ts";
import { makeSession, sessionTree } from "./session.ts";

afterAll(async () => {
  await closeBrowser();
  await (await unchanging)?.review[Symbol.asyncDispose]();
});

/** The session of the tests that change nothing. */
let unchanging: ReturnType<typeof withSession> | undefined;

const use = (name: string, act: () => Promise<void>) => testUnless(reasonAgainstBrowser, name, act);

/** Confirms the undo in a dialog, and waits for its end. */
async function confirmUndo(page: Page, name = "Undo"): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await shown(page.getByRole("status").filter({ hasText: /Undone: \d+ paths?\./ }));
}

/** Waits until an element is shown. */
const shown = (locator: Locator) => locator.first().waitFor();

const checkpoint = (page: Page, name: RegExp | string) =>
  page.getByRole("listbox", { name: "Checkpoints" }).getByRole("option", { name });

async function withSession(): Promise<{ review: ReviewFixture; agent: Agent }> {
  const review = await openReview({ tree: sessionTree });
  const agent = await review.join("claude-code");
  await makeSession(agent);
  return { review, agent };
}

use("shows who changed what, live, and what other programs changed", async () => {
  const { review, agent } = await withSession();
  await using _ = review;
  await using opened = await openPage(review.url);
  const { page, faults } = opened;
  await shown(checkpoint(page, /Deleted notes\/todo\.md .*#5 · claude-code 2\.1/));
  await shown(checkpoint(page, /Rename tax to VAT .*2 paths \+1 −0/));
  await shown(page.getByText("Live", { exact: true }));
  expect(page.url()).not.toContain("token");
  const other = await review.join("codex");
  await other.call("coder_create_file", { path: "added.txt", content: "one\n" });
  await shown(checkpoint(page, /Created added\.txt .*#6 · codex 2\.1 .*\+1 −0/));
  writeFileSync(join(review.base, "by-hand.txt"), "two\n");
  await shown(checkpoint(page, /created by-hand\.txt .*another program/));
  await page.getByLabel("Author", { exact: true }).selectOption({ label: "Other programs" });
  await checkpoint(page, /Created added/).waitFor({ state: "hidden" });
  await checkpoint(page, /by-hand/).click();
  await shown(page.getByText("Changed by another program"));
  await page.getByLabel("Author", { exact: true }).selectOption({ label: "Everyone" });
  await page.getByLabel("Filter by text").fill("vat");
  await checkpoint(page, /Created added/).waitFor({ state: "hidden" });
  await shown(checkpoint(page, /Rename tax/));
  await page.getByLabel("Filter by text").fill("");
  await page.getByLabel("Path", { exact: true }).fill("src/vat.ts");
  await page.keyboard.press("Enter");
  await checkpoint(page, /Deleted notes/).waitFor({ state: "hidden" });
  await shown(checkpoint(page, /Created src\/tax\.ts/));
  await agent.leave();
  expect(faults).toEqual([]);
});

use("compares: a checkpoint, a file through time, since a checkpoint, all of a session", async () => {
  unchanging ??= withSession();
  const { review } = await unchanging;
  await using opened = await openPage(review.url);
  const { page, faults } = opened;
  await checkpoint(page, /Edited src\/tax\.ts/).click();
  const lines = page.getByRole("region", { name: "Changes, lines" });
  await shown(lines.locator(".removed .mark", { hasText: "19" }));
  await shown(lines.locator(".added .mark", { hasText: "2" }));
  await shown(lines.locator(".hljs-keyword", { hasText: "function" }));
  await page.getByRole("button", { name: "Side by side" }).click();
  await shown(lines.locator(".pair .removed"));
  await page.getByRole("button", { name: "src/tax.ts" }).click();
  await lines.locator(".pair").first().waitFor({ state: "detached" });
  await page.getByRole("link", { name: "History of src/tax.ts" }).click();
  await shown(page.getByText("3 changes"));
  await page.getByRole("button", { name: "All paths" }).click();
  await checkpoint(page, /Created src\/tax\.ts/).click();
  await page.getByRole("link", { name: "Compare from here to now" }).click();
  await shown(page.getByRole("heading", { name: "Everything since checkpoint #1" }));
  const differences = page.getByRole("region", { name: "Differences, lines" });
  await shown(differences.getByRole("button", { name: "src/vat.ts" }));
  await shown(differences.getByText("new", { exact: true }));
  expect(await differences.getByRole("button", { name: "src/tax.ts" }).count()).toBe(0);
  await page.getByLabel("After checkpoint").fill("4");
  await page.getByRole("button", { name: "Compare" }).click();
  await differences.getByRole("button", { name: "src/vat.ts" }).waitFor({ state: "detached" });
  await shown(differences.getByRole("button", { name: "notes/todo.md" }));
  await page.goBack();
  await shown(page.getByRole("heading", { name: "Everything since checkpoint #1" }));
  await page.getByRole("link", { name: "Timeline" }).click();
  await checkpoint(page, /Deleted notes/).click();
  await page.getByRole("link", { name: "Everything of this author" }).click();
  await shown(page.getByText("5 checkpoints, from #1 to #5"));
  const net = page.getByRole("region", { name: "Net changes, lines" });
  for (const path of ["README.md", "notes/todo.md", "src/index.ts", "src/vat.ts"])
    await shown(net.getByRole("button", { name: path }));
  expect(faults).toEqual([]);
});

use("undoes after a dry run, and redoes", async () => {
  const { review } = await withSession();
  await using _ = review;
  await using opened = await openPage(review.url);
  const { page, faults } = opened;
  const note = join(review.base, "notes/todo.md");
  await checkpoint(page, /Deleted notes/).click();
  await page.getByRole("button", { name: "Undo …" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Undo #5?" });
  await shown(dialog.getByRole("heading", { name: "Would be restored" }));
  await shown(dialog.getByRole("region", { name: "What would change, lines" }).getByText("ring a bell"));
  expect(existsSync(note)).toBe(false);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(existsSync(note)).toBe(false);
  await page.getByRole("button", { name: "Undo …" }).first().click();
  await confirmUndo(page);
  expect(readFileSync(note, "utf8")).toBe(sessionTree["notes/todo.md"] as string);
  await checkpoint(page, /undo of #5/).click();
  await page.getByRole("button", { name: "Redo …" }).first().click();
  await confirmUndo(page);
  await shown(checkpoint(page, /undo of #6/));
  expect(existsSync(note)).toBe(false);
  await checkpoint(page, /Deleted notes/).click();
  await page.getByRole("link", { name: "Everything of this author" }).click();
  await page.getByRole("button", { name: "Undo all …" }).click();
  await confirmUndo(page);
  expect(existsSync(join(review.base, "src/vat.ts"))).toBe(false);
  expect(readFileSync(join(review.base, "README.md"), "utf8")).toBe(sessionTree["README.md"] as string);
  expect(faults).toEqual([]);
});

use("undoes one file of a checkpoint, and nothing over what came later unless told so", async () => {
  const { review } = await withSession();
  await using _ = review;
  await using opened = await openPage(review.url);
  const { page, faults } = opened;
  await checkpoint(page, /Rename tax/).click();
  await page.getByRole("button", { name: "Undo src/index.ts" }).click();
  await confirmUndo(page);
  expect(existsSync(join(review.base, "src/index.ts"))).toBe(false);
  expect(existsSync(join(review.base, "src/vat.ts"))).toBe(true);
  await checkpoint(page, /Edited README\.md/).click();
  await shown(page.getByRole("region", { name: "Changes, lines" }).getByText("useful"));
  writeFileSync(join(review.base, "README.md"), "by a person\n");
  await page.getByRole("button", { name: "Undo …" }).click();
  const dialog = page.getByRole("dialog");
  await shown(dialog.getByRole("alert").filter({ hasText: "1 path changed since" }));
  await shown(dialog.getByText("another program has changed it"));
  await shown(dialog.getByRole("region", { name: "What this undo takes back, lines" }).getByText("useful"));
  await shown(dialog.getByRole("region", { name: "What was changed since, lines" }).getByText(/is not kept/));
  expect(await dialog.getByRole("button", { name: "Undo", exact: true }).count()).toBe(0);
  expect(readFileSync(join(review.base, "README.md"), "utf8")).toBe("by a person\n");
  await confirmUndo(page, "Undo anyway");
  expect(readFileSync(join(review.base, "README.md"), "utf8")).toBe(sessionTree["README.md"] as string);
  expect(faults).toEqual([]);
});

use("is used with the keyboard alone", async () => {
  const { review } = await withSession();
  await using _ = review;
  await using opened = await openPage(review.url);
  const { page, faults } = opened;
  await shown(checkpoint(page, /Deleted notes/));
  const tabTo = async (target: Locator) => {
    for (let presses = 0; presses < 40; presses++) {
      if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error("Tab does not lead there");
  };
  await tabTo(page.getByRole("listbox", { name: "Checkpoints" }));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  await shown(page.getByRole("option", { name: /README/, selected: true }));
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await shown(page.getByRole("heading", { name: "Rename tax to VAT" }));
  await tabTo(page.getByRole("region", { name: "Changes, lines" }));
  await tabTo(page.getByRole("button", { name: "Undo src/index.ts" }));
  const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
  expect(outline).toBe("solid");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await shown(dialog.getByRole("heading", { name: "Would be removed" }));
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await shown(dialog.getByRole("heading", { name: "Would be removed" }));
  await tabTo(dialog.getByRole("button", { name: "Undo", exact: true }));
  await page.keyboard.press("Space");
  await shown(page.getByRole("status").filter({ hasText: "Undone" }));
  expect(existsSync(join(review.base, "src/index.ts"))).toBe(false);
  expect(faults).toEqual([]);
});

use("looks at files, images and folders, and at nothing denied", async () => {
  const pixel = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const other = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR42mNwaDgAQQxwFgBXFAkBu3uNvAAAAABJRU5ErkJggg==",
    "base64",
  );
  const denied = ".env";
  await using review = await openReview({
    tree: {
      ...sessionTree,
      "pixel.png": pixel,
      "other.png": other,
      "data.bin": Buffer.from([0, 1, 2, 255]),
      [denied]: "SECRET=1",
    },
  });
  await using opened = await openPage(review.url);
  const { page, faults } = opened;
  await page.getByRole("link", { name: "Files" }).click();
  const files = page.getByRole("listbox", { name: "Files" });
  await files.getByRole("option", { name: "src/" }).click();
  await files.getByRole("option", { name: "timer.js" }).click();
  await shown(page.getByRole("region", { name: "Content" }).locator(".hljs-keyword"));
  await page.getByRole("button", { name: "Base folder" }).click();
  await files.getByRole("option", { name: "pixel.png" }).click();
  const image = page.getByRole("img", { name: "pixel.png" });
  await shown(image);
  expect(await image.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth)).toBe(1);
  await files.getByRole("option", { name: "data.bin" }).click();
  await shown(page.getByText(/is not text/));
  await files.getByRole("option", { name: ".env denied" }).click();
  await shown(page.getByRole("alert").filter({ hasText: ".env" }));
  expect(await page.content()).not.toContain("SECRET");
  const search = page.getByLabel("Search in files");
  const results = page.getByRole("listbox", { name: "Results" });
  await search.fill("MINUTES");
  await results.getByRole("option", { name: /src\/timer\.js line 1 export function minutes/ }).click();
  await shown(page.getByRole("region", { name: "Content" }).locator(".line.found", { hasText: "minutes" }));
  await search.fill("env");
  await shown(page.getByText(/^[0-9]+ results?$/));
  await search.fill("SECRET=");
  await shown(page.getByText("0 results"));
  await search.fill("");
  await shown(files.getByRole("option", { name: "timer.js" }));
  const agent = await review.join("codex");
  const copy = (from: string) =>
    agent.call("coder_copy", { files: [{ from, to: "copy.png", overwrite: true }] });
  await copy("pixel.png");
  await copy("other.png");
  await page.getByRole("link", { name: "Timeline" }).click();
  await checkpoint(page, /Copied copy\.png .*#2 /).click();
  const size = (locator: Locator) =>
    locator.evaluate((one) => {
      const { naturalWidth, naturalHeight } = one as unknown as Record<string, number>;
      return [naturalWidth, naturalHeight];
    });
  const lines = page.getByRole("region", { name: "Changes, lines" });
  const side = (place: Locator, title: string) => place.getByRole("img", { name: `${title}: copy.png` });
  await shown(lines.getByText("1 × 1, 70 B"));
  await shown(lines.getByText("3 × 2, 73 B"));
  expect([await size(side(lines, "Before")), await size(side(lines, "After"))]).toEqual([
    [1, 1],
    [3, 2],
  ]);
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Undo …" }).click();
  const dialog = page.getByRole("dialog");
  await shown(side(dialog, "After"));
  expect(await size(side(dialog, "After"))).toEqual([1, 1]);
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Compare from here to now" }).click();
  const differences = page.getByRole("region", { name: "Differences, lines" });
  await shown(differences.getByText("Before 1 × 1, 70 B"));
  // After each change, the page reads images that differ again.
  await agent.call("coder_delete_file", { paths: ["copy.png"] });
  await shown(differences.getByText("Not there."));
  expect(faults).toEqual([]);
});

use("shows hostile names and contents as text", async () => {
  const tree = Object.fromEntries(hostileNames.map((name, index) => [`names/${name}`, `${index}\n`]));
  await using review = await openReview({ tree });
  const agent = await review.join('<img src=x onerror="alert(1)">');
  for (const [index, content] of hostileContents.entries())
    await agent.call("coder_create_file", { path: `contents/${index}.html`, content });
  for (const name of hostileNames)
    await agent.call("coder_copy", { files: [{ from: `names/${name}`, to: `copies/${name}` }] });
  await using opened = await openPage(review.url);
  const { page, faults } = opened;
  const options = page.getByRole("listbox", { name: "Checkpoints" }).getByRole("option");
  await shown(options);
  expect(await options.count()).toBeGreaterThan(5);
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await page.getByLabel("After checkpoint").fill("0");
  await page.getByRole("button", { name: "Compare" }).click();
  const lines = page.getByRole("region", { name: "Differences, lines" });
  for (const content of hostileContents) {
    const [first = ""] = content.split("\n");
    const text = first.replace(/[^ -~]/gu, ".");
    await lines.evaluate((element) => element.scrollTo(0, 0));
    await expectText(lines, text);
  }
  await page.getByRole("link", { name: "Files" }).click();
  const files = page.getByRole("listbox", { name: "Files" });
  await files.getByRole("option", { name: "names/" }).click();
  await shown(page.getByText(`${hostileNames.length} entries`));
  const shownNames = await files.getByRole("option").allInnerTexts();
  expect(shownNames.some((name) => name.includes("⟨U+202E⟩"))).toBe(true);
  expect(shownNames.some((name) => name.includes("⟨U+001B⟩"))).toBe(true);
  expect(shownNames.join("")).not.toMatch(/[\u202e\u001b]/);
  // No name or content became an element or ran as a script.
  expect(await page.locator("[onerror], [onload], script:not([src]), style, iframe, object").count()).toBe(0);
  expect(await page.evaluate("globalThis.broken")).toBeUndefined();
  expect(faults).toEqual([]);
});

/** Scrolls down until a text is shown. In it, `.` matches any character or its escape. */
async function expectText(lines: Locator, text: string): Promise<void> {
  const pattern = new RegExp(
    text.replaceAll(/[\\^$*+?()[\]{}|]/g, "\\$&").replaceAll(".", "(?:.|⟨U\\+[0-9A-F]+⟩)"),
    "u",
  );
  for (let screens = 0; screens < 50; screens++) {
    if ((await lines.innerText()).match(pattern)) return;
    await lines.evaluate((element) => element.scrollBy(0, 300));
    await nextFrame(lines.page());
  }
  throw new Error(`not shown: ${text}`);
}

use("goes on when the worker is back, and says so while it is away", async () => {
  const { review, agent } = await withSession();
  await using _ = review;
  await using opened = await openPage(review.url);
  const { page, faults } = opened;
  await shown(checkpoint(page, /Deleted notes/));
  await shown(page.getByText("Live", { exact: true }));
  await review.stop();
  await shown(page.getByRole("alert").filter({ hasText: "The worker does not answer" }));
  await shown(checkpoint(page, /Deleted notes/));
  await agent.call("coder_create_file", { path: "while-away.txt", content: "x\n" });
  await review.start();
  await shown(page.getByText("Live", { exact: true }));
  await shown(checkpoint(page, /Created while-away\.txt/));
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(faults).toEqual([]);
});

const looks = [
  { name: "light, wide", colorScheme: "light", width: 1280 },
  { name: "dark, wide", colorScheme: "dark", width: 1280 },
  { name: "dark, narrow", colorScheme: "dark", width: 390 },
  { name: "light, narrow", colorScheme: "light", width: 390 },
] as const;

use("breaks no rule of accessibility, in light and dark, narrow and wide", async () => {
  unchanging ??= withSession();
  const { review } = await unchanging;
  // In a transition, a colour between the two would be measured.
  await using opened = await openPage(review.url, { reducedMotion: "reduce" });
  const { page, faults } = opened;
  const found: string[] = [];
  const check = async (place: string) => {
    for (const { name, colorScheme, width } of looks) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await nextFrame(page);
      for (const violation of await violationsOf(page)) found.push(`${name}, ${place}: ${violation}`);
      const overflow = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      if (overflow) found.push(`${name}, ${place}: the page is wider than the window`);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  };
  await shown(checkpoint(page, /Deleted notes/));
  await check("timeline");
  await checkpoint(page, /Edited src\/tax\.ts/).click();
  await shown(page.locator(".hljs-keyword"));
  await check("checkpoint");
  await page.getByRole("button", { name: "Undo …" }).click();
  await shown(page.getByRole("region", { name: "What was changed since, lines" }));
  await check("conflict");
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await shown(page.getByRole("region", { name: "Differences, lines" }).locator(".line"));
  await check("comparison");
  await page.getByRole("link", { name: "Files" }).click();
  await page.getByRole("option", { name: "README.md" }).click();
  await shown(page.getByRole("region", { name: "Content" }).locator(".line"));
  await page.getByLabel("Search in files").fill("tea");
  await shown(page.getByRole("listbox", { name: "Results" }).getByRole("option"));
  await check("file and results");
  expect(found).toEqual([]);
  expect(faults).toEqual([]);
});

const byHand = `${sessionTree["README.md"]}By hand.\n`;

/** Opens an agent whose calls wait for approval, with its page and the audit trail of both. */
async function withApproval(config: Readonly<Record<string, unknown>> = {}, client: ClientOptions = {}) {
  const settings = mkdtempSync(join(tmpdir(), "coder-"));
  const file = join(settings, "audit.jsonl");
  const agent = await connectStdio("executable", {
    tree: sessionTree,
    args: ["--review", "--approval", "all"],
    config: { audit: { file }, profile: "auto", ...config },
    client,
  });
  await agent.waitForStderr(/"message":"review"/);
  const [, url = ""] = /"message":"review","url":"([^"]+)"/.exec(agent.stderr()) ?? [];
  return {
    agent,
    url,
    create: (path: string, signal?: AbortSignal) =>
      agent.client.callTool(
        { name: "coder_create_file", arguments: { path, content: "const one = 1;\n" } },
        signal && { signal },
      ) as Promise<CallToolResult>,
    edit: () => agent.call("coder_update_file", { path: "README.md", old_str: "small", new_str: "useful" }),
    /** Adds a line to the file of `edit`, like another program would. */
    editByHand: () => writeFileSync(join(agent.base, "README.md"), byHand),
    readme: () => readFileSync(join(agent.base, "README.md"), "utf8"),
    has: (path: string) => existsSync(join(agent.base, path)),
    /** Returns the approval in the audit trail for the newest call of a function. */
    approvalOf(id: string): unknown {
      const lines = readFileSync(file, "utf8").trimEnd().split("\n");
      const calls = lines.map((line) => JSON.parse(line) as { function: string; approval?: unknown });
      return calls.findLast((call) => call.function === id)?.approval;
    },
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      rmSync(settings, { recursive: true });
    },
  };
}

const { username } = userInfo();
/** The user of the page in the audit trail: a number if USER is not set, when Bun's name is "unknown". */
const person = `user ${username === "unknown" ? process.getuid!() : username}`;
const waitingCalls = (page: Page) => page.getByRole("region", { name: "Waiting for approval" });
const answerWith = (page: Page, name: "Approve" | "Decline") =>
  waitingCalls(page).getByRole("button", { name, exact: true }).click();

use("asks everyone at the page before a call, and the first answer counts", async () => {
  await using session = await withApproval();
  const { create, edit, has, approvalOf, agent } = session;
  await using opened = await openPage(session.url);
  const { page, faults } = opened;
  // The browser draws a page in the background only once per second.
  await using beside = await openPage(session.url);
  const other = beside.page;
  for (const one of [page, other]) await shown(one.getByText("Live", { exact: true }));
  const created = create("approved.ts");
  for (const one of [page, other])
    await shown(waitingCalls(one).getByRole("alert").filter({ hasText: "approved.ts" }));
  await shown(waitingCalls(page).getByText("const one = 1;"));
  expect(has("approved.ts")).toBe(false);
  expect(await violationsOf(page)).toEqual([]);
  await answerWith(page, "Approve");
  expect((await created).isError).toBeFalsy();
  expect([has("approved.ts"), approvalOf("coder::create-file")]).toEqual([
    true,
    { verdict: "approved", by: person },
  ]);
  await waitingCalls(other).waitFor({ state: "detached" });
  const declined = create("declined.ts");
  await answerWith(other, "Decline");
  expect(textOf(await declined)).toStartWith("C224 declined: The user declined this call.");
  expect([has("declined.ts"), approvalOf("coder::create-file")]).toEqual([
    false,
    { verdict: "declined", by: person },
  ]);
  await waitingCalls(page).waitFor({ state: "detached" });
  const overtaken = edit();
  await shown(waitingCalls(page).getByText("useful"));
  session.editByHand();
  await answerWith(page, "Approve");
  expect(textOf(await overtaken)).toStartWith(
    "C221 revision_mismatch: Files changed after the user was shown",
  );
  expect(session.readme()).toBe(byHand);
  const leaving = new AbortController();
  const cancelled = create("cancelled.ts", leaving.signal).catch((error: Error) => error);
  await shown(waitingCalls(other));
  leaving.abort();
  expect(await cancelled).toBeInstanceOf(Error);
  for (const one of [page, other]) await waitingCalls(one).waitFor({ state: "detached" });
  await checkpoint(page, /Created approved\.ts/).click();
  await page.getByRole("button", { name: "Undo …" }).first().click();
  await confirmUndo(page);
  expect([has("approved.ts"), approvalOf("coder::undo")]).toEqual([
    false,
    { verdict: "approved", by: person },
  ]);
  const abandoned = create("abandoned.ts").catch(() => {});
  await shown(waitingCalls(page));
  await agent.client.close();
  await abandoned;
  await shown(page.getByRole("alert").filter({ hasText: "The worker does not answer" }));
  await waitingCalls(page).waitFor({ state: "detached" });
  expect([has("cancelled.ts"), has("abandoned.ts")]).toEqual([false, false]);
  expect(faults).toEqual([]);
});

use("approves plans of calls that nobody could approve, as long as they do the same", async () => {
  await using session = await withApproval({ approval_timeout_ms: 1500 });
  const { create, edit, has, approvalOf, agent } = session;
  const planIn = (text: string) => {
    expect(text).toContain("Ask the user to open the review page, if this server has one");
    return /plan: ([0-9a-f]{32})$/.exec(text)![1]!;
  };
  const commit = async (plan: string) => textOf(await agent.call("coder_commit", { plan }));
  const done = planIn(textOf(await create("done.ts")));
  const stale = planIn(textOf(await edit()));
  await using opened = await openPage(session.url);
  const { page, faults } = opened;
  await shown(page.getByText("Live", { exact: true }));
  for (const name of ["done.ts", "README.md"]) {
    const call = waitingCalls(page).getByRole("article").filter({ hasText: name });
    await call.getByRole("button", { name: "Approve" }).click();
    await call.waitFor({ state: "detached" });
  }
  expect(await commit(done)).toContain("done.ts");
  expect([has("done.ts"), approvalOf("coder::commit")]).toEqual([true, { verdict: "approved", by: person }]);
  session.editByHand();
  expect(await commit(stale)).toStartWith("C221");
  expect(session.readme()).toBe(byHand);
  expect(textOf(await create("late.ts"))).toStartWith("C224 declined: Nobody answered the question");
  expect([has("late.ts"), approvalOf("coder::create-file")]).toEqual([false, { verdict: "unanswered" }]);
  await waitingCalls(page).waitFor({ state: "detached" });
  expect(faults).toEqual([]);
});

use("asks at the page and in the client, and withdraws the question where it was not answered", async () => {
  await using session = await withApproval({}, { capabilities: { elicitation: { form: {} } } });
  const { create, has, approvalOf, agent } = session;
  const asked: { signal: AbortSignal; answer: (action: "accept" | "decline") => void }[] = [];
  let heard = Promise.withResolvers<void>();
  agent.client.setRequestHandler("elicitation/create", (_, { mcpReq: { signal } }) => {
    const { promise, resolve } = Promise.withResolvers<"accept" | "decline">();
    asked.push({ signal, answer: resolve });
    heard.resolve();
    return promise.then((action) => ({ action }));
  });
  await using opened = await openPage(session.url);
  const { page, faults } = opened;
  await shown(page.getByText("Live", { exact: true }));
  const atPage = create("at-page.ts");
  await heard.promise;
  await answerWith(page, "Approve");
  expect((await atPage).isError).toBeFalsy();
  expect([has("at-page.ts"), approvalOf("coder::create-file")]).toEqual([
    true,
    { verdict: "approved", by: person },
  ]);
  if (!asked[0]!.signal.aborted) await once(asked[0]!.signal, "abort");
  heard = Promise.withResolvers();
  const inClient = create("in-client.ts");
  await heard.promise;
  await shown(waitingCalls(page));
  asked[1]!.answer("decline");
  expect(textOf(await inClient)).toStartWith("C224 declined: The user declined this call.");
  await waitingCalls(page).waitFor({ state: "detached" });
  expect([has("in-client.ts"), approvalOf("coder::create-file")]).toEqual([
    false,
    { verdict: "declined", by: expect.stringMatching(/^the user of tests 1\.0\.0 \(session [0-9a-f]{8}\)$/) },
  ]);
  expect(faults).toEqual([]);
});

const pictures = process.env["CODER_PICTURES"];

/** Takes the pictures for docs/review.md into a folder. */
if (pictures !== undefined)
  use("takes pictures", async () => {
    unchanging ??= withSession();
    const { review } = await unchanging;
    for (const colorScheme of ["light", "dark"] as const) {
      const viewport = { width: 1120, height: 560 };
      await using opened = await openPage(review.url, { colorScheme, viewport, deviceScaleFactor: 1.5 });
      const { page } = opened;
      await checkpoint(page, /Edited src\/tax\.ts/).click();
      await shown(page.getByRole("region", { name: "Changes, lines" }).locator(".added .mark"));
      await shown(page.locator(".hljs-keyword"));
      await page.screenshot({ path: join(pictures, `review-${colorScheme}.png`), animations: "disabled" });
    }
  });

use("scrolls through a difference of 100,000 lines", async () => {
  const line = (index: number) => `export const value${index} = ${index * 7};`;
  const content = `${Array.from({ length: 50_000 }, (_, index) => line(index)).join("\n")}\n`;
  const changed = content.replaceAll("export const", "export let");
  const short = `${content.split("\n", 90).join("\n")}\n`;
  await using review = await openReview({ tree: { "large.ts": content, "short.ts": short } });
  const agent = await review.join("codex");
  const edit = (index: number) =>
    agent.call("coder_update_file", { path: "short.ts", old_str: line(index), new_str: "// gone" });
  await edit(50);
  await agent.call("coder_create_file", { path: "large.ts", content: changed, overwrite: true });
  await using opened = await openPage(review.url);
  const { page, faults } = opened;
  await checkpoint(page, /large\.ts/).click();
  const lines = page.getByRole("region", { name: "Changes, lines" });
  await shown(lines.getByText("+50,000"));
  await shown(lines.locator(".line"));
  const rows = () => lines.locator(".row").count();
  expect(await rows()).toBeLessThan(100);
  await lines.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await shown(lines.getByText(/value49999/));
  expect(await rows()).toBeLessThan(100);
  expect(await lines.evaluate((element) => element.scrollHeight)).toBeGreaterThan(2_000_000);
  const unfold = lines.getByRole("button", { name: "Show all lines of short.ts" });
  await checkpoint(page, /Edited short\.ts .*#1 /).click();
  await shown(lines.getByText("⋯ 47 unchanged lines"));
  expect(await lines.getByText(/value0 /).count()).toBe(0);
  await unfold.click();
  await shown(lines.getByText(/value0 /));
  await lines.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await shown(lines.getByText(/value89 /));
  await edit(5);
  await checkpoint(page, /Edited short\.ts .*#3 /).click();
  await shown(lines.getByText(/value5 /));
  await checkpoint(page, /Edited short\.ts .*#1 /).click();
  await unfold.click();
  await shown(lines.getByText("47 unchanged lines, not kept: the file has changed since"));
  expect(faults).toEqual([]);
});

use("scrolls through 10,000 checkpoints", async () => {
  await using review = await openReview();
  await using opened = await openPage(new URL("/nowhere", review.url).href);
  const { page } = opened;
  // A worker would take longer to make 10,000 checkpoints than all other tests together.
  await page.route("**/call/coder::checkpoints", async (route) => {
    const { limit, before_seq: before = 10_001 } = route.request().postDataJSON();
    const oldest = Math.max(1, before - limit);
    const checkpoints = Array.from({ length: before - oldest }, (_, index) => ({
      seq: before - 1 - index,
      ts: "2026-01-02T03:04:05.678Z",
      function_id: "coder::update-file",
      author: { client: "codex 2.1", session: "5f0c1a2b" },
      files: [{ path: `src/file-${index}.ts`, change: "modified" }],
      bytes: 1,
    }));
    await route.fulfill({
      json: { answer: { checkpoints, ...(oldest > 1 && { next_before_seq: oldest }) } },
    });
  });
  await page.goto(review.url);
  const list = page.getByRole("listbox", { name: "Checkpoints" });
  await shown(checkpoint(page, /#10000 /));
  expect(await list.getByRole("option").count()).toBeLessThan(60);
  await list.focus();
  while (!(await page.getByText("10,000 changes").isVisible())) {
    await page.keyboard.press("End");
    await page.getByRole("region", { name: "Timeline" }).getByText("Loading …").waitFor({ state: "hidden" });
    await nextFrame(page);
  }
  await page.keyboard.press("End");
  await shown(checkpoint(page, /#1 /));
  expect(await list.getByRole("option").count()).toBeLessThan(60);
  await page.keyboard.press("Home");
  await shown(checkpoint(page, /#10000 /));
});

test("a machine without a browser is told which to install", () => {
  expect(reasonAgainstBrowser ?? "there is one").toMatch(/^there is one$|apt-get install chromium/);
});
