/**
 * Compares the files with those of ripgrep in checkouts of real projects with their own ignore files (coder
 * §16): in the whole checkout and in each of its folders, with and without ignore files, and with hidden
 * files.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkOut, checkouts, foldersOf, leaveBehind, leftBehind } from "./checkouts.test-kit.ts";
import { filesOfRipgrep } from "./ignore/ripgrep.test-kit.ts";
import { filesOfWalk } from "./ignored.test-kit.ts";
import { openSearcher, type RequestFields } from "./search.test-kit.ts";

const parent = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));

afterAll(() => rmSync(parent, { recursive: true }));

describe.each(Object.entries(checkouts))("%s", (name, folder) => {
  const base = join(parent, name);
  let folders: string[] = [];

  beforeAll(() => {
    checkOut(folder, base);
    const nearTop = foldersOf(base).filter((path) => path.split("/").length < 3);
    leaveBehind(base, nearTop);
    // Entries that `git init` and a user write.
    mkdirSync(join(base, ".git/info"), { recursive: true });
    writeFileSync(
      join(base, ".git/info/exclude"),
      "# git ls-files --others --exclude-from=...\n/vendor\n*.iml\n",
    );
    folders = foldersOf(base);
  });

  test("all of it, with what the tools have left behind", () => {
    const files = filesOfWalk(base);
    expect(files).toEqual(filesOfRipgrep(base));
    expect(files.length).toBeLessThan(filesOfRipgrep(base, ".", ["--no-ignore"]).length * 0.9);
  });

  test("each of its folders, also those that are ignored", () => {
    const step = Math.ceil(folders.length / 60);
    const seen = folders.filter((_, index) => index % step === 0);
    for (const inside of seen) expect(filesOfWalk(base, inside)).toEqual(filesOfRipgrep(base, inside));
    expect(seen.length).toBeGreaterThan(40);
  });

  const searches: [string, RequestFields, readonly string[]][] = [
    ["with ignore files", { respectsIgnoreFiles: true }, []],
    ["without them", {}, ["--no-ignore"]],
    ["in a folder", { respectsIgnoreFiles: true, path: "node_modules/a" }, []],
  ];
  test.each(searches)("as a search answers, %s", async (_, fields, flags) => {
    const { search, close } = openSearcher(base, { backend: "descriptors", threads: false });
    const all = { pattern: "/|^[^/]*$", regex: true, content: false, maxMatches: 1_000_000, ...fields };
    const { path_matches, truncated } = await search(all);
    await close();
    expect(truncated).toBe(false);
    expect(path_matches.map(({ path }) => path).sort()).toEqual(filesOfRipgrep(base, fields.path, flags));
  });
});

describe("all of them in one folder", () => {
  test("whose own ignore file counts in the repositories too", () => {
    writeFileSync(join(parent, ".gitignore"), "*.json\n/*/src/\n!*.log\n");
    writeFileSync(join(parent, "package.json"), "");
    expect(filesOfWalk(parent)).toEqual(filesOfRipgrep(parent));
    for (const name of Object.keys(checkouts))
      expect(filesOfWalk(parent, name).length).toBeLessThan(filesOfWalk(join(parent, name)).length);
  });

  test("each of which ignores a part of what the tools leave behind", () => {
    for (const name of Object.keys(checkouts)) {
      const files = new Set(filesOfRipgrep(join(parent, name)));
      const kept = leftBehind.filter((path) => files.has(path));
      expect(kept.length).toBeGreaterThan(leftBehind.length / 10);
    }
  });
});
