/** Tests the saved index of contents across processes, for one folder and for several roots. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { type Config, defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder } from "./services.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  for (const root of ["one", "two"]) {
    mkdirSync(join(folder, root, "sub"), { recursive: true });
    // Enough files for an index to be saved.
    for (let n = 0; n < 300; n++)
      writeFileSync(join(folder, root, n % 2 === 0 ? `${n}.txt` : `sub/${n}.txt`), `file ${n}\n${root}\n`);
    writeFileSync(join(folder, root, "notes.md"), "needle\n");
  }
});
afterEach(() => rmSync(folder, { recursive: true }));

const only = (): Partial<Config> => ({ base_path: folder });
const several = (): Partial<Config> => ({
  roots: ["one", "two"].map((name) => ({
    name,
    path: join(folder, name),
    read_only: false,
    non_accessible_globs: [],
  })),
});

async function open(config: Partial<Config>) {
  const dir = join(folder, "..", `${basename(folder)}-state`);
  const journal = { dir, max_bytes: 1_000_000, max_records: 500 };
  const runtime = await openCoder({ ...defaultConfig(), profile: "agent", journal, ...config });
  const invoke = createInvoke(runtime, createLog({ level: "error", form: "text", write: () => {} }));
  return {
    runtime,
    state: dir,
    async search(query: string) {
      const outcome = await invoke(definition, { query, max_bytes: 100_000 });
      if (!("answer" in outcome)) throw new Error(JSON.stringify(outcome));
      const { index, content_matches } = outcome.answer as SearchAnswer;
      return { index, paths: content_matches.map(({ path }) => path) };
    },
    /** Resolves when all files are in the index, and it is saved. */
    async close() {
      await runtime.searcher.index?.settled();
      await runtime.close();
    },
  };
}

interface SearchAnswer {
  readonly index: string;
  readonly content_matches: readonly { readonly path: string }[];
}

const definition = functions.find(({ id }) => id === "coder::search")!;

test.each([
  ["one folder", only, ""],
  ["several roots", several, ""],
])("%s: the first search of the next process reads only what may match", async (_, config) => {
  const first = await open(config());
  expect(await first.search("needle")).toEqual({
    index: "scan",
    paths: ["one/notes.md", "two/notes.md"],
  });
  await first.close();
  writeFileSync(join(folder, "one/7.txt"), "needle too\n");
  renameSync(join(folder, "two/sub/9.txt"), join(folder, "two/moved.txt"));
  const second = await open(config());
  expect(await second.search("needle")).toEqual({
    index: "verified",
    paths: ["one/7.txt", "one/notes.md", "two/notes.md"],
  });
  expect((await second.search("file 299")).paths).toEqual(["one/sub/299.txt", "two/sub/299.txt"]);
  await second.close();
  rmSync(second.state, { recursive: true });
});

test("an index is not saved where the configuration or the profile says so, and not read by other rules", async () => {
  const places = () =>
    existsSync(state)
      ? readdirSync(state, { recursive: true }).filter((name) => String(name).endsWith(".index"))
      : [];
  const state = join(folder, "..", `${basename(folder)}-state`);
  for (const config of [{ index_saved: "off" }, { profile: "contract", index: "verified" }] as const) {
    const worker = await open({ ...only(), ...config });
    await worker.search("needle");
    await worker.close();
    expect(places()).toEqual([]);
  }
  const worker = await open({ ...only(), profile: "contract", index: "verified", index_saved: "on" });
  await worker.search("needle");
  await worker.close();
  expect(places()).toHaveLength(1);
  const stricter = await open({ ...only(), non_accessible_globs: ["**/*.md"] });
  expect(await stricter.search("needle")).toEqual({ index: "scan", paths: [] });
  await stricter.close();
  rmSync(state, { recursive: true });
});
