import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { defaultConfig } from "./config.ts";
import { search } from "./search.ts";
import { openCoder } from "./services.ts";

test("a search tells its caller of every file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "coder-"));
  for (let file = 0; file < 300; file++) writeFileSync(join(folder, `f${file}.txt`), "needle\n");
  const coder = await openCoder({ ...defaultConfig(), base_path: folder, profile: "agent" });
  const invoke = createInvoke(coder, createLog({ level: "error", form: "text", write: () => {} }));
  let files = 0;
  const onFiles = (more: number) => {
    files += more;
  };
  const outcome = await invoke(search, { query: "absent" }, { onFiles });
  await coder.close();
  rmSync(folder, { recursive: true });
  expect(outcome).toMatchObject({ answer: { searched: { files: 300 } } });
  expect(files).toBe(300);
});

test("a search of one file says which fields do not apply to it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "coder-"));
  writeFileSync(join(folder, "f.txt"), "a\n");
  const coder = await openCoder({ ...defaultConfig(), base_path: folder, profile: "agent" });
  const invoke = createInvoke(coder, createLog({ level: "error", form: "text", write: () => {} }));
  const hintsOf = async (payload: object) => {
    const outcome = await invoke(search, payload);
    return (outcome as { answer: { hints?: string[] } }).answer.hints;
  };
  const globs = { include_globs: ["*.md"] };
  expect(await hintsOf({ query: "a", path: "f.txt", ...globs })).toEqual([
    '"include_globs" selects in folders only, and "path" is a file',
  ]);
  expect(await hintsOf({ query: "b", path: "f.txt", ...globs, exclude_file_types: ["ts"] })).toEqual([
    '"include_globs" and "exclude_file_types" select in folders only, and "path" is a file',
  ]);
  expect(await hintsOf({ query: "a", path: "f.txt" })).toBeUndefined();
  expect(await hintsOf({ query: "a", include_globs: ["*.txt"] })).toBeUndefined();
  await coder.close();
  rmSync(folder, { recursive: true });
});

test("a search for the path of something denied says that it is, whether it exists or not", async () => {
  const folder = mkdtempSync(join(tmpdir(), "coder-"));
  for (const name of ["f.txt", ".env"]) writeFileSync(join(folder, name), "a\n");
  const coder = await openCoder({ ...defaultConfig(), base_path: folder, profile: "agent" });
  const invoke = createInvoke(coder, createLog({ level: "error", form: "text", write: () => {} }));
  const hintsOf = async (payload: object) => {
    const outcome = await invoke(search, payload);
    return (outcome as { answer: { hints?: string[] } }).answer.hints;
  };
  const denied = (path: string) =>
    `"${path}" is denied by the configuration, and denied paths are not searched`;
  const inPaths = { search_content: false };
  expect(await hintsOf({ query: ".env", ...inPaths })).toEqual([denied(".env")]);
  expect(await hintsOf({ query: "b", patterns: ["d/server.key"], ...inPaths })).toEqual([
    denied("d/server.key"),
  ]);
  expect(await hintsOf({ query: ".env", search_paths: true })).toEqual([denied(".env")]);
  const links = "links are not among the paths that are searched";
  for (const query of ["nowhere", "e?nv"])
    expect(await hintsOf({ query, ...inPaths, ignore_case: true })).toEqual([links]);
  expect(await hintsOf({ query: "\\.env", regex: true, ignore_case: true, ...inPaths })).toEqual([links]);
  expect(await hintsOf({ query: ".env" })).toBeUndefined();
  await coder.close();
  rmSync(folder, { recursive: true });
});

test("a page as large as a message names the maximum of max_bytes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "coder-"));
  writeFileSync(join(folder, "f.txt"), "needle\n".repeat(200));
  const coder = await openCoder({ ...defaultConfig(), base_path: folder, profile: "agent" });
  const invoke = createInvoke(coder, createLog({ level: "error", form: "text", write: () => {} }));
  const payload = { query: "needle", max_bytes: 1_000_000 };
  const outcome = await invoke(search, payload, { maxAnswerBytes: 3000 });
  await coder.close();
  rmSync(folder, { recursive: true });
  expect(outcome).toMatchObject({
    answer: { hints: ["max_bytes is at most 3000, which one message carries"], stopped_by: "max_bytes" },
  });
  expect(JSON.stringify((outcome as { answer: object }).answer).length).toBeLessThanOrEqual(3000);
});
