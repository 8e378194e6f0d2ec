/** The errors over several roots, as a model reads them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { connectStdio, type McpFixture, textOf } from "./client.ts";

let connected: McpFixture;

beforeAll(async () => {
  connected = await connectStdio("executable", {
    tree: {
      "docs/src/user.ts": "user\n",
      "app/src/user.ts": "user\n",
      "app/only.ts": "only\n",
      "app/packages/core/index.ts": "user\n",
      "app/to-lib": { link: "../lib/src" },
      "app/out": { link: "../elsewhere" },
      "lib/src/user.ts": "user\n",
    },
    configure: (base) => ({
      base_path: undefined,
      roots: [
        { name: "docs", path: join(base, "docs"), read_only: true },
        { name: "app", path: join(base, "app") },
        { name: "core", path: join(base, "app/packages/core"), read_only: true },
        { name: "lib", path: join(base, "lib") },
      ],
    }),
  });
});

afterAll(() => connected[Symbol.asyncDispose]());

/** Makes a call that must fail, and returns its text. */
const errorOf = async (tool: string, args: Record<string, unknown>): Promise<string> => {
  const result = await connected.call(tool, args);
  expect(result.isError).toBe(true);
  return textOf(result);
};

test("a path that leads through a root into one inside it is answered with the path that serves it", async () => {
  const path = "app/packages/core/index.ts";
  const sentence = `"${path}" leads into another root, "core", and is reached by the name of that alone. Send "core/index.ts".`;
  expect(await errorOf("coder_read_file", { path })).toBe(`C211 denied: ${sentence}`);
  expect(
    await errorOf("coder_update_file", { path, ops: [{ op: "remove", from_line: 1, to_line: 1 }] }),
  ).toContain(sentence);
  expect(await errorOf("coder_list_folder", { path: "app/packages/core/" })).toEndWith('Send "core".');
  expect(await errorOf("coder_read_file", { path: "app/packages/core-x" })).not.toContain("another root");
});

test("a replacement over read-only roots names all of them, and the globs that leave them out", async () => {
  const sent = { query: "user", replacement: "person" };
  expect(await errorOf("coder_replace", sent)).toBe(
    'C222 protected: 2 of the 4 files with matches lie in read-only roots: "core", "docs". Nothing was changed. Send `exclude_globs` with "core/**", "docs/**" to replace in the other 2 files, or a `path` in another root.',
  );
  const planned = { ...sent, exclude_globs: ["core/**", "docs/**"], dry_run: true };
  expect(textOf(await connected.call("coder_replace", planned))).toStartWith("2 matches in 2 files would");
  expect(await errorOf("coder_replace", { ...sent, path: "docs" })).toEndWith(
    "Copy the files into a root that can be written to, or ask the user.",
  );
});

test("a path outside of all roots and a root itself are refused as what they are", async () => {
  const advice = 'Nothing was changed. Choose a path in "app/" or "lib/".';
  expect(await errorOf("coder_create_file", { path: "new/x.txt", content: "" })).toBe(
    `C222 protected: "new/x.txt" is in no root: the top folder holds only the roots and cannot be changed. ${advice}`,
  );
  expect(await errorOf("coder_delete_file", { paths: ["lib"], recursive: true })).toContain(
    `"lib" is a root: an entry of the top folder, which cannot be changed. ${advice}`,
  );
});

test("a path without a root is answered with those in all roots that have it, the writable ones first", async () => {
  const absent = (path: string) =>
    `C211 no_such_path: "${path}" is not found, or the configuration denies it.`;
  expect(await errorOf("coder_read_file", { path: "src/user.ts" })).toBe(
    `${absent("src/user.ts")} It exists in 3 roots: app/src/user.ts, lib/src/user.ts, docs/src/user.ts (read-only). Send the one that you mean.`,
  );
  expect(await errorOf("coder_list_folder", { path: "src" })).toContain(
    "It exists in 3 roots: app/src, lib/src,",
  );
  expect(await errorOf("coder_read_file", { path: "only.ts" })).toBe(
    `${absent("only.ts")} Did you mean app/only.ts?`,
  );
});

test("a link into another root is answered with the path there, and one that leads outside is not", async () => {
  const sentence = "leads through a symbolic link into another root, and no call goes through such a link.";
  expect(await errorOf("coder_read_file", { path: "app/to-lib/user.ts" })).toBe(
    `C215 outside: "app/to-lib/user.ts" ${sentence} Send "lib/src/user.ts".`,
  );
  expect(await errorOf("coder_list_folder", { path: "app/to-lib" })).toEndWith(`${sentence} Send "lib/src".`);
  expect(await errorOf("coder_read_file", { path: "app/to-lib/none.ts" })).not.toContain("another root");
  expect(await errorOf("coder_read_file", { path: "app/out" })).toContain("leads outside, dangles or loops");
});

test("a whole root is copied by a call of its own, in a dry run, and in a transaction that changes the copy", async () => {
  const ok = async (tool: string, args: Record<string, unknown>): Promise<string> => {
    const result = await connected.call(tool, args);
    expect([textOf(result), result.isError ?? false]).toEqual([expect.any(String), false]);
    return textOf(result);
  };
  const read = (path: string) => ok("coder_read_file", { path });
  for (const from of ["lib", "docs"]) {
    const files = (to: string) => ({ files: [{ from, to }] });
    expect(await ok("coder_copy", { ...files(`app/${from}-1`), dry_run: true })).toStartWith(
      `${from}: copied to app/${from}-1`,
    );
    expect(await ok("coder_copy", files(`app/${from}-1`))).toStartWith(`${from}: copied to app/${from}-1`);
    const changes = [
      { op: "copy", from, to: `app/${from}-2` },
      { op: "create", path: `app/${from}-2/new.ts`, content: "new\n" },
    ];
    await ok("coder_transact", { changes });
    expect(await read(`app/${from}-1/src/user.ts`)).toBe(await read(`app/${from}-2/src/user.ts`));
    expect(await read(`app/${from}-2/new.ts`)).toContain("new");
  }
});
