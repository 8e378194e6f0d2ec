/** Tests which mutations a listener receives for each verb, on every backend. */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, lstatSync } from "node:fs";
import type { Tree } from "../../../tests/harness/tree.ts";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { FilesFixture, reasonOf } from "../files/files.test-kit.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { temporaryName } from "../jail/temporary.ts";
import type { Mutation, MutationListener } from "./mutation.ts";
import { Recorder } from "./recorder.test-kit.ts";

const sha = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** Reads both revisions before and after each step. */
class Hasher implements MutationListener {
  readonly revisions: (string | undefined)[][] = [];

  before(mutation: Mutation): void {
    this.revisions.push([mutation.path, mutation.revisionBefore(), mutation.revisionAfter()]);
  }

  after(mutation: Mutation): void {
    this.revisions.push([mutation.path, mutation.revisionBefore(), mutation.revisionAfter()]);
  }
}

const small = { mode: 0o644, overwrite: false, parents: false };
const owners = { uid: undefined, gid: undefined };

describe.each(backends)("%s", (backend) => {
  const open = (tree: Tree = {}) => {
    const recorder = new Recorder();
    const bench = new FilesFixture(backend, tree, { listeners: [recorder] });
    return {
      bench,
      files: bench.files,
      call: bench.call,
      recorder,
      [Symbol.dispose]: () => bench[Symbol.dispose](),
    };
  };

  test("a file is created, with the folders on the way first", async () => {
    using at = open();
    await at.files.create("a/b/f", Buffer.from("new"), { ...small, parents: true }, at.call);
    expect(at.recorder.take()).toEqual([
      "done make-folder dir a",
      "done make-folder dir a/b",
      "done create file a/b/f",
    ]);
    await at.files.create("a/b/f", Buffer.from("newer"), { ...small, overwrite: true }, at.call);
    expect(at.recorder.take()).toEqual(["done replace file a/b/f"]);
    await at.files.create("g", Buffer.from(""), { ...small, overwrite: true }, at.call);
    expect(at.recorder.take()).toEqual(["done create file g"]);
  });

  test("of a file that is not created its folders go again", async () => {
    using at = open({ "d/": null });
    const late = deadlineIn(0);
    const check = () => existsSync(at.bench.at("d/x/y")) && late.check();
    const call = { deadline: { ...late, signal: late.signal, check } };
    const create = () => at.files.create("d/x/y/f", Buffer.from(""), { ...small, parents: true }, call);
    expect(await reasonOf(create)).toBe("timeout");
    expect(at.recorder.take()).toEqual([
      "done make-folder dir d/x",
      "done make-folder dir d/x/y",
      "done remove dir d/x/y",
      "done remove dir d/x",
    ]);
    expect(at.bench.tree()).toEqual({ "d/": null });
  });

  test("an update is one replacement, and none when nothing changes or a rule forbids it", async () => {
    using at = open({ f: "old", l: { link: "f" }, ".env": "" });
    const update = (path: string, text: string) => at.files.update(path, () => Buffer.from(text), at.call);
    await update("l", "new");
    expect(at.recorder.take()).toEqual(["done replace file f"]);
    await update("f", "new");
    await reasonOf(() => update(".env", "new"));
    await reasonOf(() => update("missing", "new"));
    expect(at.recorder.take()).toEqual([]);
  });

  test("an update whose file others change meanwhile fails, and is tried again", async () => {
    using at = open({ f: "old" });
    let tries = 0;
    await at.files.update(
      "f",
      (before) => {
        if (++tries === 1) at.bench.add({ f: "theirs" });
        return Buffer.concat([before, Buffer.from(" and ours")]);
      },
      at.call,
    );
    expect(at.recorder.take()).toEqual(["failed replace file f", "done replace file f"]);
    expect(at.bench.text("f")).toBe("theirs and ours");
  });

  test("what is stored is created or replaced", async () => {
    using at = open();
    const options = { mode: undefined, parents: true };
    await at.files.store("d/f", pieces("a", "b"), options, at.call);
    await at.files.store("d/f", pieces("c"), options, at.call);
    expect(at.recorder.take()).toEqual([
      "done make-folder dir d",
      "done create file d/f",
      "done replace file d/f",
    ]);
  });

  test("files, links and empty folders are removed in one step", async () => {
    using at = open({ f: "", "d/": null, l: { link: "f" } });
    await at.files.remove("l", { recursive: false }, at.call);
    await at.files.remove("d", { recursive: false }, at.call);
    await at.files.unlink("f", { recursive: false }, at.call);
    await at.files.remove("f", { recursive: false }, at.call);
    expect(at.recorder.take()).toEqual(["done remove symlink l", "done remove dir d", "done remove file f"]);
  });

  test("a tree that is removed is one mutation with a step for each name, its own last", async () => {
    using at = open({ "d/e/f": "1", "d/g": "2", "d/l": { link: "g" } });
    await at.files.remove("d", { recursive: true }, at.call);
    const lines = at.recorder.take();
    expect([...lines].sort()).toEqual([
      "done remove dir d",
      "done remove dir d in d",
      "done remove dir d/e in d",
      "done remove file d/e/f in d",
      "done remove file d/g in d",
      "done remove symlink d/l in d",
    ]);
    expect(lines.slice(-2)).toEqual(["done remove dir d in d", "done remove dir d"]);
    expect(lines.indexOf("done remove file d/e/f in d")).toBeLessThan(
      lines.indexOf("done remove dir d/e in d"),
    );
    const [whole, ...steps] = at.recorder.mutations;
    expect(new Set(steps.map((step) => step.whole))).toEqual(new Set([whole!]));
  });

  test("of a tree that is left nothing is heard, and of one that goes in part what went", async () => {
    using at = open({ "d/.env": "", "d/f": "" });
    expect(await reasonOf(() => at.files.remove("d", { recursive: true }, at.call))).toBe("denied");
    expect(at.recorder.take()).toEqual([]);
    const planting: MutationListener = {
      before: ({ path }) => path === "t/a/f" && bench.add({ "t/a/g": "" }),
    };
    const recorder = new Recorder();
    using bench = new FilesFixture(backend, { "t/a/f": "" }, { listeners: [recorder, planting] });
    expect(await reasonOf(() => bench.files.remove("t", { recursive: true }, bench.call))).toBe("not-empty");
    expect(recorder.take()).toEqual([
      "done remove file t/a/f in t",
      "failed remove dir t/a in t",
      "failed remove dir t",
    ]);
  });

  test("a rename is one step, whatever is renamed", async () => {
    using at = open({ f: "", "d/x": "", l: { link: "f" }, g: "" });
    await at.files.rename({ from: "d", to: "e", overwrite: false }, at.call);
    await at.files.rename({ from: "l", to: "m", overwrite: false }, at.call);
    await at.files.rename({ from: "f", to: "h", overwrite: false }, at.call);
    await at.files.rename({ from: "h", to: "g", overwrite: true }, at.call);
    expect(at.recorder.take()).toEqual([
      "done rename dir d to e",
      "done rename symlink l to m",
      "done rename file f to h",
      "done rename file h to g",
    ]);
  });

  test("a rename into another folder is one mutation, where need be of two steps", async () => {
    using at = open({ f: "text", "d/": null });
    await at.files.rename({ from: "f", to: "d/f", overwrite: false }, at.call);
    expect(at.recorder.take()).toEqual(
      backend === "current-directory"
        ? [
            "failed rename file f to d/f",
            "done create file d/f in d/f",
            "done remove file f in d/f",
            "done rename file f to d/f",
          ]
        : ["done rename file f to d/f"],
    );
  });

  test("a folder is made once", async () => {
    using at = open();
    await at.files.makeFolder("a/b", { mode: 0o750, parents: true }, at.call);
    await at.files.makeFolder("a/b", { mode: 0o750, parents: true }, at.call);
    expect(at.recorder.take()).toEqual(["done make-folder dir a", "done make-folder dir a/b"]);
  });

  test("a change of mode says what was and what is, of a tree step by step", async () => {
    using at = open({ "d/f": "", "d/l": { link: "f" }, g: "" });
    const old = at.bench.mode("g");
    await at.files.changeMode("g", { mode: 0o600, ...owners, recursive: false }, at.call);
    const { uid, gid } = lstatSync(at.bench.at("g"));
    expect(at.recorder.mutations[0]?.permissions).toEqual({
      before: { mode: old, uid, gid },
      after: { mode: 0o600, ...owners },
    });
    await at.files.changeMode("d", { mode: 0o700, ...owners, recursive: true }, at.call);
    expect(at.recorder.take()).toEqual([
      "done change-mode file g",
      "done change-mode file d/f in d",
      "done change-mode dir d in d",
      "done change-mode dir d",
    ]);
  });

  test("a temporary file is swept by nobody, whoever meets it", async () => {
    const left = () => temporaryName().replace(/-[0-9a-z]+-([0-9a-f]{16})$/, "-1-$1");
    using at = open({ [`d/${left()}`]: "", [`e/${left()}`]: "", [left()]: "" });
    using folder = at.bench.jailed.admitFolder("d");
    await at.files.list(folder, at.bench.pace);
    await at.files.sweep();
    const heard = at.recorder.mutations.map(({ kind, entry, requester }) => [kind, entry, requester]);
    expect(heard).toEqual([
      ["sweep", "file", undefined],
      ["sweep", "file", undefined],
      ["sweep", "file", undefined],
    ]);
    expect(at.recorder.take()).toHaveLength(3);
  });

  test("everything that a call changes names the call", async () => {
    using at = open({ "d/f": "" });
    await at.files.create("a/b", Buffer.from(""), { ...small, parents: true }, at.call);
    await at.files.remove("d", { recursive: true }, at.call);
    expect(new Set(at.recorder.mutations.map(({ requester }) => requester))).toEqual(new Set([at.call]));
  });

  test("revisions are those of the bytes before and after", async () => {
    const hasher = new Hasher();
    using bench = new FilesFixture(backend, { "d/f": "old" }, { listeners: [hasher] });
    const { files, call } = bench;
    const heard = () => hasher.revisions.splice(0);
    await files.update("d/f", () => Buffer.from("new"), call);
    const updated = ["d/f", sha("old"), sha("new")];
    expect(heard()).toEqual([updated, updated]);
    await files.store("d/f", pieces("x".repeat(300_000), "y"), { mode: undefined, parents: false }, call);
    const stored = ["d/f", sha("new"), sha(`${"x".repeat(300_000)}y`)];
    expect(heard()).toEqual([stored, stored]);
    await files.rename({ from: "d/f", to: "d/g", overwrite: false }, call);
    expect(heard()[0]).toEqual(["d/g", stored[2], undefined]);
    await files.remove("d", { recursive: true }, call);
    const gone = ["d/g", stored[2], undefined];
    const folder = ["d", undefined, undefined];
    expect(heard()).toEqual([folder, gone, gone, folder, folder, folder]);
    await files.create("n", Buffer.from("n"), small, call);
    const made = ["n", undefined, sha("n")];
    expect(heard()).toEqual([made, made]);
    expect(bench.listenerErrors).toEqual([]);
  });

  test("a revision that nobody asked for in time is not made up", async () => {
    let kept: Mutation | undefined;
    const listener: MutationListener = {
      after(mutation) {
        kept = mutation;
      },
    };
    using bench = new FilesFixture(backend, { f: "old" }, { listeners: [listener] });
    await bench.files.update("f", () => Buffer.from("new"), bench.call);
    expect([kept?.revisionBefore(), kept?.revisionAfter()]).toEqual([undefined, undefined]);
  });

  test("what a listener throws is reported and changes nothing, and the others hear all", async () => {
    const recorder = new Recorder();
    const throwing: MutationListener = {
      before: () => {
        throw new Error("before");
      },
      after: () => {
        throw new Error("after");
      },
    };
    using bench = new FilesFixture(backend, { f: "" }, { listeners: [throwing, recorder] });
    await bench.files.update("f", () => Buffer.from("new"), bench.call);
    await bench.files.remove("f", { recursive: false }, bench.call);
    expect(existsSync(bench.at("f"))).toBe(false);
    expect(recorder.take()).toEqual(["done replace file f", "done remove file f"]);
    expect(bench.listenerErrors.map(String)).toEqual([
      "Error: before",
      "Error: after",
      "Error: before",
      "Error: after",
    ]);
  });
});
