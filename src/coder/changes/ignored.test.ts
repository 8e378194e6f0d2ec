import { expect, test } from "bun:test";
import { JailFixture } from "../../filesystem/jail/jail.test-kit.ts";
import { IgnoreFiles } from "../../search/ignore/ignore-files.ts";
import { IgnoredPaths } from "./ignored.ts";

test("the folders above a path are opened one in the other, and those below a missing one not at all", () => {
  using fixture = new JailFixture({
    ".gitignore": "a\n",
    "x/y/.gitignore": "b\n",
    "x/y/z/.gitignore": "c\n",
    "secret/.gitignore": "d\n",
  });
  const jail = fixture.jail("openat", ["secret"]);
  const opened: string[] = [];
  const ignored = new IgnoredPaths({
    ignoreFiles: new IgnoreFiles(jail),
    jail: {
      deniesIn: (...name) => jail.deniesIn(...name),
      reopenFolder(path) {
        opened.push(path);
        return jail.reopenFolder(path);
      },
    },
  });
  const isIgnored = (...paths: string[]) => paths.map((path) => ignored.has(path, false));
  expect(isIgnored("x/y/z/f", "x/y/z/c", "x/y/b/f", "x/b", "x/a/f")).toEqual([
    false,
    true,
    true,
    false,
    true,
  ]);
  expect(opened).toEqual([""]);
  expect(isIgnored("x/y/gone/more/f", "secret/d/f")).toEqual([false, false]);
  expect(opened).toEqual(["", "x/y/gone", "secret"]);
});
