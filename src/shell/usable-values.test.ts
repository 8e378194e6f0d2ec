import { describe, expect, test } from "bun:test";
import { defaultShellConfig, type ShellConfig } from "./config.ts";
import { requireUsableValues } from "./usable-values.ts";

const byDefault = defaultShellConfig();

const wrong: readonly (readonly [Partial<ShellConfig>, string])[] = [
  [{ denylist_patterns: ["("] }, 'denylist_patterns holds "(": unclosed group'],
  [{ snapshot: ["["] }, 'snapshot holds a bad glob: The glob "["'],
  [{ writable_folders: ["rel"] }, 'writable_folders holds "rel"; write the absolute path'],
  [{ writable_folders: ["/missing/folder"] }, 'writable_folders holds "/missing/folder"; write'],
  [{ program_folders: ["bin"] }, 'program_folders holds "bin"; write an absolute path'],
  [{ allowed_env: ["A=1"] }, 'allowed_env holds "A=1", which names no variable'],
  [{ allowed_env: ["A B"] }, 'allowed_env holds "A B", which names no variable'],
  [{ limits: { ...byDefault.limits, open_files: 1 } }, "limits.open_files is 1, and no command starts"],
];

describe("a value that no command can run with is refused with its file and key", () => {
  test.each(wrong)("%j", async (keys, sentence) => {
    const config = { ...byDefault, ...keys };
    await expect(requireUsableValues(config, { source: "/c.yaml" })).rejects.toThrow(`/c.yaml: ${sentence}`);
    await expect(requireUsableValues(config, { source: "/c.yaml", below: "commands" })).rejects.toThrow(
      `/c.yaml: commands.${sentence}`,
    );
  });
});

test("the defaults are usable, and so is no limit", async () => {
  await requireUsableValues(byDefault, { source: "defaults" });
  const limits = { ...byDefault.limits, open_files: 0 };
  await expect(requireUsableValues({ ...byDefault, limits }, { source: "c" })).resolves.toBeUndefined();
});

test("a worker that serves leaves a pattern that takes long to compile to its next start", async () => {
  const check = (pattern: string, isReload: boolean) =>
    requireUsableValues({ ...byDefault, denylist_patterns: [pattern] }, { source: "c", isReload });
  for (const pattern of ["(\\w{99}){99}", `${"a".repeat(5000)}(`]) {
    await expect(check(pattern, false)).rejects.toThrow("denylist_patterns");
    await expect(check(pattern, true)).resolves.toBeUndefined();
  }
  await expect(check("(", true)).rejects.toThrow("unclosed group");
});
