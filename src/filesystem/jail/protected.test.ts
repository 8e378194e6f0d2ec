import { expect, test } from "bun:test";
import { lstatSync } from "node:fs";
import { JailFixture } from "./jail.test-kit.ts";
import { protectFiles } from "./protected.ts";

const exact = (path: string) => path;
const caseInsensitive = (path: string) => path.toLowerCase();
const nothing = { newFolders: [], stats: undefined };

test("a name that is not there yet is meant in every spelling that the file system takes for it", () => {
  using sandbox = new JailFixture();
  const { covers } = protectFiles(sandbox.base, [`${sandbox.base}/sub/config.yaml`]);
  const sent = { ...nothing, path: "SUB/Config.yaml" };
  expect(covers(sent, "entry", caseInsensitive)).toBe(true);
  expect(covers(sent, "entry", exact)).toBe(false);
  expect(covers({ ...nothing, path: "SUB" }, "tree", caseInsensitive)).toBe(true);
  expect(covers({ ...nothing, path: "SUB" }, "entry", caseInsensitive)).toBe(false);
  expect(covers({ ...nothing, path: "su" }, "tree", caseInsensitive)).toBe(false);
});

test("a folder that would be made with a protected name is meant, one that is there is not", () => {
  using sandbox = new JailFixture();
  const { covers } = protectFiles(sandbox.base, [`${sandbox.base}/config.yaml`]);
  const path = "config.yaml/below/file";
  expect(covers({ ...nothing, path, newFolders: ["config.yaml", "below"] }, "entry", exact)).toBe(true);
  expect(covers({ ...nothing, path, newFolders: ["below"] }, "entry", exact)).toBe(false);
});

test("every link on the way is meant, and what they lead to, also from outside", () => {
  using sandbox = new JailFixture({
    "real/deep/own.yaml": "",
    first: { link: "second/../second" },
    second: { link: "<base>/real" },
    "../outside/config.yaml": { link: "../base/first/deep/own.yaml" },
    loop: { link: "loop" },
  });
  const files = [sandbox.at("../outside/config.yaml"), sandbox.at("loop/x"), "/"];
  const { covers } = protectFiles(sandbox.base, files);
  const covered = ["first", "second", "real/deep/own.yaml", "real", "real/deep", "loop"].filter((path) =>
    covers({ ...nothing, path }, "entry", exact),
  );
  expect(covered).toEqual(["first", "second", "real/deep/own.yaml", "loop"]);
  expect(["real", "real/deep"].every((path) => covers({ ...nothing, path }, "tree", exact))).toBe(true);
});

test("a file or folder is known by its number, whatever its name says", () => {
  using sandbox = new JailFixture({ "sub/own.yaml": "", other: { hardlink: "sub/own.yaml" } });
  const { covers, is } = protectFiles(sandbox.base, [sandbox.at("sub/own.yaml")]);
  const stats = (path: string) => lstatSync(sandbox.at(path));
  expect(is(stats("other"))).toBe(true);
  expect(is(stats("../outside/secret.txt"))).toBe(false);
  // A file system with unknown folding may spell them like this.
  expect(covers({ path: "SUB~1", newFolders: [], stats: stats("sub") }, "tree", exact)).toBe(true);
  expect(covers({ path: "SUB~1", newFolders: [], stats: stats("sub") }, "entry", exact)).toBe(false);
});
