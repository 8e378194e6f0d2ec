/** Deny globs hold on a file system that takes many spellings for one name, wherever it is mounted. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { codesOf, type Driven, onDriven, outcomeFaults } from "../faults/driven.ts";
import { isRoot, reasonAgainstMounts, testUnless } from "../faults/machine.ts";

const program = join(import.meta.dirname, "folding/file-system.ts");

/** Why no file system of ours can be mounted here; undefined when one can. */
const reasonAgainstFuse = !isRoot
  ? "only root may mount a fuse file system"
  : (reasonAgainstMounts ??
    (existsSync("/dev/fuse") && spawnSync("sh", ["-c", ": <> /dev/fuse"]).status === 0
      ? undefined
      : "there is no /dev/fuse"));

/** Mounts it in the driver's own namespace, and has it end with the driver, which holds its input open. */
const mountAt = (folder: string) => `
  mkfifo "$BASE/../alive" "$BASE/../ready"
  "${process.execPath}" "${program}" "${folder}" < "$BASE/../alive" > "$BASE/../ready" &
  exec 9> "$BASE/../alive"
  read -r line < "$BASE/../ready"`;

const spellings = [
  ".env",
  ".ENV",
  ".Env",
  ".e\u00adnv",
  ".env\u200b",
  ".env\ufe0f",
  ".env ",
  ".env.",
  "ENV~1",
  "env~1",
  "id.PEM",
  "ID~1.PEM",
  "secrets/key.txt",
  "SECRETS/key.txt",
  "SECRET~1/KEY~1.TXT",
  "secrets. /key.txt",
];

const ops = [{ op: "insert", at_line: 1, content: "x" }];
const reading = (path: string) => ["coder::read-file", { path }] as const;
const writing = (path: string) =>
  [
    ["coder::update-file", { files: [{ path, ops }] }],
    ["coder::create-file", { files: [{ path, content: "x", overwrite: true }] }],
    ["coder::delete-file", { paths: [path] }],
  ] as const;

async function expectKept({ call, root }: Driven, prefix: string): Promise<void> {
  for (const spelling of spellings) {
    const path = prefix + spelling;
    for (const [functionId, payload] of [reading(path), ...writing(path)]) {
      const outcome = await call(functionId, payload);
      expect({ functionId, path, codes: codesOf(outcome) }).toEqual({ functionId, path, codes: ["C211"] });
      expect(JSON.stringify(outcome)).not.toContain("hunter2");
      expect(outcomeFaults(outcome, { functionId, payload, root })).toEqual([]);
    }
  }
}

/** What is not denied is found under each of its names, and what is not there is missing. */
async function expectServed({ call }: Driven, prefix: string): Promise<void> {
  for (const path of ["Straße.txt", "STRASSE.TXT", "strass~1.txt"])
    expect((await call(...reading(prefix + path))).answer).toMatchObject({ content: "plain\n" });
  expect(codesOf(await call(...reading(`${prefix}missing.txt`)))).toEqual(["C211"]);
  const { answer } = await call("coder::search", { query: "hunter2|plain", regex: true });
  expect(answer).toMatchObject({ content_matches: [{ path: `${prefix}Straße.txt` }] });
  expect(JSON.stringify(answer)).not.toContain("hunter2");
}

/** A folder that holds something denied is not removed, nor is a name in it that is not listed. */
async function expectNothingRemoved({ call, root }: Driven, prefix: string): Promise<void> {
  for (const path of ["secrets", "SECRETS", "SECRET~1"].map((name) => prefix + name)) {
    const payload = { paths: [path], recursive: true };
    const outcome = await call("coder::delete-file", payload);
    expect([path, codesOf(outcome)]).toEqual([path, ["C211"]]);
    expect(outcomeFaults(outcome, { functionId: "coder::delete-file", payload, root })).toEqual([]);
  }
}

interface Entry {
  readonly name: string;
  readonly non_accessible: boolean;
}

const flagsOf = (entries: readonly Entry[]) =>
  entries.map(({ name, non_accessible }) => [name, non_accessible]);

async function expectFlagged({ call }: Driven, folder: string): Promise<void> {
  const { answer } = await call("coder::list-folder", { path: folder });
  const { entries } = answer as { entries: Entry[] };
  expect(flagsOf(entries)).toEqual([
    [".env", true],
    ["Straße.txt", false],
    ["id.pem", true],
    ["secrets", false],
  ]);
  const inside = await call("coder::tree", { path: `${folder}/SECRET~1` });
  const { root } = inside.answer as { root: { children: Entry[] } };
  expect(flagsOf(root.children)).toEqual([["key.txt", true]]);
}

const config = { non_accessible_globs: ["**/.env", "**/*.pem", "**/secrets/**"] };

const tree = { ".ENV": "hunter2\n", "a/ID.PEM": "hunter2\n" };

test("on a file system that tells names apart, only a glob's own spelling is denied, unless all shall be", async () => {
  await onDriven({ config, tree }, async ({ call }) => {
    expect((await call(...reading(".ENV"))).answer).toMatchObject({ content: "hunter2\n" });
  });
  await onDriven({ config: { ...config, fold_deny: "always" }, tree }, async ({ call }) => {
    for (const path of [".ENV", "a/ID.PEM"])
      expect([path, codesOf(await call(...reading(path)))]).toEqual([path, ["C211"]]);
    const { answer } = await call("coder::search", { query: "hunter2" });
    expect(answer).toMatchObject({ content_matches: [] });
  });
});

describe.each(["openat", "descriptors", "current-directory"])("%s", (backend) => {
  const env = { CODER_JAIL: backend };

  testUnless(reasonAgainstFuse, "mounted below the base", () =>
    onDriven(
      { config, env, ownMounts: true, tree: { "usb/": null }, before: mountAt("$BASE/usb") },
      async (driven) => {
        await expectKept(driven, "usb/");
        await expectServed(driven, "usb/");
        await expectFlagged(driven, "usb");
        await expectNothingRemoved(driven, "usb/");
      },
    ),
  );

  testUnless(reasonAgainstFuse, "mounted as the base", () =>
    onDriven({ config, env, ownMounts: true, before: mountAt("$BASE") }, async (driven) => {
      await expectKept(driven, "");
      await expectServed(driven, "");
      await expectFlagged(driven, ".");
      await expectNothingRemoved(driven, "");
    }),
  );
});
