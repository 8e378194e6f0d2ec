import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compileGlobSet } from "../globs/glob-set.ts";
import { deniedFinder } from "./denied-paths.ts";
import { openJail, openRootsJail } from "./jail.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));

function write(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "");
  }
}

const deny = compileGlobSet(["**/.env", "**/*.pem", "**/secrets/**", "vault"]);
const found = (find: () => string[]) =>
  find()
    .map((path) => path.slice(root.length + 1))
    .sort();

describe("what is denied", () => {
  test("is found at any depth, as files, without following links", () => {
    write("one/.env", "one/a/b/key.pem", "one/secrets/x", "one/secrets/deep/y", "one/vault/z/q", "one/a/ok");
    symlinkSync("../vault", join(root, "one/a/link"));
    symlinkSync("none", join(root, "one/a/b/.env"));
    const find = deniedFinder(openJail({ basePath: join(root, "one"), deny }));
    const all = [
      "one/.env",
      "one/a/b/.env",
      "one/a/b/key.pem",
      "one/secrets/deep/y",
      "one/secrets/x",
      "one/vault/z/q",
    ];
    expect(found(find)).toEqual(all);
    write("one/a/b/c/new.pem");
    rmSync(join(root, "one/.env"));
    expect(found(find)).toEqual([...all.slice(1, 3).toSpliced(1, 0, "one/a/b/c/new.pem"), ...all.slice(3)]);
    rmSync(join(root, "one/a"), { recursive: true });
    expect(found(find)).toEqual(all.slice(3));
  });

  test("is a folder as a whole where it holds many files", () => {
    write(...Array.from({ length: 300 }, (_, index) => `many/vault/${index}`));
    expect(found(deniedFinder(openJail({ basePath: join(root, "many"), deny })))).toEqual(["many/vault"]);
  });

  test("is found in every root, by the globs of each", () => {
    write("left/.env", "left/a.txt", "right/a.txt", "right/b.txt");
    const jail = openRootsJail({
      deny,
      roots: [
        { name: "l", path: join(root, "left"), isReadOnly: false, deny: compileGlobSet([]) },
        { name: "r", path: join(root, "right"), isReadOnly: true, deny: compileGlobSet(["a.txt"]) },
      ],
    });
    expect(found(deniedFinder(jail))).toEqual(["left/.env", "right/a.txt"]);
  });
});
