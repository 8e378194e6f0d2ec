import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Refusal } from "../../base/errors.ts";
import type { AdmitOptions } from "./folder.ts";
import { backends, countDescriptorsBelow, JailFixture, lead, secret } from "./jail.test-kit.ts";

const sandbox = new JailFixture({
  "a.txt": "a",
  "d/e/f.txt": "f",
  ".env": "password",
  "secrets/key.txt": "password",
  // These links stay inside the base.
  "to-file": { link: "a.txt" },
  "to-folder": { link: "d/e" },
  "to-base": { link: "." },
  "d/e/up": { link: "../../a.txt" },
  absolute: { link: "<base>/d" },
  "d/e/absolute": { link: "<base>/d/e" },
  "absolute-base": { link: "<base>" },
  chain: { link: "chain-2" },
  "chain-2": { link: "to-folder/f.txt" },
  "with-slash": { link: "d/" },
  // These links lead out of it.
  "out-file": { link: "../outside/secret.txt" },
  "out-folder": { link: "../outside" },
  "out-absolute": { link: "<root>/outside/secret.txt" },
  "out-chain": { link: "out-chain-2" },
  "out-chain-2": { link: "out-folder/secret.txt" },
  "leaves-and-returns": { link: "../base/a.txt" },
  "absolute-and-up": { link: "<base>/../outside/secret.txt" },
  beside: { link: "<root>/base-evil" },
  "proc-root": { link: "/proc/self/root/etc/passwd" },
  "proc-cwd": { link: "/proc/self/cwd" },
  dangling: { link: "nothing" },
  "dangling-below-file": { link: "a.txt/x" },
  "dangling-out": { link: "../outside/nothing" },
  "dangling-and-back": { link: "nothing/../a.txt" },
  loop: { link: "loop" },
  "loop-1": { link: "loop-2" },
  "loop-2": { link: "loop-1" },
  "file-with-slash": { link: "a.txt/" },
  // These are links to denied names.
  "to-denied": { link: ".env" },
  "into-denied": { link: "secrets/key.txt" },
  "to-secrets": { link: "secrets" },
  "key.pem": { link: "a.txt" },
  "../base-evil/a.txt": "evil",
});
for (let i = 0; i < 45; i++) {
  sandbox.add({ [`hop-${i}`]: { link: i === 0 ? "a.txt" : `hop-${i - 1}` } });
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
    const before = countDescriptorsBelow(sandbox.root);
    for (const path of ["chain", "out-chain", "loop", "dangling/x", "to-denied", "to-folder/", "to-base"]) {
      for (const lastLink of ["stay", "follow"] as const) lead(jail, path, { lastLink });
      lead(jail, path, { mayBeMissing: true, parents: true });
    }
    expect(countDescriptorsBelow(sandbox.root)).toBe(before);
  });
});
