import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { refuse } from "../../base/errors.ts";
import { awaitDeferredCloses } from "../disk/deferred-close.ts";
import { FilesFixture, reasonOf } from "../files/files.test-kit.ts";
import { backends, countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import type { Bodies } from "./update.ts";

const isRoot = process.geteuid?.() === 0;

/** Copies the buffers, which are only lent. */
const copied = ({ before, after }: Bodies) => ({
  before: Buffer.from(before),
  after: after.map((piece) => Buffer.from(piece)),
});

describe.each(backends)("%s", (backend) => {
  const update = (bench: FilesFixture, path: string, change: (before: string) => string | Promise<string>) =>
    bench.files.update(path, async (before) => Buffer.from(await change(before.toString())), bench.call, {
      project: copied,
    });
  const reason = (
    bench: FilesFixture,
    path: string,
    change: (before: string) => string | Promise<string> = () => "new",
  ) => reasonOf(() => update(bench, path, change));

  test("the new content takes the place of the old", async () => {
    using bench = new FilesFixture(backend, { "d/a": "old" });
    const { before, after } = await update(bench, "d/a", (text) => `${text} and new`);
    expect([before.toString(), Buffer.concat(after).toString(), bench.text("d/a")]).toEqual([
      "old",
      "old and new",
      "old and new",
    ]);
    expect(readdirSync(bench.at("d"))).toEqual(["a"]);
  });

  test("mode and owner stay; set-id bits and the other names of the file do not", async () => {
    using bench = new FilesFixture(backend, {
      a: "old",
      hard: { hardlink: "a" },
      l: { link: "a" },
    });
    if (isRoot) chownSync(bench.at("a"), 12345, 54321);
    chmodSync(bench.at("a"), 0o6751);
    await update(bench, "l", () => "new");
    expect(bench.mode("a")).toBe(0o751);
    if (isRoot) expect(lstatSync(bench.at("a"))).toMatchObject({ uid: 12345, gid: 54321 });
    expect(bench.tree()).toEqual({ a: "new", hard: "old", l: { link: "a" } });
  });

  test("nothing is written when nothing changes", async () => {
    using bench = new FilesFixture(backend, { a: "old" });
    const { ino, ctimeMs } = lstatSync(bench.at("a"));
    await update(bench, "a", (text) => text);
    expect(lstatSync(bench.at("a"))).toMatchObject({ ino, ctimeMs });
  });

  test("the new content may come in pieces, and the same ones change nothing", async () => {
    using bench = new FilesFixture(backend, { a: "one two three" });
    const split = (text: string) => text.split(/(?= )/).map((piece) => Buffer.from(piece));
    const put = (text: string) => bench.files.update("a", () => split(text), bench.call, { project: copied });
    const { after } = await put("one 2 three");
    expect([after.length, bench.text("a")]).toEqual([3, "one 2 three"]);
    const { ino } = lstatSync(bench.at("a"));
    await put("one 2 three");
    expect(lstatSync(bench.at("a")).ino).toBe(ino);
    for (const other of ["one 3 three", "one 2 three ", "one 2"]) await put(other);
    expect(bench.text("a")).toBe("one 2");
  });

  test("what cannot be updated is left as it is", async () => {
    using bench = new FilesFixture(backend, {
      a: "old",
      "read-only": "old",
      large: "x".repeat(1001),
      ".env": "password",
      "d/": null,
      out: { link: "../outside/secret.txt" },
      dangling: { link: "nothing" },
    });
    chmodSync(bench.at("read-only"), 0o444);
    const before = bench.snapshot();
    const expected = {
      "read-only": "permission",
      large: "too-large",
      ".env": "denied",
      d: "wrong-kind",
      ".": "wrong-kind",
      "a/": "missing",
      nothing: "missing",
      out: "outside",
      dangling: "outside",
    };
    for (const [path, why] of Object.entries(expected))
      expect([path, await reason(bench, path)]).toEqual([path, why]);
    expect(await reason(bench, "a", () => "x".repeat(1001))).toBe("too-large");
    const refusing = () => {
      throw refuse.emptyPattern();
    };
    expect(await reason(bench, "a", refusing)).toBe("bad-input");
    expect(bench.snapshot()).toEqual(before);
  });

  test("the largest file may be updated", async () => {
    using bench = new FilesFixture(backend, { a: "x".repeat(1000) });
    await update(bench, "a", () => "y".repeat(1000));
    expect(bench.text("a")).toBe("y".repeat(1000));
  });

  describe("a file that others change meanwhile", () => {
    test("is read again, once", async () => {
      using bench = new FilesFixture(backend, { a: "1" });
      const seen: string[] = [];
      await update(bench, "a", (text) => {
        if (seen.push(text) === 1) appendFileSync(bench.at("a"), "2");
        return `${text}+`;
      });
      expect(seen).toEqual(["1", "12"]);
      expect(bench.text("a")).toBe("12+");
    });

    test("is left to them when they do it again", async () => {
      using bench = new FilesFixture(backend, { a: "" });
      const change = (text: string) => {
        appendFileSync(bench.at("a"), "x");
        return `${text}+`;
      };
      expect(await reason(bench, "a", change)).toBe("io");
      expect(bench.tree()).toEqual({ a: "xx" });
    });

    test("is noticed when size and time were made to look the same", async () => {
      using bench = new FilesFixture(backend, { a: "1" });
      utimesSync(bench.at("a"), 1000, 1000);
      const seen: string[] = [];
      await update(bench, "a", (text) => {
        if (seen.push(text) === 1) {
          writeFileSync(bench.at("a"), "2");
          utimesSync(bench.at("a"), 1000, 1000);
        }
        return `${text}+`;
      });
      expect(bench.text("a")).toBe("2+");
    });

    test("is noticed when the stats tell nothing", async () => {
      using bench = new FilesFixture(backend, { a: "1" });
      const mapped = Bun.mmap(bench.at("a"), { shared: true });
      mapped[0] = 0x31; // The next store into the same page leaves no trace.
      const seen: string[] = [];
      await update(bench, "a", (text) => {
        if (seen.push(text) === 1) {
          const before = lstatSync(bench.at("a"), { bigint: true });
          mapped[0] = 0x32;
          expect(lstatSync(bench.at("a"), { bigint: true })).toEqual(before);
        }
        return `${text}+`;
      });
      expect(seen).toEqual(["1", "2"]);
      expect(bench.text("a")).toBe("2+");
    });

    test("is not made anew when it was removed", async () => {
      using bench = new FilesFixture(backend, { a: "1" });
      const removing = () => {
        rmSync(bench.at("a"), { force: true });
        return "new";
      };
      expect(await reason(bench, "a", removing)).toBe("missing");
      expect(bench.tree()).toEqual({});
    });

    test("is not followed when it became a link", async () => {
      using bench = new FilesFixture(backend, { a: "1" });
      const swapping = () => {
        rmSync(bench.at("a"), { force: true });
        bench.add({ a: { link: "../outside/secret.txt" } });
        return "new";
      };
      expect(await reason(bench, "a", swapping)).toBe("outside");
      expect(bench.text("../outside/secret.txt")).toBe("the outside secret");
    });
  });

  test("a large file is replaced as a small one is, and its old content may be told meanwhile", async () => {
    const [size, config] = [3_000_000, { max_write_bytes: 4_000_000 }];
    using bench = new FilesFixture(backend, { a: "x".repeat(size), b: "small" }, config);
    const result = await bench.files.update(
      "a",
      (before) => [before.subarray(0, 5), Buffer.from("new"), before.subarray(5)],
      bench.call,
      {
        // Another file must be read into different memory.
        project: ({ before, after }) => [
          bench.files.read("b", { key: "k", bytes: 9 }, String),
          before.length,
          after.length,
        ],
      },
    );
    expect(result).toEqual(["small", size, 3]);
    expect(bench.text("a")).toBe(`xxxxxnew${"x".repeat(size - 5)}`);
    expect(readdirSync(bench.base).sort()).toEqual(["a", "b"]);
  });

  test("what is told of a large file that others change meanwhile is forgotten", async () => {
    const config = { max_write_bytes: 4_000_000 };
    using bench = new FilesFixture(backend, { a: "x".repeat(3_000_000) }, config);
    let requested = 0;
    const result = await bench.files.update("a", (before) => [before, Buffer.from("+")], bench.call, {
      project({ before }) {
        if (requested++ === 0) appendFileSync(bench.at("a"), "y");
        return before.length;
      },
    });
    expect([requested, result]).toEqual([2, 3_000_001]);
    expect(bench.text("a").slice(-3)).toBe("xy+");
    expect(readdirSync(bench.base)).toEqual(["a"]);
  });

  test("a failure to tell comes after the write, and hides no other", async () => {
    const config = { max_write_bytes: 4_000_000 };
    using bench = new FilesFixture(backend, { a: "x".repeat(3_000_000) }, config);
    const failing = () => {
      throw new Error("cannot tell");
    };
    const update = () =>
      bench.files.update("a", () => Buffer.alloc(2_000_000, "y"), bench.call, { project: failing });
    await expect(update()).rejects.toThrow("cannot tell");
    expect(bench.text("a")).toBe("y".repeat(2_000_000));
    expect(readdirSync(bench.base)).toEqual(["a"]);
  });

  test("two thousand calls on one file, by several names, are all applied", async () => {
    using bench = new FilesFixture(backend, { "d/n": "0", l: { link: "d/n" } });
    const names = ["d/n", "l", "./d//n", "d/../d/n"];
    const increment = (text: string) => Promise.resolve(String(Number(text) + 1));
    await Promise.all(Array.from({ length: 2000 }, (_, i) => update(bench, names[i % 4]!, increment)));
    expect(bench.text("d/n")).toBe("2000");
  });

  test("with flushing the answer is the same, and no descriptor is left open", async () => {
    using bench = new FilesFixture(backend, { a: "old", "d/": null }, { fsync: true });
    await awaitDeferredCloses();
    const before = countDescriptorsBelow(bench.root);
    for (const path of ["a", "d", "nothing"]) await reason(bench, path);
    expect(await reason(bench, "a", () => Promise.reject(refuse.unexpected()))).toBe("io");
    await awaitDeferredCloses();
    expect(countDescriptorsBelow(bench.root)).toBe(before);
    expect(bench.text("a")).toBe("new");
  });
});
