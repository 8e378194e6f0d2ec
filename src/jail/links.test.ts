import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Refusal } from "../errors.ts";
import type { AdmitOptions } from "./folder.ts";
import { backends, JailFixture, lead, openDescriptors, secret } from "./jail.test-kit.ts";

const sandbox = new JailFixture({
  "base/a.txt": "a",
  "base/d/e/f.txt": "f",
  "base/.env": "password",
  "base/secrets/key.txt": "password",
  // Links that stay inside.
  "base/to-file": { link: "a.txt" },
  "base/to-folder": { link: "d/e" },
  "base/to-base": { link: "." },
  "base/d/e/up": { link: "../../a.txt" },
  "base/absolute": { link: "<root>/base/d" },
  "base/d/e/absolute": { link: "<root>/base/d/e" },
  "base/absolute-base": { link: "<root>/base" },
  "base/chain": { link: "chain-2" },
  "base/chain-2": { link: "to-folder/f.txt" },
  "base/with-slash": { link: "d/" },
  // Links that do not.
  "base/out-file": { link: "../outside/secret.txt" },
  "base/out-folder": { link: "../outside" },
  "base/out-absolute": { link: "<root>/outside/secret.txt" },
  "base/out-chain": { link: "out-chain-2" },
  "base/out-chain-2": { link: "out-folder/secret.txt" },
  "base/leaves-and-returns": { link: "../base/a.txt" },
  "base/absolute-and-up": { link: "<root>/base/../outside/secret.txt" },
  "base/beside": { link: "<root>/base-evil" },
  "base/proc-root": { link: "/proc/self/root/etc/passwd" },
  "base/proc-cwd": { link: "/proc/self/cwd" },
  "base/dangling": { link: "nothing" },
  "base/dangling-below-file": { link: "a.txt/x" },
  "base/dangling-out": { link: "../outside/nothing" },
  "base/dangling-and-back": { link: "nothing/../a.txt" },
  "base/loop": { link: "loop" },
  "base/loop-1": { link: "loop-2" },
  "base/loop-2": { link: "loop-1" },
  "base/file-with-slash": { link: "a.txt/" },
  // Links and denied names.
  "base/to-denied": { link: ".env" },
  "base/into-denied": { link: "secrets/key.txt" },
  "base/to-secrets": { link: "secrets" },
  "base/key.pem": { link: "a.txt" },
  "base-evil/a.txt": "evil",
});
for (let i = 0; i < 45; i++) {
  sandbox.plant({ [`base/hop-${i}`]: { link: i === 0 ? "a.txt" : `hop-${i - 1}` } });
}
afterAll(() => sandbox[Symbol.dispose]());

describe.each(backends)("%s", (backend) => {
  const jail = sandbox.jail(backend, ["**/.env", "**/*.pem", "**/secrets/**"]);

  describe("a link on the way or at the end", () => {
    test.each([
      ["to-file", "at:a.txt"],
      ["to-folder/f.txt", "at:d/e/f.txt"],
      ["to-folder/", "at:d/e"],
      ["to-folder/../e/f.txt", "at:d/e/f.txt"],
      ["to-folder/../../a.txt", "at:a.txt"],
      ["to-base", "at:"],
      ["to-base/to-base/a.txt", "at:a.txt"],
      ["d/e/up", "at:a.txt"],
      ["to-folder/../nothing", "missing"],
      ["absolute/e/f.txt", "at:d/e/f.txt"],
      ["d/e/absolute/f.txt", "at:d/e/f.txt"],
      ["absolute-base/a.txt", "at:a.txt"],
      ["chain", "at:d/e/f.txt"],
      ["with-slash", "at:d"],
      ["hop-39", "at:a.txt"],
      ["to-file/x", "missing"],
      ["to-file/", "missing"],
      ["file-with-slash", "missing"],
      ["to-folder/nothing", "missing"],
      ["out-file", "outside"],
      ["out-folder", "outside"],
      ["out-folder/secret.txt", "outside"],
      ["out-folder/nothing", "outside"],
      ["out-folder/../base/a.txt", "outside"],
      ["out-absolute", "outside"],
      ["out-chain", "outside"],
      ["leaves-and-returns", "outside"],
      ["absolute-and-up", "outside"],
      ["beside/a.txt", "outside"],
      ["proc-root", "outside"],
      ["proc-cwd/a.txt", "outside"],
      ["dangling", "outside"],
      ["dangling/x", "outside"],
      ["dangling/../a.txt", "outside"],
      ["dangling-below-file", "outside"],
      ["dangling-out", "outside"],
      ["dangling-and-back", "outside"],
      ["loop", "outside"],
      ["loop/x", "outside"],
      ["loop-1", "outside"],
      ["hop-40", "outside"],
    ])("%p is %s", (path, expected) => {
      expect(lead(jail, path)).toBe(expected);
    });

    test("whether what is outside exists cannot be told", () => {
      const message = (path: string) => {
        try {
          jail.admit(path);
        } catch (error) {
          return (error as Refusal).message.replace(path, "");
        }
        return expect.unreachable();
      };
      expect(message("out-file")).toBe(message("dangling-out"));
      expect(message("out-folder/secret.txt")).toBe(message("out-folder/nothing"));
    });

    test("the links that lead out do lead out", () => {
      for (const path of [
        "out-file",
        "out-folder/secret.txt",
        "out-absolute",
        "out-chain",
        "absolute-and-up",
      ]) {
        expect(readFileSync(join(sandbox.base, path), "utf8")).toBe(secret);
      }
    });
  });

  describe("what may be missing behind a link", () => {
    const may = { mayBeMissing: true };
    const withParents = { mayBeMissing: true, parents: true };

    test.each<[string, AdmitOptions, string]>([
      ["to-folder/new.txt", may, "new:d/e/new.txt"],
      ["to-folder/../new.txt", may, "new:d/new.txt"],
      ["to-file", may, "at:a.txt"],
      ["dangling", may, "outside"],
      ["dangling/new.txt", withParents, "outside"],
      ["dangling-out", may, "outside"],
      ["out-folder/new.txt", withParents, "outside"],
    ])("%p with %p is %s", (path, options, expected) => {
      expect(lead(jail, path, options)).toBe(expected);
    });
  });

  describe("a link that stays itself", () => {
    test.each([
      ["to-file", "at:to-file"],
      ["to-folder", "at:to-folder"],
      ["to-folder/", "at:to-folder"],
      ["to-folder/.", "at:to-folder"],
      ["to-file/", "missing"],
      ["to-file/.", "missing"],
      ["to-file//", "missing"],
      ["chain/", "missing"],
      ["d/e/up/", "missing"],
      ["out-file/", "outside"],
      ["dangling/", "outside"],
      ["to-denied/", "denied"],
      ["absolute/e/up", "at:d/e/up"],
      ["a.txt", "at:a.txt"],
      ["out-file", "outside"],
      ["dangling", "outside"],
      ["loop", "outside"],
      ["to-denied", "denied"],
      ["into-denied", "denied"],
      ["nothing", "missing"],
    ])("%p is %s", (path, expected) => {
      expect(lead(jail, path, { lastLink: "stay" })).toBe(expected);
    });
  });

  describe("what is denied under its own name is denied through a link, and so is a link with a denied name", () => {
    test.each(["to-denied", "to-denied/", "into-denied", "to-secrets/key.txt", "key.pem"])("%p", (path) => {
      expect(lead(jail, path)).toBe("denied");
    });
  });

  test("no descriptor is left open, whatever the answer", () => {
    const before = openDescriptors(sandbox.root);
    for (const path of ["chain", "out-chain", "loop", "dangling/x", "to-denied", "to-folder/", "to-base"]) {
      for (const lastLink of ["stay", "follow"] as const) lead(jail, path, { lastLink });
      lead(jail, path, { mayBeMissing: true, parents: true });
    }
    expect(openDescriptors(sandbox.root)).toBe(before);
  });
});
