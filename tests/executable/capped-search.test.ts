/**
 * A capped search stops as soon as its lists are full: strace counts the files of a large tree that it opens.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reasonAgainstTracing, testUnless } from "../faults/machine.ts";
import { type Artifacts, installArtifacts, runArtifact } from "./artifacts.ts";

const foldersOfTree = 200;
const filesOfFolder = 100;

let artifacts: Artifacts;

beforeAll(async () => {
  artifacts = await installArtifacts();
  for (let folder = 0; folder < foldersOfTree; folder++) {
    const path = join(artifacts.folder, `base/d${1000 + folder}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < filesOfFolder; file++) writeFileSync(join(path, `f${file}.txt`), "tea\n");
  }
});

afterAll(() => artifacts?.[Symbol.dispose]());

const cap = 1000;
/** It takes one more match to know that something is left out, and each file has one. */
const needed = { files: cap + 1, folders: Math.ceil((cap + 1) / filesOfFolder) };
/** Maximum files and folders that threads have opened beyond that when the lists are full. */
const ahead = { files: 96, folders: 2 };

/** Searches that stop after 1,000 matches, and whether they read contents. */
const searches: [string, object, boolean][] = [
  ["for a literal", { query: "tea", search_paths: false }, true],
  ["for a regex", { query: "t[a-f]a", regex: true, search_paths: false }, true],
  ["across lines", { query: "t.a\\n", regex: true, multiline: true, search_paths: false }, true],
  ["that names the files", { query: "t[a-f]a", regex: true, mode: "files", search_paths: false }, true],
  ["in pages", { query: "t.a", regex: true, max_bytes: 10_000_000, search_paths: false }, true],
  ["of contents and paths", { query: "t[ex]", regex: true }, true],
  ["of paths, for a literal", { query: "txt", search_content: false }, false],
];

describe("of 20,000 files that match, the executable", () => {
  const search = (fields: object) => {
    const payload = JSON.stringify({ max_matches: cap, ...fields });
    return ["call", "coder::search", payload, "--base-path", "base"];
  };

  /** Runs a search under strace. Returns its answer and the numbers of files and folders that it opened. */
  async function opened(fields: object) {
    const trace = join(artifacts.folder, "trace");
    const [program = ""] = artifacts.executable.command;
    const strace = ["strace", "-f", "-qq", "-o", trace, "-e", "trace=open,openat,openat2", program];
    const traced = { name: "executable", command: strace } as const;
    const { stdout, code } = await runArtifact(traced, search(fields), { cwd: artifacts.folder });
    const calls = readFileSync(trace, "latin1");
    const files = calls.match(/"f\d+\.txt"/g)?.length ?? 0;
    const folders = calls.match(/"d1\d+"/g)?.length ?? 0;
    return { code, answer: JSON.parse(stdout), files, folders };
  }

  for (const [name, fields, readsContents] of searches)
    testUnless(reasonAgainstTracing, `opens few more than it needs in a search ${name}`, async () => {
      const { code, answer, files, folders } = await opened(fields);
      const { content_matches, path_matches, files: matching = [], truncated } = answer;
      expect({ code, truncated }).toEqual({ code: 0, truncated: true });
      expect(content_matches.length + matching.length).toBe(readsContents ? cap : 0);
      if (!readsContents) expect(path_matches).toHaveLength(cap);
      const least = readsContents ? needed.files : 0;
      expect(files).toBeGreaterThanOrEqual(least);
      expect(files).toBeLessThanOrEqual(least === 0 ? 0 : least + ahead.files);
      expect(folders).toBeGreaterThanOrEqual(needed.folders);
      expect(folders).toBeLessThanOrEqual(needed.folders + ahead.folders);
    });

  test("says of a page that it searched the files up to the last match", async () => {
    const flags = search({ query: "tea", max_bytes: 10_000_000, search_paths: false });
    const { stdout } = await runArtifact(artifacts.executable, flags, { cwd: artifacts.folder });
    const { searched, stopped_by } = JSON.parse(stdout);
    expect({ searched: searched.files, stopped_by }).toEqual({
      searched: needed.files,
      stopped_by: "max_matches",
    });
  });
});
