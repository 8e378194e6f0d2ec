import { describe, expect, test } from "bun:test";
import { chmodSync, lstatSync } from "node:fs";
import { FilesFixture, reasonOf } from "../files/files.test-kit.ts";
import { nobody, unprivileged } from "../files/unprivileged.test-kit.ts";
import { backends } from "../jail/jail.test-kit.ts";

const isRoot = process.geteuid?.() === 0;

const options = { mode: 0o644, overwrite: false, parents: true };

describe.each(backends)("%s", (backend) => {
  const open = (tree: Record<string, string>) => {
    const bench = new FilesFixture(backend, tree);
    chmodSync(bench.root, 0o755);
    return bench;
  };

  test("a file without write permission is read-only for root and its owner, who can change that", async () => {
    using bench = open({ fixed: "text" });
    chmodSync(bench.at("fixed"), 0o444);
    const change = () => bench.files.update("fixed", () => Buffer.from("new"), bench.call);
    await expect(change()).rejects.toThrow('"fixed" is read-only (mode 0444). Nothing was changed.');
    expect(bench.text("fixed")).toBe("text");
  });

  test("what the system forbids is a refusal of its own, and nothing changes", async () => {
    using bench = open({
      unreadable: "text",
      "closed/a": "text",
      "fixed/a": "text",
      "fixed/d/b": "",
    });
    chmodSync(bench.at("unreadable"), 0);
    chmodSync(bench.at("closed"), 0);
    chmodSync(bench.at("fixed/d"), 0o555);
    chmodSync(bench.at("fixed"), 0o555);
    const before = bench.snapshot();
    const { files, call } = bench;
    const limit = { key: "max_read_bytes", bytes: 100 };
    const reasons = await unprivileged(async () => [
      await reasonOf(() => files.read("unreadable", limit, String)),
      await reasonOf(() => files.read("closed/a", limit, String)),
      await reasonOf(() => files.create("fixed/new", Buffer.from(""), options, call)),
      await reasonOf(() => files.create("fixed/x/new", Buffer.from(""), options, call)),
      await reasonOf(() => files.update("fixed/a", () => Buffer.from("new"), call)),
      await reasonOf(() => files.remove("fixed/a", { recursive: false }, call)),
      await reasonOf(() => files.remove("fixed/d", { recursive: true }, call)),
    ]);
    expect(reasons).toEqual(reasons.map(() => "permission"));
    expect(bench.snapshot()).toEqual(before);
    chmodSync(bench.at("closed"), 0o755);
    chmodSync(bench.at("fixed"), 0o755);
    chmodSync(bench.at("fixed/d"), 0o755);
  });

  test("a folder that may only be searched has files one can name and not list", async () => {
    using bench = open({ "d/a": "text" });
    chmodSync(bench.at("d"), 0o111);
    await unprivileged(async () => {
      expect(bench.files.read("d/a", { key: "max_read_bytes", bytes: 100 }, String)).toBe("text");
      using folder = bench.jailed.admitFolder("d");
      expect(await reasonOf(() => bench.files.list(folder, bench.pace))).toBe("permission");
    });
    chmodSync(bench.at("d"), 0o755);
  });

  test("a file one may not give away is ours, and its group gains nothing", async () => {
    using bench = open({ a: "old" });
    chmodSync(bench.base, 0o777);
    chmodSync(bench.at("a"), 0o676);
    await unprivileged(() => bench.files.update("a", () => Buffer.from("new"), bench.call));
    expect(bench.text("a")).toBe("new");
    expect(lstatSync(bench.at("a")).uid).toBe(isRoot ? nobody : process.geteuid!());
    expect(bench.mode("a")).toBe(isRoot ? 0o666 : 0o676);
  });
});
