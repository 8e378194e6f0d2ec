import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { repository } from "../harness/subject.ts";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const executablePath = process.env["CODER_BROWSER"] ?? places.find((place) => existsSync(place));

/** The reason why no test can run in a browser here; `undefined` if a browser is installed. */
export const reasonAgainstBrowser: string | undefined =
  executablePath === undefined
    ? "no Chromium is installed; as root, apt-get install chromium, or name one with CODER_BROWSER"
    : undefined;

let started: Promise<Browser> | undefined;

/** Starts the browser, once for all tests. */
function startBrowser(): Promise<Browser> {
  // Chromium's own sandbox does not work for root.
  started ??= chromium.launch({ executablePath: executablePath!, args: ["--no-sandbox", "--disable-gpu"] });
  return started;
}

export async function closeBrowser(): Promise<void> {
  await (await started)?.close();
  started = undefined;
}

/** A page, and the faults that have occurred in it. */
export interface OpenedPage extends AsyncDisposable {
  readonly page: Page;
  /** Errors of scripts, violations of the content security policy, and requests to other origins. */
  readonly faults: string[];
}

/** Opens an address in a new browser context. */
export async function openPage(
  url: string,
  options: BrowserContextOptions = {},
  prepare: (page: Page) => Promise<void> = async () => {},
): Promise<OpenedPage> {
  const browser = await startBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  const { origin } = new URL(url);
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    // The browser reports refused connections while the worker is stopped.
    if (message.type() === "error" && !/ERR_CONNECTION_RE(FUSED|SET)|ERR_INCOMPLETE/.test(message.text()))
      faults.push(message.text());
  });
  page.on("request", (request) => {
    const isOwn = request.url().startsWith(`${origin}/`) || request.url().startsWith("data:image/");
    if (!isOwn) faults.push(`request to ${request.url()}`);
  });
  await prepare(page);
  await page.goto(url);
  return {
    page,
    faults,
    async [Symbol.asyncDispose]() {
      await context.close();
    },
  };
}

/** Resolves after the page has been drawn once more. */
export const nextFrame = (page: Page): Promise<unknown> =>
  page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");

const axeText = () => Bun.file(join(repository, "node_modules/axe-core/axe.min.js")).text();

/** Returns the violations of accessibility rules (WCAG 2.2, A and AA), one sentence each. */
export async function violationsOf(page: Page): Promise<string[]> {
  // The policy of the page forbids foreign scripts, so this one comes through the debugger.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(await axeText());
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; help: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`);
  });
}
