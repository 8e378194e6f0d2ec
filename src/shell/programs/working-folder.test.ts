import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, programFolders } from "./program.ts";
import { createPrograms } from "./programs.ts";
import { holdFolder } from "./working-folder.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));

const pwd = findProgram("pwd", programFolders) ?? "/bin/pwd";

/** Returns the working folder of a program. */
async function whereabouts(folder: string): Promise<string> {
  const spawnOptions = { environment: {}, folder, maxOutputBytes: 4096 };
  const { stdout } = await createPrograms(1).run({ file: pwd, argv: ["pwd"] }, spawnOptions, {
    timeoutMs: 60_000,
  });
  return stdout.trimEnd();
}

function make(name: string): string {
  mkdirSync(join(root, name));
  return join(root, name);
}

describe("a working folder", () => {
  test("that was replaced by a link is still the same folder", async () => {
    const path = make("replaced");
    const held = holdFolder(path);
    expect(await whereabouts(held.path())).toBe(path);
    renameSync(path, `${path}.moved`);
    symlinkSync("/etc", path);
    expect(await whereabouts(path)).toBe("/etc");
    expect(await whereabouts(held.path())).toBe(`${path}.moved`);
    held.close();
  });

  test("that is not there is missing until it comes, and then held", async () => {
    const path = join(root, "late");
    const held = holdFolder(path);
    expect(() => held.path()).toThrow("missing");
    make("late");
    expect(await whereabouts(held.path())).toBe(path);
    held.close();
  });
});
