/** Tests the entries that listeners see of each step: the one removed, and the one that replaces it. */
import { describe, expect, test } from "bun:test";
import { fstatSync, readSync } from "node:fs";
import type { Tree } from "../../../tests/harness/tree.ts";
import { FilesFixture } from "../files/files.test-kit.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { temporaryName } from "../jail/temporary.ts";
import type { HeldEntry, Mutation, MutationListener } from "./mutation.ts";

/** Notes a line for each end of each step. */
class Holder implements MutationListener {
  readonly lines: string[] = [];

  before({ kind, path, entries }: Mutation): void {
    if (entries === undefined) return;
    const ends = [textOf(entries.replaced()), textOf(entries.placed?.())];
    this.lines.push(`${kind} ${path}: ${ends.join(" to ")}`);
  }

  take(): string[] {
    return this.lines.splice(0);
  }
}

function textOf(entry: HeldEntry | undefined): string {
  if (entry === undefined) return "nothing";
  if (entry.kind === "symlink") return `link ${entry.linkText()}`;
  if (entry.kind === "dir") {
    const inside: string[] = [];
    for (const found of entry.inside())
      if (found !== undefined) inside.push(`${found.path}=${textOf(found.entry)}`);
    return `dir(${inside.join(" ")})`;
  }
  return `${entry.mode.toString(8)} ${entry.read((descriptor) => {
    const bytes = Buffer.alloc(fstatSync(descriptor).size);
    readSync(descriptor, bytes, 0, bytes.length, 0);
    return bytes;
  })}`;
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describe.each(backends)("%s", (backend) => {
  const open = (tree: Tree) => {
    const holder = new Holder();
    const bench = new FilesFixture(backend, tree, { listeners: [holder] });
    const { files, call } = bench;
    const take = () => {
      expect(bench.listenerErrors).toEqual([]);
      return holder.take();
    };
    return { files, call, take, [Symbol.dispose]: () => bench[Symbol.dispose]() };
  };

  test("files that are made and changed", async () => {
    using at = open({ l: { link: "f" } });
    const small = { mode: 0o640, overwrite: false, parents: true };
    await at.files.create("d/f", Buffer.from("a"), small, at.call);
    expect(at.take()).toEqual(["make-folder d: nothing to nothing", "create d/f: nothing to 640 a"]);
    await at.files.update("d/f", () => Buffer.from("b"), at.call);
    expect(at.take()).toEqual(["replace d/f: 640 a to 640 b"]);
    await at.files.store("d/f", pieces("c"), { mode: 0o600, parents: false }, at.call);
    expect(at.take()).toEqual(["replace d/f: 640 b to 600 c"]);
    await at.files.changeMode("d/f", { mode: 0, uid: undefined, gid: undefined, recursive: false }, at.call);
    expect(at.take()).toEqual([]);
  });

  test("names that change", async () => {
    using at = open({ f: "a", g: "b", "e/x": "c", l: { link: "f" } });
    const to = { overwrite: true, parents: false };
    await at.files.move({ from: "f", to: "g", ...to }, at.call);
    expect(at.take()).toEqual(["rename g: 644 b to 644 a"]);
    await at.files.move({ from: "e", to: "h", ...to, overwrite: false }, at.call);
    expect(at.take()).toEqual(["rename h: nothing to dir(x=644 c)"]);
  });

  test("copies", async () => {
    using at = open({ "d/e/x": "c", [`d/${temporaryName()}`]: "", "d/l": { link: "e/x" }, g: "b" });
    const to = { overwrite: true, parents: false };
    await at.files.copy({ from: "d", to: "c", ...to }, at.call);
    expect(at.take()).toEqual(["copy c: nothing to dir(e=dir(x=644 c) e/x=644 c l=link e/x)"]);
    await at.files.copy({ from: "d/l", to: "g", ...to }, at.call);
    expect(at.take()).toEqual(["replace g: 644 b to link e/x"]);
    await at.files.copy({ from: "d/l", to: "m", ...to }, at.call);
    expect(at.take()).toEqual(["create m: nothing to link e/x"]);
  });

  test("what goes", async () => {
    using at = open({ "d/x": "c", "d/l": { link: "x" }, [`d/${temporaryName()}`]: "" });
    await at.files.remove("d", { recursive: true }, at.call);
    expect(at.take().filter((line) => !line.includes(".coder-tmp-"))).toEqual([
      "remove d/l: link x to nothing",
      "remove d/x: 644 c to nothing",
      "remove d: dir() to nothing",
    ]);
  });
});
