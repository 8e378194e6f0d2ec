import { describe, expect, test } from "bun:test";
import { closeSync, readFileSync, renameSync, rmSync } from "node:fs";
import { Refusal } from "../../base/errors.ts";
import type { Jail } from "./folder.ts";
import { backends, countDescriptorsBelow, JailFixture } from "./jail.test-kit.ts";

const tree = {
  "a.txt": "a",
  "c/b/f.txt": "f",
  "c/secrets/key": "password",
  ".env": "password",
  a: { link: "c" },
  "to-file": { link: "c/b/f.txt" },
  "to-denied": { link: ".env" },
  "c/out": { link: "../../outside" },
  "c/out-file": { link: "../../outside/secret.txt" },
  dangling: { link: "nothing" },
} as const;

/**
 * Returns the content at `path`, or the reason for its refusal; by `resolveForRead`, and by `admit`, which
 * holds the folder.
 */
function outcomes(jail: Jail, path: string): string[] {
  return [() => jail.resolveForRead(path), () => jail.admit(path)].map((enter) => {
    try {
      using seen = enter();
      if (!seen.stats!.isFile()) return seen.stats!.isDirectory() ? "a folder" : "neither";
      const descriptor = seen.open();
      const text = readFileSync(descriptor, "utf8");
      closeSync(descriptor);
      return `${seen.requested} ${seen.stats!.size} ${text}`;
    } catch (error) {
      if (error instanceof Refusal) return `${error.reason}: ${error.message}`;
      throw error;
    }
  });
}

describe.each(backends)("%s", (backend) => {
  test("what is seen is what would be admitted", () => {
    using sandbox = new JailFixture(tree);
    const jail = sandbox.jail(backend, ["**/.env", "**/secrets/**", "a/b/**"]);
    const before = countDescriptorsBelow(sandbox.root);
    const paths = [
      ...[
        ".",
        "a.txt",
        "a.txt/",
        "a.txt/x",
        "c",
        "c/",
        "c/b",
        "c/b/f.txt",
        "./c//b/f.txt",
        "c/b/../../a.txt",
      ],
      ...[
        "a",
        "a/b/f.txt",
        "to-file",
        "to-file/",
        "nothing",
        "nothing/x",
        "c/nothing",
        "dangling",
        "",
        "/etc/passwd",
      ],
      ...[
        ".env",
        "to-denied",
        "c/secrets/key",
        "c/secrets",
        "a/secrets/key",
        "c/out/secret.txt",
        "c/out-file",
        "..",
      ],
    ];
    for (const path of paths) {
      const [seen, admitted] = outcomes(jail, path);
      expect([path, seen]).toEqual([path, admitted]);
    }
    expect(countDescriptorsBelow(sandbox.root)).toBe(before);
    expect(outcomes(jail, "a/b/f.txt")[0]).toBe("a/b/f.txt 1 f");
    expect(outcomes(jail, "c/secrets/key")[0]).toStartWith("denied");
  });

  test("a file that was seen is opened and no other, whatever has its name now", () => {
    using sandbox = new JailFixture(tree);
    const jail = sandbox.jail(backend, []);
    using seen = jail.resolveForRead("c/b/f.txt");
    renameSync(sandbox.at("c/b/f.txt"), sandbox.at("c/b/moved.txt"));
    sandbox.add({ "c/b/f.txt": { link: "../../../outside/secret.txt" } });
    const read = () => {
      const descriptor = seen.open();
      const text = readFileSync(descriptor, "utf8");
      closeSync(descriptor);
      return text;
    };
    if (backend === "current-directory") expect(read).toThrow("ELOOP");
    else expect(read()).toBe("f");
    rmSync(sandbox.at("c/b/f.txt"));
  });
});
