import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FeedFixture } from "./changes.test-kit.ts";

const create = (path: string, content = "text\n") => ({ files: [{ path, content, parents: true }] });

test("changes by calls and by other programs are reported in order, each once", async () => {
  await using feed = await new FeedFixture().open();
  await feed.call("coder::create-file", create("d/f"));
  // The new folder is watched from this answer on, so later changes in it have events.
  expect(await feed.take()).toEqual(["created d/ by create-file", "created d/f by create-file"]);
  appendFileSync(feed.at("d/f"), "more\n");
  writeFileSync(feed.at("g"), "");
  await feed.call("coder::move", { files: [{ from: "d", to: "e" }] });
  expect(await feed.take()).toEqual([
    "modified d/f by external",
    "created g by external",
    "moved d/ to e/ by move",
  ]);
  chmodSync(feed.at("e/f"), 0o600);
  symlinkSync("g", feed.at("link"));
  expect(await feed.take()).toEqual(["modified e/f by external", "created link by external"]);
  expect(await feed.take()).toEqual([]);
  await feed.call("coder::delete-file", { paths: ["e", "link"], recursive: true });
  expect(await feed.take()).toEqual([
    "deleted e/f by delete-file",
    "deleted e/ by delete-file",
    "deleted link by delete-file",
  ]);
});

test("a change says who made it, and the revision that a call wrote", async () => {
  await using feed = await new FeedFixture().open();
  const answer = await feed.call("coder::transact", {
    changes: [
      { op: "create", path: "f", content: "text\n" },
      { op: "create", path: "g", content: "" },
    ],
  });
  const refused = {
    changes: [
      { op: "delete", path: "f" },
      { op: "move", from: "missing", to: "g" },
    ],
  };
  await feed.refused("coder::transact", refused);
  const { changes, external } = await feed.pull({ since: feed.next });
  const { transaction } = answer as { transaction: string };
  expect(external).toBe(true);
  expect(changes).toEqual(
    ["f", "g"].map((path, index) => ({
      path,
      kind: "created",
      dir: false,
      ignored: false,
      root: ".",
      seq: index + 1,
      epoch: feed.next.split(":")[0]!,
      revision: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as unknown as string,
      cause: { by: "call", function_id: "coder::transact", transaction },
    })),
  );
});

test("other programs' moves are reported as what they are within the tree", async () => {
  await using feed = await new FeedFixture().open();
  const outside = mkdtempSync(join(tmpdir(), "coder-"));
  mkdirSync(feed.at("d/e"), { recursive: true });
  writeFileSync(feed.at("d/e/f"), "text");
  writeFileSync(feed.at("g"), "text");
  expect(await feed.take()).toEqual(["created d/ by external", "created g by external"]);
  renameSync(feed.at("g"), feed.at("h"));
  renameSync(feed.at("h"), feed.at("d/g"));
  renameSync(feed.at("d/e"), feed.at("e"));
  expect(await feed.take()).toEqual(["moved g to d/g by external", "moved d/e/ to e/ by external"]);
  renameSync(feed.at("e"), join(outside, "e"));
  renameSync(feed.at("d/g"), join(outside, "g"));
  expect(await feed.take()).toEqual(["deleted e/ by external", "deleted d/g by external"]);
  renameSync(join(outside, "e"), feed.at("e"));
  expect(await feed.take()).toEqual(["created e/ by external"]);
  // Editors save like this. The temporary name must not be reported.
  writeFileSync(feed.at("e/f~"), "other");
  renameSync(feed.at("e/f~"), feed.at("e/f"));
  expect(await feed.take()).toEqual(["modified e/f by external"]);
  rmSync(feed.at("e"), { recursive: true });
  mkdirSync(feed.at("e"));
  expect(await feed.take()).toEqual([
    "deleted e/f by external",
    "deleted e/ by external",
    "created e/ by external",
  ]);
  rmSync(outside, { recursive: true });
});

test("what is denied is not there, and a move from there or to there is seen from here", async () => {
  await using feed = await new FeedFixture().open();
  writeFileSync(feed.at(".env"), "SECRET=1");
  mkdirSync(feed.at("secrets"));
  writeFileSync(feed.at("secrets/f"), "text");
  writeFileSync(feed.at(".coder-tmp-x"), "text");
  expect(await feed.take()).toEqual(["created secrets/ by external"]);
  expect(feed.next).toEndWith(":1");
  renameSync(feed.at("secrets/f"), feed.at("f"));
  expect(await feed.take()).toEqual(["created f by external"]);
  renameSync(feed.at("f"), feed.at("secrets/f"));
  expect(await feed.take()).toEqual(["deleted f by external"]);
});

test("what happens in a folder that is new is reported, or part of the folder", async () => {
  await using feed = await new FeedFixture().open();
  await feed.call("coder::create-file", create("d/e/f"));
  appendFileSync(feed.at("d/e/f"), "more\n");
  mkdirSync(feed.at("n"));
  writeFileSync(feed.at("n/f"), "");
  // Changes in a folder that is still being listed may be reported later than others, and twice.
  const found = new Set(await feed.take());
  found.delete("created n/f by external");
  expect(found).toEqual(
    new Set([
      "created d/ by create-file",
      "created d/e/ by create-file",
      "created d/e/f by create-file",
      "modified d/e/f by external",
      "created n/ by external",
    ]),
  );
  appendFileSync(feed.at("n/f"), "more");
  expect(await feed.take()).toEqual(["modified n/f by external"]);
});

test("pages go on where the last one ended, and a path selects what touches it", async () => {
  await using feed = await new FeedFixture().open();
  const begin = feed.next;
  for (const path of ["a/f", "b/f", "a/g", "ab"]) await feed.call("coder::create-file", create(path));
  const whole = await feed.take();
  expect(whole).toHaveLength(6);
  feed.next = begin;
  const pages = [];
  for (let page = 0; page < 4; page++) pages.push(await feed.take({ limit: 2 }));
  expect(pages.flat()).toEqual(whole);
  feed.next = begin;
  expect(await feed.take({ limit: 0 })).toEqual([]);
  expect(feed.next).toBe(begin);
  expect(await feed.take({ path: "./a/" })).toEqual(whole.filter((line) => / a\//.test(line)));
  await feed.call("coder::move", { files: [{ from: "a", to: "c" }] });
  expect((await feed.pull({ since: feed.next, path: "a/f" })).changes).toHaveLength(1);
  expect((await feed.pull({ since: feed.next, path: "c/g" })).changes).toHaveLength(1);
  expect(await feed.take({ path: "b" })).toEqual([]);
});

test("a change says whether an ignore file names it", async () => {
  await using feed = await new FeedFixture().open();
  mkdirSync(feed.at(".git"));
  writeFileSync(feed.at(".gitignore"), "out/\n*.log\n");
  await feed.take();
  for (const path of ["out/a/f", "x.log", "src/f"]) await feed.call("coder::create-file", create(path));
  const { changes } = await feed.pull({ since: feed.next });
  expect(changes.filter(({ ignored }) => ignored).map(({ path }) => path)).toEqual([
    "out",
    "out/a",
    "out/a/f",
    "x.log",
  ]);
});

test("an overflow of the kernel's queue is said, and what comes after is reported", async () => {
  await using feed = await new FeedFixture().open();
  for (const name of ["a", "b"]) writeFileSync(feed.at(name), "");
  await feed.take();
  const files = ["a", "b"].map((name) => openSync(feed.at(name), "r+"));
  const limit = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
  for (let i = 0; i <= limit; i++) for (const file of files) writeSync(file, "x", 0);
  for (const file of files) closeSync(file);
  const { overflow, note, changes, next } = await feed.pull({ since: feed.next });
  expect([overflow, note]).toEqual([true, expect.stringContaining("read again")]);
  expect(changes.at(-1)).toMatchObject({ path: ".", dir: true, overflow: true });
  feed.next = next;
  appendFileSync(feed.at("a"), "more");
  expect(await feed.take()).toEqual(["modified a by external"]);
});

test("a place of another epoch is an overflow, and what is no place is refused", async () => {
  await using feed = await new FeedFixture().open();
  await feed.call("coder::create-file", create("f"));
  const before = feed.next;
  await feed.close();
  await feed.open();
  expect(feed.next.split(":")[0]).not.toBe(before.split(":")[0]!);
  const answer = await feed.pull({ since: before });
  expect(answer).toMatchObject({ changes: [], overflow: true, next: feed.next });
  expect(answer.note).toContain("read again");
  expect((await feed.pull({ since: feed.next.replace(/\d+$/, "7") })).overflow).toBe(true);
  for (const since of ["", "x", "0", `${feed.next}x`])
    expect(await feed.refused("coder::changes", { since })).toContain("C210");
});

test("where the tree cannot be watched, changes by calls are reported, and that others are not", async () => {
  await using feed = await new FeedFixture().open({}, { CODER_JAIL: "current-directory" });
  await feed.call("coder::create-file", create("d/f"));
  writeFileSync(feed.at("g"), "");
  const { external, changes } = await feed.pull({ since: feed.next });
  expect([external, changes.map(({ path }) => path)]).toEqual([false, ["d", "d/f"]]);
});

test("folders that another program makes one in the other are created, and none is deleted", async () => {
  await using feed = await new FeedFixture().open();
  const script = "for (let i = 0; i < 500; i++) fs.mkdirSync(`d${i}/e/f`, { recursive: true });";
  const program = spawn(process.execPath, ["-e", `const fs = require("node:fs"); ${script}`], {
    cwd: feed.base,
  });
  let isRunning = true;
  const ended = once(program, "exit").then(() => {
    isRunning = false;
  });
  const seen: string[] = [];
  while (isRunning) {
    seen.push(...(await feed.take()));
    // Otherwise, the event of the program's end would never be handled.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await ended;
  seen.push(...(await feed.take()), ...(await feed.take()));
  expect(seen.filter((change) => !change.startsWith("created "))).toEqual([]);
  expect(new Set(seen).size).toBe(seen.length);
  for (let i = 0; i < 500; i++) expect(seen).toContain(`created d${i}/ by external`);
});
