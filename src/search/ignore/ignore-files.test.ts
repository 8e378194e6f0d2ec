import { expect, test } from "bun:test";
import { JailFixture } from "../../filesystem/jail/jail.test-kit.ts";
import { IgnoreFiles } from "./ignore-files.ts";

test("the folders above a deep one are opened one in the other, and not each from the base", () => {
  using fixture = new JailFixture({
    ".gitignore": "a\n",
    "x/y/.gitignore": "b\n",
    "x/y/z/.gitignore": "c\n",
  });
  const jail = fixture.jail("openat");
  const admitted: string[] = [];
  const ignoreFiles = new IgnoreFiles({
    admitFolder(path) {
      admitted.push(path);
      return jail.admitFolder(path);
    },
    deniesBytesIn: (...name) => jail.deniesBytesIn(...name),
  });
  using folder = jail.admitFolder("x/y/z");
  const steps = ignoreFiles.above(folder);
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count++;
  const rules = step.value;
  // A step for each folder, and one for each ignore file.
  expect(count).toBe(4);
  const ignored = ["a", "b", "c"].filter((name) =>
    rules.ignores("x/y/z", { bytes: Buffer.from(name), from: 0, to: name.length }, false),
  );
  expect(ignored).toEqual(["a", "b"]);
  expect(admitted).toEqual(["."]);
});
