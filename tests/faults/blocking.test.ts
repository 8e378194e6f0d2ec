/** Files that would block a reader, and trees too large or too deep to go through at once. */

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, truncateSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { codesOf, type Driven, onDriven, outcomeFaults } from "./driven.ts";
import { reasonAgainstMounts, reasonAgainstRoot, testUnless } from "./machine.ts";

setDefaultTimeout(60_000);

/** The codes of a call, which must be well-formed, and its answer. */
async function call(driven: Driven, functionId: string, payload: unknown) {
  const outcome = await driven.call(functionId, payload);
  expect(outcomeFaults(outcome, { functionId, payload, root: driven.root })).toEqual([]);
  return { codes: codesOf(outcome), answer: outcome.answer as Record<string, unknown> };
}

const editOf = (path: string) => ({ files: [{ path, ops: [{ op: "insert", at_line: 1, content: "x" }] }] });
const overwriteOf = (path: string) => ({ files: [{ path, content: "x", overwrite: true }] });

/** No call reads or writes a special file, and only delete-file touches it. */
async function expectSpecial(driven: Driven, path: string): Promise<void> {
  expect((await call(driven, "coder::read-file", { path })).codes).toEqual(["C210"]);
  expect((await call(driven, "coder::update-file", editOf(path))).codes).toEqual(["C210"]);
  expect((await call(driven, "coder::create-file", overwriteOf(path))).codes).toEqual(["C210"]);
  for (const functionId of ["coder::list-folder", "coder::tree"])
    expect(JSON.stringify((await call(driven, functionId, {})).answer)).toContain('"other"');
  const found = await call(driven, "coder::search", { query: "", regex: false });
  expect(found.codes).toEqual(["C210"]);
  expect((await call(driven, "coder::search", { query: "needle" })).answer).toMatchObject({
    content_matches: [{ path: "small.txt" }],
  });
  expect((await call(driven, "coder::delete-file", { paths: [path] })).answer).toMatchObject({
    results: [{ removed: true }],
  });
}

const tree = { "small.txt": "needle\n" };

describe("special files", () => {
  test("a FIFO that nobody writes to", () =>
    onDriven({ tree: { ...tree, special: { fifo: true } } }, (driven) => expectSpecial(driven, "special")));

  test("a socket", () =>
    onDriven({ tree }, async (driven) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(join(driven.base, "special"), resolve));
      await expectSpecial(driven, "special");
      await new Promise((resolve) => server.close(resolve));
    }));

  testUnless(reasonAgainstRoot, "a device", () =>
    onDriven({ tree }, async (driven) => {
      execFileSync("mknod", [join(driven.base, "special"), "c", "1", "5"]); // endless zeros
      await expectSpecial(driven, "special");
    }),
  );
});

testUnless(
  reasonAgainstMounts,
  "procfs mounted inside the base is not entered, and a normal file system is",
  () =>
    onDriven(
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
          expect((await call(driven, "coder::read-file", { path })).codes).toEqual(["C211"]);
          expect((await call(driven, "coder::list-folder", { path })).codes).toEqual(["C211"]);
          expect((await call(driven, "coder::update-file", editOf(path))).codes).toEqual(["C211"]);
        }
        expect((await call(driven, "coder::search", { query: "needle" })).answer).toMatchObject({
          content_matches: [{ path: "normal/f.txt" }],
        });
        const snapshot = await call(driven, "coder::tree", { max_depth: 10 });
        expect(JSON.stringify(snapshot.answer)).not.toContain("environ");
        const removed = await call(driven, "coder::delete-file", { paths: ["d"], recursive: true });
        expect(removed.codes).toEqual(["C211"]);
        expect((await call(driven, "coder::update-file", editOf("normal/f.txt"))).codes).toEqual([""]);
      },
    ),
);

test("a link to procfs leads outside", () =>
  onDriven({ tree: { proc: { link: "/proc" }, environ: { link: "/proc/self/environ" } } }, async (driven) => {
    for (const path of ["proc/self/environ", "environ"])
      expect((await call(driven, "coder::read-file", { path })).codes).toEqual(["C215"]);
  }));

test("a file that grows while it is read", () =>
  onDriven({ tree: { ...tree, "grows.txt": "" }, config: { max_read_bytes: 1 << 20 } }, async (driven) => {
    const out = openSync(join(driven.base, "grows.txt"), constants.O_WRONLY | constants.O_APPEND);
    // Ends by itself at the limit, should the test not get that far.
    const writer = spawn("sh", ["-c", "ulimit -f 1000000; exec yes needle"], {
      stdio: ["ignore", out, "ignore"],
    });
    closeSync(out);
    const ended = new Promise((resolve) => writer.once("exit", resolve));
    let codes: string[] = [];
    while (codes.length === 0) codes = (await call(driven, "coder::read-file", { path: "grows.txt" })).codes;
    expect(codes).toEqual(["C213"]);
    expect((await call(driven, "coder::update-file", editOf("grows.txt"))).codes).toEqual(["C213"]);
    const found = await call(driven, "coder::search", { query: "needle", search_paths: false });
    expect(found.answer).toMatchObject({ content_matches: [{ path: "small.txt" }] });
    writer.kill();
    await ended;
  }));

test("a sparse file of a tebibyte", () =>
  onDriven({ tree: { ...tree, "sparse.bin": "" } }, async (driven) => {
    truncateSync(join(driven.base, "sparse.bin"), 2 ** 40);
    expect((await call(driven, "coder::read-file", { path: "sparse.bin" })).codes).toEqual(["C213"]);
    expect((await call(driven, "coder::update-file", editOf("sparse.bin"))).codes).toEqual(["C213"]);
    const found = await call(driven, "coder::search", { query: "needle", search_paths: false });
    expect(found.answer).toMatchObject({ content_matches: [{ path: "small.txt" }] });
    const listed = await call(driven, "coder::list-folder", {});
    expect(listed.answer["entries"]).toContainEqual(
      expect.objectContaining({ name: "sparse.bin", size: 2 ** 40 }),
    );
    expect((await call(driven, "coder::create-file", overwriteOf("sparse.bin"))).codes).toEqual([""]);
  }));

describe("a folder of 100,000 entries", () => {
  const entries = 100_000;

  test("is listed, shown, searched and removed while other calls are served", () =>
    onDriven({ tree: { ...tree, "large/": null } }, async (driven) => {
      const large = join(driven.base, "large");
      fill(large, entries);
      const listed = await call(driven, "coder::list-folder", { path: "large", page: 100 });
      expect(listed.answer).toMatchObject({ total: entries, has_more: true });
      const shown = await call(driven, "coder::tree", { path: "large" });
      expect(shown.answer).toMatchObject({ root: { truncated: { shown: 50, total: entries } } });
      const wide = await call(driven, "coder::tree", { path: "large", per_folder_limit: entries });
      expect([[], ["C213"]]).toContainEqual(wide.codes);
      const [found, first] = await withSmallCall(driven, "coder::search", {
        query: "nowhere",
        path: "large",
      });
      expect(found.answer).toMatchObject({ content_matches: [], truncated: false });
      expect(first).toBe("small");
      const whole = { paths: ["large"], recursive: true };
      const [removed, firstAgain] = await withSmallCall(driven, "coder::delete-file", whole);
      expect(removed.answer).toMatchObject({ results: [{ removed: true }] });
      expect(firstAgain).toBe("small");
    }));

  test("is left in part when its removal outlasts the call, and the rest goes with the next one", () =>
    onDriven({ tree: { ...tree, "large/": null }, config: { call_timeout_ms: 100 } }, async (driven) => {
      const large = join(driven.base, "large");
      fill(large, entries / 10);
      const { held } = await driven.measure();
      let codes = ["C216"];
      for (let calls = 0; codes[0] === "C216" && calls < 100; calls++) {
        ({ codes } = await call(driven, "coder::delete-file", { paths: ["large"], recursive: true }));
        expect((await driven.measure()).held).toBe(held);
      }
      expect(codes).toEqual([""]);
    }));
});

/** The outcome of a long call, and which was answered first: it, or a small one made right after it. */
async function withSmallCall(driven: Driven, functionId: string, payload: unknown) {
  const order: string[] = [];
  const long = call(driven, functionId, payload).finally(() => order.push("long"));
  const small = driven.call("coder::read-file", { path: "small.txt" }).finally(() => order.push("small"));
  expect((await small).answer).toMatchObject({ content: "needle\n" });
  return [await long, order[0]] as const;
}

test("10,000 nested folders", () =>
  onDriven({ tree }, async (driven) => {
    nest(driven.base, 10_000);
    const { held } = await driven.measure();
    expect((await call(driven, "coder::list-folder", { path: "d" })).answer).toMatchObject({ total: 1 });
    expect((await call(driven, "coder::tree", { max_depth: 4_294_967_295 })).codes).toEqual([]);
    const found = await call(driven, "coder::search", { query: "needle" });
    // Not all was looked at, and the answer says so.
    expect(found.answer).toMatchObject({ content_matches: [{ path: "small.txt" }], truncated: true });
    const removed = await call(driven, "coder::delete-file", { paths: ["d"], recursive: true });
    expect(removed.codes).toEqual(["C216"]);
    const path = "d/".repeat(10_000);
    for (const functionId of ["coder::list-folder", "coder::read-file", "coder::tree"])
      expect(["C210", "C211"]).toContain((await call(driven, functionId, { path: `${path}x` })).codes[0]!);
    expect(["C210", "C211", "C216"]).toContain(
      (await call(driven, "coder::create-file", overwriteOf(`${path}x`))).codes[0]!,
    );
    expect((await call(driven, "coder::create-file", overwriteOf(`${"n/".repeat(5000)}x`))).codes[0]).toMatch(
      /C21\d/,
    );
    await driven.ask({ does: "sweep" });
    expect((await driven.measure()).held).toBe(held);
  }));

/** Makes folders in each other, one name at a time: no path may be that long. */
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

/** Makes the empty files f1 to f`count`. */
function fill(folder: string, count: number): void {
  execFileSync("sh", ["-c", `seq -f f%.0f ${count} | xargs touch`], { cwd: folder });
}
