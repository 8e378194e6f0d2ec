import { describe, expect, test } from "bun:test";
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { awaitDeferredCloses } from "../disk/deferred-close.ts";
import { moveByReservation } from "../disk/move-to-new.ts";
import { FilesFixture, reasonOf } from "../files/files.test-kit.ts";
import type { JailedPath, Name } from "../jail/folder.ts";
import { backends, countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import { type Creation, FileCreation } from "./create.ts";

const usual: Omit<Creation, "path" | "content"> = { mode: 0o644, overwrite: false, parents: true };

describe.each(backends)("%s", (backend) => {
  const create = (bench: FilesFixture, path: string, options: Partial<Creation> = {}, content = "new") =>
    bench.files.create(path, Buffer.from(content), { ...usual, ...options }, bench.call);
  const reason = (bench: FilesFixture, path: string, options: Partial<Creation> = {}, content = "new") =>
    reasonOf(() => create(bench, path, options, content));

  test("a file gets its content and its exact mode, whatever the umask", async () => {
    using bench = new FilesFixture(backend);
    const before = process.umask(0o077);
    try {
      await create(bench, "a.sh", { mode: 0o777 });
      await create(bench, "b", { mode: 0 });
    } finally {
      process.umask(before);
    }
    expect(bench.text("a.sh")).toBe("new");
    expect(bench.mode("a.sh")).toBe(0o777);
    expect(bench.mode("b")).toBe(0);
    expect(lstatSync(bench.at("a.sh")).nlink).toBe(1);
    expect(readdirSync(bench.base).sort()).toEqual(["a.sh", "b"]);
  });

  test("folders on the way are made, or not", async () => {
    using bench = new FilesFixture(backend, { "d/": null, "to-d": { link: "d" } });
    await create(bench, "x/y/z.txt");
    await create(bench, "to-d/y/z.txt");
    expect(bench.text("x/y/z.txt")).toBe("new");
    expect(bench.text("d/y/z.txt")).toBe("new");
    expect(await reason(bench, "no/z.txt", { parents: false })).toBe("missing");
    await create(bench, "d/z.txt", { parents: false });
  });

  test("what is there is not replaced unasked", async () => {
    using bench = new FilesFixture(backend, { a: "old", "d/": null, l: { link: "a" } });
    for (const path of ["a", "l", "d", "."]) expect(await reason(bench, path)).toBe("exists");
    expect(bench.text("a")).toBe("old");
    for (const path of ["d", "."]) expect(await reason(bench, path, { overwrite: true })).toBe("wrong-kind");
  });

  test("asked to, it replaces a file in one step and leaves other names of it alone", async () => {
    using bench = new FilesFixture(backend, {
      a: "old",
      l: { link: "a" },
      hard: { hardlink: "../outside/secret.txt" },
    });
    await create(bench, "l", { overwrite: true, mode: 0o600 });
    await create(bench, "hard", { overwrite: true });
    await create(bench, "fresh", { overwrite: true });
    expect(bench.tree()).toEqual({
      a: "new",
      l: { link: "a" },
      hard: "new",
      fresh: "new",
    });
    expect(bench.mode("a")).toBe(0o600);
    expect(bench.text("../outside/secret.txt")).toBe("the outside secret");
  });

  test("a read-only file and a FIFO are not replaced", async () => {
    using bench = new FilesFixture(backend, { a: "old" });
    chmodSync(bench.at("a"), 0o444);
    Bun.spawnSync(["mkfifo", bench.at("fifo")]);
    expect(await reason(bench, "a", { overwrite: true })).toBe("permission");
    expect(await reason(bench, "fifo", { overwrite: true })).toBe("wrong-kind");
    expect(await reason(bench, "fifo")).toBe("exists");
    expect(bench.text("a")).toBe("old");
  });

  test("a refusal leaves nothing behind, not even a folder", async () => {
    using bench = new FilesFixture(backend, {
      a: "old",
      dangling: { link: "nothing" },
      "dangling-out": { link: "../outside/new.txt" },
      out: { link: "../outside" },
    });
    const before = bench.snapshot();
    const expected: [string, string][] = [
      ["x/secrets/key", "denied"],
      ["x/new.pem/y", "denied"],
      ["x/.env", "denied"],
      ["x/.coder-tmp-1", "denied"],
      ["dangling", "outside"],
      ["dangling-out", "outside"],
      ["out/new.txt", "outside"],
      ["../new.txt", "outside"],
      ["x/../../new.txt", "outside"],
      ["a/new.txt", "missing"],
      ["x/new/", "bad-input"],
      ["x\\y", "bad-input"],
      ["C:\\x", "bad-input"],
      ["x/\u0007", "bad-input"],
      [`x/${"n".repeat(256)}`, "bad-input"],
    ];
    for (const [path, why] of expected) {
      for (const overwrite of [true, false])
        expect([path, await reason(bench, path, { overwrite })]).toEqual([path, why]);
    }
    expect(await reason(bench, "x/y", {}, "x".repeat(1001))).toBe("too-large");
    expect(bench.snapshot()).toEqual(before);
  });

  test("a failure removes the folders it made, and only those", async () => {
    using bench = new FilesFixture(backend, { "kept/": null });
    const late = deadlineIn(0);
    // The time is up before the file gets its name, when the folders already exist.
    const slow = { ...late, check: once(() => late.check()) };
    expect(
      await reasonOf(() => bench.files.create("kept/x/y/z", Buffer.from(""), usual, { deadline: slow })),
    ).toBe("timeout");
    expect(bench.tree()).toEqual({ "kept/": null });
  });

  test("the longest name a file system takes is taken", async () => {
    using bench = new FilesFixture(backend);
    await create(bench, "n".repeat(255));
    expect(readdirSync(bench.base)).toEqual(["n".repeat(255)]);
  });

  test("of many calls for one name, one makes it", async () => {
    using bench = new FilesFixture(backend);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => reason(bench, "x/a", {}, `${i}`)));
    expect(answers.filter((answer) => answer === "done")).toHaveLength(1);
    expect(answers.filter((answer) => answer === "exists")).toHaveLength(49);
    expect(bench.text("x/a")).toBe(String(answers.indexOf("done")));
  });

  test("with flushing the answer is the same", async () => {
    using bench = new FilesFixture(backend, {}, { fsync: true });
    await create(bench, "x/y/a");
    await create(bench, "x/y/a", { overwrite: true }, "newer");
    expect(bench.text("x/y/a")).toBe("newer");
  });

  test("a file to be replaced is read when earlier calls on it are done, and later ones wait", async () => {
    using bench = new FilesFixture(backend, { a: "old" });
    const begin = (path: string, overwrite = true) =>
      FileCreation.begin(bench.diskTree, { path, overwrite, parents: true }, bench.call);
    const earlier = create(bench, "a", { overwrite: true }, "newer");
    const creation = await begin("a");
    await earlier;
    const later = create(bench, "a", { overwrite: true }, "newest");
    expect(creation.readReplaced(String)).toBe("newer");
    await creation.write(Buffer.from("newer and mine"), undefined);
    expect(bench.text("a")).toBe("newer and mine");
    creation[Symbol.dispose]();
    await later;
    expect(bench.text("a")).toBe("newest");
    using ofNew = await begin("b", false);
    expect(ofNew.readReplaced(String)).toBeUndefined();
  });

  test("a file that is too large or unreadable is replaced unread", async () => {
    using bench = new FilesFixture(
      backend,
      { large: "12345678901", limit: "1234567890" },
      { max_write_bytes: 10 },
    );
    const replaced = async (path: string) => {
      using creation = await FileCreation.begin(
        bench.diskTree,
        { path, overwrite: true, parents: false },
        bench.call,
      );
      const content = creation.readReplaced(String);
      await creation.write(Buffer.from("new"), undefined);
      return [content, bench.text(path)];
    };
    expect(await replaced("large")).toEqual([undefined, "new"]);
    expect(await replaced("limit")).toEqual(["1234567890", "new"]);
  });

  test("no descriptor is left open", async () => {
    using bench = new FilesFixture(backend, { a: "", dangling: { link: "x" } }, { fsync: true });
    await awaitDeferredCloses();
    const before = countDescriptorsBelow(bench.root);
    for (const path of ["a", "x/y/z", "x/y/z", "dangling", ".env", "a/b"]) await reason(bench, path);
    await reason(bench, "a", { overwrite: true });
    await awaitDeferredCloses();
    expect(countDescriptorsBelow(bench.root)).toBe(before);
  });
});

/** Skips the first two checks, which are those of the queue. */
function once(check: () => void): () => void {
  let calls = 0;
  return () => {
    if (++calls > 2) check();
  };
}

describe("where there are no hard links", () => {
  const at = (bench: FilesFixture) => (name: Name) => `${bench.base}/${name}` as unknown as JailedPath;

  test("a name is reserved and then taken", () => {
    using bench = new FilesFixture(backends[0]!, { draft: "new" });
    moveByReservation(at(bench)("draft"), at(bench)("a"));
    expect(bench.tree()).toEqual({ a: "new" });
  });

  test("a name that is taken stays", () => {
    using bench = new FilesFixture(backends[0]!, { draft: "new", a: "old" });
    expect(() => moveByReservation(at(bench)("draft"), at(bench)("a"))).toThrow("EEXIST");
    expect(bench.text("a")).toBe("old");
  });

  test("a failure gives the name back", () => {
    using bench = new FilesFixture(backends[0]!);
    expect(() => moveByReservation(at(bench)("no-draft"), at(bench)("a"))).toThrow("ENOENT");
    expect(bench.tree()).toEqual({});
  });
});
