/** Files that would block a reader or never end, and a tree that is too deep to walk. */

import { describe, expect, test } from "bun:test";
import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, truncateSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { callDriver } from "./call.ts";
import { type DriverFixture, withDriver } from "./driver-fixture.ts";
import { isRoot, reasonAgainstMounts, testUnless } from "./machine.ts";

const editOf = (path: string) => ({ files: [{ path, ops: [{ op: "insert", at_line: 1, content: "x" }] }] });
const overwriteOf = (path: string) => ({ files: [{ path, content: "x", overwrite: true }] });

/** Expects that no call reads or writes a special file, and that delete-file removes it. */
async function expectSpecial(driven: DriverFixture, path: string): Promise<void> {
  await expectUntouched(driven, path);
  for (const functionId of ["coder::list-folder", "coder::tree"])
    expect(JSON.stringify((await callDriver(driven, functionId, {})).answer)).toContain('"other"');
  const found = await callDriver(driven, "coder::search", { query: "", regex: false });
  expect(found.codes).toEqual(["C210"]);
  expect((await callDriver(driven, "coder::search", { query: "needle" })).answer).toMatchObject({
    content_matches: [{ path: "small.txt" }],
  });
  expect((await callDriver(driven, "coder::delete-file", { paths: [path] })).answer).toMatchObject({
    results: [{ removed: true }],
  });
}

async function expectUntouched(driven: DriverFixture, path: string): Promise<void> {
  expect((await callDriver(driven, "coder::read-file", { path })).codes).toEqual(["C210"]);
  expect((await callDriver(driven, "coder::update-file", editOf(path))).codes).toEqual(["C210"]);
  expect((await callDriver(driven, "coder::create-file", overwriteOf(path))).codes).toEqual(["C210"]);
  for (const lines of patchesOf(path)) {
    const patch = `${lines.join("\n")}\n`;
    expect((await callDriver(driven, "coder::apply-patch", { patch })).codes).toEqual(["C210"]);
  }
}

/** Returns patches that would delete, rename, copy or change a path without a line of its content. */
const patchesOf = (path: string) => [
  ["*** Begin Patch", `*** Delete File: ${path}`, "*** End Patch"],
  ["*** Begin Patch", `*** Update File: ${path}`, "*** Move to: moved", "*** End Patch"],
  [`diff --git a/${path} b/${path}`, "deleted file mode 100644", "index e69de29..0000000"],
  [`diff --git a/${path} b/moved`, "similarity index 100%", `rename from ${path}`, "rename to moved"],
  [`diff --git a/${path} b/copied`, "similarity index 100%", `copy from ${path}`, "copy to copied"],
  [`diff --git a/${path} b/${path}`, "old mode 100644", "new mode 100755"],
];

const tree = { "small.txt": "needle\n" };

describe("special files", () => {
  test("a FIFO that nobody writes to", () =>
    withDriver({ tree: { ...tree, special: { fifo: true } } }, (driven) => expectSpecial(driven, "special")));

  test("a socket", () =>
    withDriver({ tree }, async (driven) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(join(driven.base, "special"), resolve));
      await expectSpecial(driven, "special");
      await new Promise((resolve) => server.close(resolve));
    }));

  if (isRoot) {
    test("a device", () =>
      withDriver({ tree }, async (driven) => {
        execFileSync("mknod", [join(driven.base, "special"), "c", "1", "5"]); // endless zeros
        await expectSpecial(driven, "special");
      }));
  } else {
    // Only root can create a device, so the test uses an existing one.
    test("a device", () =>
      withDriver({ config: { base_path: "/dev" } }, (driven) => expectUntouched(driven, "zero")));
  }
});

testUnless(
  reasonAgainstMounts,
  "procfs mounted inside the base is not entered, and a normal file system is",
  () =>
    withDriver(
      {
        ownMounts: true,
        before:
          'mkdir "$BASE/d" "$BASE/d/proc" "$BASE/normal"; mount -t proc none "$BASE/d/proc" || mount --rbind /proc "$BASE/d/proc"; ' +
          'mount -t tmpfs -o size=64k none "$BASE/normal"; echo needle > "$BASE/normal/f.txt"',
      },
      async (driven) => {
        for (const path of [
          "d/proc",
          "d/proc/self/environ",
          "d/proc/kmsg",
          "d/proc/self/fd/0",
          "d/proc/self/root/etc",
        ]) {
          expect((await callDriver(driven, "coder::read-file", { path })).codes).toEqual(["C211"]);
          expect((await callDriver(driven, "coder::list-folder", { path })).codes).toEqual(["C211"]);
          expect((await callDriver(driven, "coder::update-file", editOf(path))).codes).toEqual(["C211"]);
        }
        expect((await callDriver(driven, "coder::search", { query: "needle" })).answer).toMatchObject({
          content_matches: [{ path: "normal/f.txt" }],
        });
        const snapshot = await callDriver(driven, "coder::tree", { max_depth: 10 });
        expect(JSON.stringify(snapshot.answer)).not.toContain("environ");
        const removed = await callDriver(driven, "coder::delete-file", { paths: ["d"], recursive: true });
        expect(removed.codes).toEqual(["C211"]);
        expect((await callDriver(driven, "coder::update-file", editOf("normal/f.txt"))).codes).toEqual([""]);
      },
    ),
);

test("a link to procfs leads outside", () =>
  withDriver(
    { tree: { proc: { link: "/proc" }, environ: { link: "/proc/self/environ" } } },
    async (driven) => {
      for (const path of ["proc/self/environ", "environ"])
        expect((await callDriver(driven, "coder::read-file", { path })).codes).toEqual(["C215"]);
    },
  ));

test("a file that grows while it is read", () =>
  withDriver({ tree: { ...tree, "grows.txt": "" }, config: { max_read_bytes: 1 << 20 } }, async (driven) => {
    const out = openSync(join(driven.base, "grows.txt"), constants.O_WRONLY | constants.O_APPEND);
    // Ends at the limit by itself if the test fails before it kills the program.
    const writer = spawn("sh", ["-c", "ulimit -f 1000000; exec yes needle"], {
      stdio: ["ignore", out, "ignore"],
    });
    closeSync(out);
    const ended = new Promise((resolve) => writer.once("exit", resolve));
    let codes: string[] = [];
    while (codes.length === 0)
      codes = (await callDriver(driven, "coder::read-file", { path: "grows.txt" })).codes;
    expect(codes).toEqual(["C213"]);
    expect((await callDriver(driven, "coder::update-file", editOf("grows.txt"))).codes).toEqual(["C213"]);
    const found = await callDriver(driven, "coder::search", { query: "needle", search_paths: false });
    expect(found.answer).toMatchObject({ content_matches: [{ path: "small.txt" }] });
    writer.kill();
    await ended;
  }));

test("a sparse file of a tebibyte", () =>
  withDriver({ tree: { ...tree, "sparse.bin": "" } }, async (driven) => {
    truncateSync(join(driven.base, "sparse.bin"), 2 ** 40);
    expect((await callDriver(driven, "coder::read-file", { path: "sparse.bin" })).codes).toEqual(["C213"]);
    expect((await callDriver(driven, "coder::update-file", editOf("sparse.bin"))).codes).toEqual(["C213"]);
    const found = await callDriver(driven, "coder::search", { query: "needle", search_paths: false });
    expect(found.answer).toMatchObject({ content_matches: [{ path: "small.txt" }] });
    const listed = await callDriver(driven, "coder::list-folder", {});
    expect(listed.answer["entries"]).toContainEqual(
      expect.objectContaining({ name: "sparse.bin", size: 2 ** 40 }),
    );
    expect((await callDriver(driven, "coder::create-file", overwriteOf("sparse.bin"))).codes).toEqual([""]);
  }));

test("10,000 nested folders", () =>
  withDriver({ tree, isVast: true }, async (driven) => {
    nest(driven.base, 10_000);
    const { held } = await driven.measure();
    expect((await callDriver(driven, "coder::list-folder", { path: "d" })).answer).toMatchObject({
      total: 1,
    });
    expect((await callDriver(driven, "coder::tree", { max_depth: 4_294_967_295 })).codes).toEqual([]);
    const found = await callDriver(driven, "coder::search", { query: "needle" });
    // The search does not reach every folder, and its answer says so.
    expect(found.answer).toMatchObject({ content_matches: [{ path: "small.txt" }], truncated: true });
    const removed = await callDriver(driven, "coder::delete-file", { paths: ["d"], recursive: true });
    expect(removed.codes).toEqual(["C216"]);
    const path = "d/".repeat(10_000);
    for (const functionId of ["coder::list-folder", "coder::read-file", "coder::tree"])
      expect(["C210", "C211"]).toContain(
        (await callDriver(driven, functionId, { path: `${path}x` })).codes[0]!,
      );
    expect(["C210", "C211", "C216"]).toContain(
      (await callDriver(driven, "coder::create-file", overwriteOf(`${path}x`))).codes[0]!,
    );
    expect(
      (await callDriver(driven, "coder::create-file", overwriteOf(`${"n/".repeat(5000)}x`))).codes[0],
    ).toMatch(/C21\d/);
    await driven.request({ method: "sweep" });
    expect((await driven.measure()).held).toBe(held);
  }));

/** Creates nested folders, each through a descriptor of its parent: their path would be too long. */
function nest(folder: string, levels: number): void {
  const O_PATH = 0o10000000;
  let outer = openSync(folder, O_PATH);
  for (let level = 0; level < levels; level++) {
    mkdirSync(`/proc/self/fd/${outer}/d`);
    const inner = openSync(`/proc/self/fd/${outer}/d`, O_PATH);
    closeSync(outer);
    outer = inner;
  }
  closeSync(outer);
}
