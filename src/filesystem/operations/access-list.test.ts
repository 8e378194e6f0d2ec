/**
 * Tests that rights never grow when a file is replaced: the new file gets the access control list of the old
 * one.
 */
import { describe, expect, test } from "bun:test";
import { chmodSync, readdirSync } from "node:fs";
import { openLibc } from "../../base/bun.ts";
import { FilesFixture } from "../files/files.test-kit.ts";
import { backends } from "../jail/jail.test-kit.ts";

interface Libc {
  setxattr(path: Uint8Array, name: Uint8Array, value: Uint8Array, size: number, flags: number): number;
  getxattr(path: Uint8Array, name: Uint8Array, value: Uint8Array, size: number): number;
}

const libc = openLibc<Libc>({
  setxattr: { args: ["ptr", "ptr", "ptr", "u64", "i32"], returns: "i32" },
  getxattr: { args: ["ptr", "ptr", "ptr", "u64"], returns: "i64_fast" },
})!;

const text = (word: string) => Buffer.from(`${word}\0`);

function setAttribute(path: string, name: string, value: Buffer): void {
  if (libc.setxattr(text(path), text(name), value, value.length, 0) !== 0)
    throw new Error(`${name} cannot be set on ${path}`);
}

/** Returns an attribute in hexadecimal digits, so that it can be compared in one line. */
function attribute(path: string, name: string): string | undefined {
  const value = Buffer.alloc(4000);
  const length = libc.getxattr(text(path), text(name), value, value.length);
  return length < 0 ? undefined : value.toString("hex", 0, length);
}

const hex = (bytes: Buffer) => bytes.toString("hex");

const [access, byDefault] = ["system.posix_acl_access", "system.posix_acl_default"];

/** Parses a list in the form of getfacl(1), such as `u::rw- u:1001:r-- g::--- m::rw- o::---`. */
function list(shown: string): Buffer {
  const numbers: Record<string, number> = { "u:": 1, u: 2, "g:": 4, g: 8, "m:": 16, "o:": 32 };
  const entries = shown.split(" ").map((entry) => {
    const [, tag, id, bits] = /^([ugmo]):(\d*):([-rwx]{3})$/.exec(entry)!;
    const bytes = Buffer.alloc(8);
    bytes.writeUInt16LE(numbers[id === "" ? `${tag}:` : tag!]!, 0);
    bytes.writeUInt16LE(
      [..."rwx"].reduce((sum, bit, i) => sum + (bits![i] === bit ? 4 >> i : 0), 0),
      2,
    );
    bytes.writeUInt32LE(id === "" ? 0xffffffff : Number(id), 4);
    return bytes;
  });
  return Buffer.concat([Buffer.from([2, 0, 0, 0]), ...entries]);
}

const closed = list("u::rw- u:1001:rw- g::--- m::rw- o::---");

describe.each(backends)("%s", (backend) => {
  async function* content(words: string) {
    yield Buffer.from(words);
  }

  const verbs: Record<string, (bench: FilesFixture, mode?: number) => Promise<unknown>> = {
    update: ({ files, call }) => files.update("f", () => Buffer.from("new"), call),
    create: ({ files, call }, mode = 0o660) =>
      files.create("f", Buffer.from("new"), { mode, overwrite: true, parents: false }, call),
    store: ({ files, call }, mode) => files.store("f", content("new"), { mode, parents: false }, call),
  };

  describe.each(Object.entries(verbs))("%s", (_, replace) => {
    test("keeps the list, and what people noted about the file", async () => {
      using bench = new FilesFixture(backend, { f: "old" });
      setAttribute(bench.at("f"), access, closed);
      setAttribute(bench.at("f"), "user.note", Buffer.from("ours"));
      await replace(bench);
      expect(bench.text("f")).toBe("new");
      expect(attribute(bench.at("f"), access)).toBe(hex(closed));
      expect(attribute(bench.at("f"), "user.note")).toBe(hex(Buffer.from("ours")));
      expect(bench.mode("f")).toBe(0o660);
    });

    test("keeps attributes with long values and long names", async () => {
      using bench = new FilesFixture(backend, { f: "old" });
      const value = Buffer.alloc(1500, "long");
      const names = ["user.long", ...["a", "b", "c", "d", "e"].map((name) => `user.${name.repeat(240)}`)];
      for (const name of names) setAttribute(bench.at("f"), name, name === "user.long" ? value : text("1"));
      await replace(bench);
      expect(names.map((name) => attribute(bench.at("f"), name))).toEqual([
        hex(value),
        ...names.slice(1).map(() => hex(text("1"))),
      ]);
    });

    test("gives a file without a list none of what its folder hands down", async () => {
      using bench = new FilesFixture(backend, { f: "old" });
      chmodSync(bench.at("f"), 0o660);
      setAttribute(bench.base, byDefault, list("u::rwx u:1001:rwx g::rwx m::rwx o::---"));
      await replace(bench);
      expect(attribute(bench.at("f"), access)).toBeUndefined();
      expect(bench.mode("f")).toBe(0o660);
    });
  });

  test.each(["create", "store"])(
    "%s: a mode that is asked for bounds the list and opens nothing",
    async (verb) => {
      using bench = new FilesFixture(backend, { f: "old" });
      setAttribute(bench.at("f"), access, closed);
      await verbs[verb]!(bench, 0o644);
      expect(attribute(bench.at("f"), access)).toBe(hex(list("u::rw- u:1001:rw- g::--- m::r-- o::r--")));
      expect(bench.mode("f")).toBe(0o644);
    },
  );

  test("a new file gets what its folder hands down", async () => {
    using bench = new FilesFixture(backend);
    setAttribute(bench.base, byDefault, list("u::rwx u:1001:rwx g::r-x m::rwx o::---"));
    await verbs["create"]!(bench, 0o640);
    expect(attribute(bench.at("f"), access)).toBe(hex(list("u::rw- u:1001:rwx g::r-x m::r-- o::---")));
    expect(bench.mode("f")).toBe(0o640);
  });

  test("until it has its name and list, nobody else may open it", async () => {
    using bench = new FilesFixture(backend, { f: "old" });
    setAttribute(bench.base, byDefault, list("u::rwx u:1001:rwx g::rwx m::rwx o::rwx"));
    const seen: (string | undefined)[] = [];
    async function* slowly() {
      yield Buffer.from("new");
      const [temporary] = readdirSync(bench.base).filter((name) => name !== "f");
      seen.push(attribute(bench.at(temporary!), access));
    }
    await bench.files.store("f", slowly(), { mode: undefined, parents: false }, bench.call);
    expect(seen).toEqual([hex(list("u::rw- u:1001:rwx g::rwx m::--- o::---"))]);
  });
});
