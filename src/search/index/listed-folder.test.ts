import { expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { JailFixture } from "../../filesystem/jail/jail.test-kit.ts";
import { linksAt } from "../../filesystem/jail/statx.ts";
import { openListed, TreeChanged } from "./listed-folder.ts";

test("a folder is opened where the tree had it, and not what has taken its place", () => {
  using fixture = new JailFixture({ "d/e/f": "" });
  const jail = fixture.jail("openat");
  using folder = jail.admitFolder("d/e");
  const own = linksAt(folder.descriptor!, ".");
  const listed = { path: "d/e", inode: typeof own === "object" ? own.inode : 0n };
  openListed(jail, listed).close();
  renameSync(fixture.at("d/e"), fixture.at("moved"));
  expect(() => openListed(jail, listed)).toThrow(TreeChanged);
  mkdirSync(fixture.at("d/e"));
  expect(() => openListed(jail, listed)).toThrow(TreeChanged);
  rmSync(fixture.at("d/e"), { recursive: true });
  // A link leads to the folder itself, but a walk would not get there this way.
  symlinkSync("../moved", fixture.at("d/e"));
  expect(() => openListed(jail, listed)).toThrow(TreeChanged);
});

test("a folder that has come to compare names in another way is not what the tree had: more may be denied in it", () => {
  using fixture = new JailFixture({ "d/f": "" });
  const jail = fixture.jail("openat");
  const folder = jail.admitFolder("d");
  const own = linksAt(folder.descriptor!, ".");
  Object.defineProperty(folder, "folding", { value: "folded" });
  const listed = { path: "d", inode: typeof own === "object" ? own.inode : 0n };
  expect(() => openListed({ reopenFolder: () => folder }, listed)).toThrow(TreeChanged);
});
