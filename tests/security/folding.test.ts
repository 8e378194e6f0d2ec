/** Deny globs hold on a file system that takes many spellings for one name, wherever it is mounted. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { codesOf, type DriverFixture, outcomeFaults, withDriver } from "../faults/driver-fixture.ts";
import { isRoot, reasonAgainstMounts, testUnless } from "../faults/machine.ts";

const program = join(import.meta.dirname, "folding/file-system.ts");

/** The reason why the file system cannot be mounted here; `undefined` if it can. */
const reasonAgainstFuse = !isRoot
  ? "only root may mount a fuse file system"
  : (reasonAgainstMounts ??
    (existsSync("/dev/fuse") && spawnSync("sh", ["-c", ": <> /dev/fuse"]).status === 0
      ? undefined
      : "there is no /dev/fuse"));

/**
 * Returns a script that mounts the file system in the driver's namespace. Its program ends with the driver,
 * which holds its input open.
 */
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

async function expectKept({ call, root }: DriverFixture, prefix: string): Promise<void> {
  for (const name of spellings) {
    const path = prefix + name;
    for (const [functionId, payload] of [reading(path), ...writing(path)]) {
      const outcome = await call(functionId, payload);
      expect({ functionId, path, codes: codesOf(outcome) }).toEqual({ functionId, path, codes: ["C211"] });
      expect(JSON.stringify(outcome)).not.toContain("hunter2");
      expect(outcomeFaults(outcome, { functionId, payload, root })).toEqual([]);
    }
  }
}

/**
 * Expects a file that is not denied to be found under each of its names, and a missing file not to be found.
 */
async function expectServed({ call }: DriverFixture, prefix: string): Promise<void> {
  for (const path of ["Straße.txt", "STRASSE.TXT", "strass~1.txt"])
    expect((await call(...reading(prefix + path))).answer).toMatchObject({ content: "plain\n" });
  expect(codesOf(await call(...reading(`${prefix}missing.txt`)))).toEqual(["C211"]);
  const { answer } = await call("coder::search", { query: "hunter2|plain", regex: true });
  expect(answer).toMatchObject({ content_matches: [{ path: `${prefix}Straße.txt` }] });
  expect(JSON.stringify(answer)).not.toContain("hunter2");
}

/** Expects a folder that holds a denied file to stay, under each of its names. */
async function expectNothingRemoved({ call, root }: DriverFixture, prefix: string): Promise<void> {
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

async function expectFlagged({ call }: DriverFixture, folder: string): Promise<void> {
  const { answer } = await call("coder::list-folder", { path: folder });
  const { entries } = answer as { entries: Entry[] };
  expect(flagsOf(entries)).toEqual([
    [".env", true],
    ["Straße.txt", false],
    ["id.pem", true],
    ["secrets", false],
    ["sub", false],
  ]);
  const inside = await call("coder::tree", { path: `${folder}/SECRET~1` });
  const { root } = inside.answer as { root: { children: Entry[] } };
  expect(flagsOf(root.children)).toEqual([["key.txt", true]]);
}

/** Returns the names in a folder that are not denied. */
async function namesIn({ call }: DriverFixture, folder: string): Promise<string[]> {
  const { answer } = await call("coder::list-folder", { path: folder });
  const { entries } = answer as { entries: Entry[] };
  return entries.filter(({ non_accessible }) => !non_accessible).map(({ name }) => name);
}

/** Expects moves to change the spelling of a name and nothing else. */
async function expectRespelled(driven: DriverFixture, prefix: string): Promise<void> {
  const { call } = driven;
  const folder = prefix === "" ? "." : prefix;
  const move = async (from: string, to: string, fields = {}) => {
    const files = [{ from: prefix + from, to: prefix + to }];
    const { answer } = await call("coder::move", { files, ...fields });
    const [result] = (answer as { results: { moved: boolean; error?: { code: string } }[] }).results;
    return result!.error?.code ?? result!.moved;
  };
  expect(await move("Straße.txt", "STRASSE.txt", { dry_run: true })).toBe(true);
  expect(await namesIn(driven, folder)).toEqual(["Straße.txt", "secrets", "sub"]);
  expect(await move("Straße.txt", "STRASSE.txt")).toBe(true);
  expect(await move("strasse.TXT", "STRASSE.txt")).toBe(false);
  expect(await move("STRASS~1.TXT", "STRASSE.txt")).toBe(false);
  expect(await move("sub", "Sub/")).toBe(true);
  expect(await move("Sub/NOTE.md", "SUB/Note.MD")).toBe(true);
  expect(await namesIn(driven, folder)).toEqual(["STRASSE.txt", "Sub", "secrets"]);
  expect(await namesIn(driven, `${prefix}Sub`)).toEqual(["Note.MD"]);
  expect((await call(...reading(`${prefix}strasse.txt`))).answer).toMatchObject({ content: "plain\n" });
  expect(await move("STRASSE.txt", "sub")).toBe("C217");
  expect(await move("STRASSE.txt", "stra\\sse.txt")).toBe("C210");
  for (const denied of [".ENV", "ID~1.PEM", "SECRETS/key.txt"]) {
    expect(await move(denied, "free.txt")).toBe("C211");
    expect(await move("STRASSE.txt", denied, {})).toBe("C211");
  }
  expect(await move("secrets", "Secrets")).toBe("C211");
  const { answer } = await call("coder::copy", {
    files: [{ from: `${prefix}strasse.txt`, to: `${prefix}STRASSE.TXT` }],
  });
  expect(answer).toMatchObject({ results: [{ success: true, copied: false }] });
}

/** Expects a change of spelling to be undone and redone, by itself and in a transaction. */
async function expectUndone(driven: DriverFixture, prefix: string): Promise<void> {
  const { call } = driven;
  const folder = prefix === "" ? "." : prefix;
  const before = ["Straße.txt", "secrets", "sub"];
  const moves = (moved: readonly (readonly [string, string])[]) =>
    moved.map(([from, to]) => ({ from: prefix + from, to: prefix + to }));
  const made = async (functionId: string, payload: object, after: readonly string[]) => {
    const outcome = await call(functionId, payload);
    expect([outcome.error, codesOf(outcome).filter((code) => code !== "")]).toEqual([undefined, []]);
    expect(await namesIn(driven, folder)).toEqual([...after]);
    for (const names of [before, after, before]) {
      const { answer } = await call("coder::undo", {});
      expect(answer).toMatchObject({ conflicts: [], undone: [{ skipped: [] }] });
      expect(await namesIn(driven, folder)).toEqual([...names]);
    }
  };
  const both = moves([
    ["Straße.txt", "STRASSE.txt"],
    ["sub", "Sub"],
  ]);
  const after = ["STRASSE.txt", "Sub", "secrets"];
  await made("coder::move", { files: both }, after);
  const moved = both.map((move) => ({ op: "move", ...move }));
  await made("coder::transact", { changes: moved }, after);
}

const config = { journal: {}, non_accessible_globs: ["**/.env", "**/*.pem", "**/secrets/**"] };

const tree = { ".ENV": "hunter2\n", "a/ID.PEM": "hunter2\n" };

test("on a file system that tells names apart, only a glob's own spelling is denied, unless all shall be", async () => {
  await withDriver({ config, tree }, async ({ call }) => {
    expect((await call(...reading(".ENV"))).answer).toMatchObject({ content: "hunter2\n" });
  });
  await withDriver({ config: { ...config, fold_deny: "always" }, tree }, async ({ call }) => {
    for (const path of [".ENV", "a/ID.PEM"])
      expect([path, codesOf(await call(...reading(path)))]).toEqual([path, ["C211"]]);
    const { answer } = await call("coder::search", { query: "hunter2" });
    expect(answer).toMatchObject({ content_matches: [] });
  });
});

describe.each(["openat", "descriptors", "current-directory"])("%s", (backend) => {
  const env = { CODER_JAIL: backend };

  testUnless(reasonAgainstFuse, "mounted below the base", () =>
    withDriver(
      { config, env, ownMounts: true, tree: { "usb/": null }, before: mountAt("$BASE/usb") },
      async (driven) => {
        await expectKept(driven, "usb/");
        await expectServed(driven, "usb/");
        await expectFlagged(driven, "usb");
        await expectNothingRemoved(driven, "usb/");
        await expectUndone(driven, "usb/");
        await expectRespelled(driven, "usb/");
      },
    ),
  );

  testUnless(reasonAgainstFuse, "mounted as the base", () =>
    withDriver({ config, env, ownMounts: true, before: mountAt("$BASE") }, async (driven) => {
      await expectKept(driven, "");
      await expectServed(driven, "");
      await expectFlagged(driven, ".");
      await expectNothingRemoved(driven, "");
      await expectUndone(driven, "");
      await expectRespelled(driven, "");
    }),
  );
});
