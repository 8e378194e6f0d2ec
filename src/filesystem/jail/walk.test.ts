import { afterAll, describe, expect, test } from "bun:test";
import { closeSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import type { AdmitOptions } from "./folder.ts";
import { backends, countDescriptorsBelow, JailFixture, lead } from "./jail.test-kit.ts";
import { openJail } from "./jail.ts";

const deep = `${"n/".repeat(255)}f`;

const sandbox = new JailFixture({
  [deep]: "f",
  "to-deep": { link: deep },
  "a.txt": "a",
  "d/e/f.txt": "f",
  ".env": "password",
  "secrets/key.txt": "password",
});
afterAll(() => sandbox[Symbol.dispose]());

describe.each(backends)("%s", (backend) => {
  const jail = sandbox.jail(backend, ["**/.env", "**/.env.*", "**/*.pem", "**/secrets/**"]);

  describe("names", () => {
    test.each([
      [".", "at:"],
      ["./", "at:"],
      ["a.txt", "at:a.txt"],
      ["d", "at:d"],
      ["d/", "at:d"],
      ["d/.", "at:d"],
      ["./d//e/./f.txt", "at:d/e/f.txt"],
      ["d/..", "at:"],
      ["d/../a.txt", "at:a.txt"],
      ["d/e/../../a.txt", "at:a.txt"],
      ["a.txt/", "missing"],
      ["a.txt/.", "missing"],
      ["a.txt/x", "missing"],
      ["a.txt/../d", "missing"],
      ["nothing", "missing"],
      ["nothing/x", "missing"],
      ["d/nothing/x", "missing"],
      ["..", "outside"],
      ["../base/a.txt", "outside"],
      ["d/../../base/a.txt", "outside"],
      ["d/../..", "outside"],
      ["A.TXT", "missing"],
      ["", "bad-input"],
      ["/etc/passwd", "bad-input"],
    ])("%p is %s", (path, expected) => {
      expect(lead(jail, path)).toBe(expected);
    });

    test("a folder that does not exist is stepped back from by its text", () => {
      expect(lead(jail, "nothing/../a.txt")).toBe("at:a.txt");
      expect(lead(jail, "d/no/x/../../e/f.txt")).toBe("at:d/e/f.txt");
      expect(lead(jail, "nothing/../../a.txt")).toBe("outside");
      expect(lead(jail, "no/../nor/../nothing")).toBe("missing");
    });

    test("only so many steps back are walked", () => {
      expect(lead(jail, `${"d/../".repeat(64)}a.txt`)).toBe("at:a.txt");
      expect(lead(jail, `${"d/../".repeat(65)}a.txt`)).toBe("bad-input");
      expect(lead(jail, `${"no/../".repeat(65)}a.txt`)).toBe("bad-input");
    });

    test("steps back from a deep folder resolve the names before them only once", () => {
      const globs = compileGlobSet(["**/.env"]);
      let resolved = 0;
      const matchesIn = (folder: string, name: string) => {
        resolved++;
        return globs.matchesIn(folder, name);
      };
      const counted = openJail({ basePath: sandbox.base, deny: { ...globs, matchesIn }, backend });
      const folder = "n/".repeat(255);
      for (const [steps, expected] of [
        ["no/../".repeat(64), `at:${deep}`],
        ["../n/".repeat(64), `at:${deep}`],
        ["../".repeat(64), `at:${"n/".repeat(190)}n`],
      ] as const) {
        resolved = 0;
        expect(lead(counted, `${folder}${steps}${expected.endsWith("f") ? "f" : ""}`)).toBe(expected);
        expect(resolved).toBeLessThan(3 * 256);
      }
      counted.close();
    });

    test("at most 128 folders are new, and a path of any number of names is walked", () => {
      const creation = { mayBeMissing: true, parents: true } as const;
      expect(lead(jail, `${"x/".repeat(2000)}a`)).toBe("missing");
      expect(lead(jail, `${"no/".repeat(128)}a`, creation)).toStartWith("new:");
      expect(lead(jail, `${"no/".repeat(129)}a`, creation)).toBe("bad-input");
      expect(lead(jail, `${"no/".repeat(129)}a`, { ...creation, isRecorded: true })).toStartWith("new:");
      for (const path of ["to-deep", deep]) expect(lead(jail, path)).toBe(`at:${deep}`);
      expect(lead(jail, `${"n/".repeat(255)}new/${"no/".repeat(127)}a`, creation)).toStartWith("new:");
    });
  });

  describe("denied names", () => {
    test.each([
      ".env",
      "d/.env",
      "nothing/.env",
      ".env/x",
      ".env/../a.txt",
      ".env.local",
      "secrets/key.txt",
      "secrets/nothing",
      "new.pem/x",
      "d/../.env",
      ".coder-tmp-1",
      "d/.coder-tmp-1/x",
    ])("%p", (path) => {
      expect(lead(jail, path)).toBe("denied");
      expect(lead(jail, path, { mayBeMissing: true, parents: true })).toBe("denied");
    });

    test("the folder of a denied one is not denied", () => {
      expect(lead(jail, "secrets")).toBe("at:secrets");
    });
  });

  describe("what may be missing", () => {
    const may = { mayBeMissing: true };
    const withParents = { mayBeMissing: true, parents: true };

    test.each<[string, AdmitOptions, string]>([
      ["new.txt", may, "new:new.txt"],
      ["d/new.txt", may, "new:d/new.txt"],
      ["a.txt", may, "at:a.txt"],
      ["no/new.txt", may, "missing"],
      ["no/new.txt", withParents, "new:no/new.txt"],
      ["d/no/nor/new.txt", withParents, "new:d/no/nor/new.txt"],
      ["no/../new.txt", may, "new:new.txt"],
      ["a.txt/new.txt", withParents, "missing"],
      ["../new.txt", withParents, "outside"],
      ["no/../../new.txt", withParents, "outside"],
      ["new/", may, "bad-input"],
      ["a\\b", may, "bad-input"],
      ["no\n/x", withParents, "bad-input"],
      ["C:\\x", may, "bad-input"],
      ["c:/x", withParents, "bad-input"],
    ])("%p with %p is %s", (path, options, expected) => {
      expect(lead(jail, path, options)).toBe(expected);
    });

    test("folders to make are named and not made", () => {
      using place = jail.admit("d/no/nor/new.txt", withParents);
      expect(place.folder.path).toBe("d");
      expect(place.newFolders).toEqual(["no", "nor"]);
      expect(place.names).toEqual(["d", "no", "nor", "new.txt"]);
    });
  });

  test("a place can be read through its descriptor", () => {
    using place = jail.admit("./d/e/f.txt");
    const descriptor = place.open();
    expect(readFileSync(descriptor, "utf8")).toBe("f");
    closeSync(descriptor);
    expect(place.requested).toBe("./d/e/f.txt");
    expect(place.name).toBe("f.txt");
    expect(place.folder.names).toEqual(["d", "e"]);
  });

  test("what was checked is what is opened", async () => {
    using place = jail.admit("d/e/f.txt");
    await Promise.resolve();
    renameSync(join(sandbox.base, "d/e"), join(sandbox.base, "d/moved"));
    mkdirSync(join(sandbox.base, "d/e"));
    writeFileSync(join(sandbox.base, "d/e/f.txt"), "decoy");
    try {
      const descriptor = place.open();
      expect(readFileSync(descriptor, "utf8")).toBe("f");
      closeSync(descriptor);
    } catch (error) {
      // If nothing is held, the change is noticed instead.
      expect(backend).toBe("current-directory");
      expect((error as NodeJS.ErrnoException).code).toBe("ENOENT");
    } finally {
      rmSync(join(sandbox.base, "d/e"), { recursive: true });
      renameSync(join(sandbox.base, "d/moved"), join(sandbox.base, "d/e"));
    }
  });

  test("no descriptor is left open, whatever the answer", () => {
    const before = countDescriptorsBelow(sandbox.root);
    for (const path of [
      "chain",
      "out-chain",
      "loop",
      "dangling/x",
      "d/../..",
      ".env",
      "nothing/x",
      "a.txt/x",
      "d/",
      ".",
    ]) {
      lead(jail, path);
      lead(jail, path, { mayBeMissing: true, parents: true });
    }
    expect(countDescriptorsBelow(sandbox.root)).toBe(before);
  });

  test("the process does not stay in the tree", async () => {
    lead(jail, "d/e/f.txt");
    await Promise.resolve();
    expect(process.cwd()).not.toStartWith(sandbox.root);
  });
});
