/** Writes the generated files, or with `--check` reports those that differ from the sources. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { renderPages } from "../src/calls/reference/pages.ts";
import { workers } from "../src/serve/workers.ts";
import { renderGoldens } from "./reference/goldens.ts";
import { fillTables } from "./reference/tables.ts";
import { renderManifests } from "./release/manifests/manifests.ts";

const top = dirname(import.meta.dir);
const folder = "docs/reference";
const pages = [
  ...renderPages(Object.values(workers)),
  ...renderGoldens(workers),
  ...renderManifests(),
  ...fillTables(workers.coder, (path) => readFileSync(join(top, path), "utf8")),
].map(([path, text]) => ({ path, text, file: join(top, path) }));
const leftover = readdirSync(join(top, folder))
  .map((name) => `${folder}/${name}`)
  .filter((path) => !pages.some((page) => page.path === path));

if (process.argv.includes("--check")) {
  const stale = pages.filter(({ file, text }) => current(file) !== text).map(({ path }) => path);
  for (const path of leftover) stale.push(path);
  for (const path of stale) console.error(`${path} is not what the sources make; run npm run reference`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const path of leftover) rmSync(join(top, path));
  for (const { file, text } of pages) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function current(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
