import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import type { MutationListener } from "../disk/mutation.ts";
import { FilesFixture, reasonOf } from "../files/files.test-kit.ts";
import { backends, countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import { temporaryName } from "../jail/temporary.ts";
import { requireNothingDenied } from "./require-allowed.ts";

describe.each(backends)("%s", (backend) => {
  const remove = (bench: FilesFixture, path: string, recursive = false) =>
    bench.files.remove(path, { recursive }, bench.call);
  const reason = (bench: FilesFixture, path: string, recursive = false) =>
    reasonOf(() => remove(bench, path, recursive));

  test("files, links, empty folders and special files are removed", async () => {
    using bench = new FilesFixture(backend, {
      a: "",
      "d/": null,
      "e/": null,
      kept: "",
      l: { link: "kept" },
      "l-folder": { link: "d2" },
      "d2/kept": "",
    });
    Bun.spawnSync(["mkfifo", bench.at("fifo")]);
    for (const path of ["a", "d", "e/", "l", "l-folder", "fifo"])
      expect([path, await remove(bench, path)]).toEqual([path, true]);
    expect(bench.tree()).toEqual({ kept: "", "d2/": null, "d2/kept": "" });
  });

  test("a link to a folder is removed as a link, recursively too", async () => {
    using bench = new FilesFixture(backend, { l: { link: "d" }, "d/kept": "" });
    expect(await remove(bench, "l", true)).toBe(true);
    expect(bench.tree()).toEqual({ "d/": null, "d/kept": "" });
  });

  test("a folder that another program fills again is emptied, and said to be in use", async () => {
    const listener: MutationListener = {
      before: ({ path }) => path === "d/a" && writeFileSync(bench.at("d/theirs"), ""),
      after: () => undefined,
    };
    using bench = new FilesFixture(backend, { "d/a": "", "d/e/b": "" }, { listeners: [listener] });
    const removal = remove(bench, "d", true);
    expect(await removal.catch((error: Error) => error.message)).toContain("was emptied and not removed");
    expect(bench.tree()).toEqual({ "d/": null, "d/theirs": "" });
  });

  test("what is missing is no error", async () => {
    using bench = new FilesFixture(backend, { a: "" });
    for (const path of ["nothing", "nothing/x", "a/x", "a/", "x\\y"])
      expect(await remove(bench, path, true)).toBe(false);
  });

  test("a refusal leaves everything", async () => {
    using bench = new FilesFixture(backend, {
      "d/kept": "",
      ".env": "",
      "project/deep/secrets/key": "",
      "project/a": "",
      out: { link: "../outside" },
      "out-file": { link: "../outside/secret.txt" },
      dangling: { link: "nothing" },
      "to-denied": { link: ".env" },
    });
    const before = bench.snapshot();
    const expected: [string, boolean, string][] = [
      ["d", false, "not-empty"],
      [".", true, "bad-input"],
      ["d/..", true, "bad-input"],
      ["..", true, "outside"],
      [".env", false, "denied"],
      ["no/.env", false, "denied"],
      ["to-denied", false, "denied"],
      ["project", true, "denied"],
      ["project/deep/secrets", true, "denied"],
      ["out", true, "outside"],
      ["out/secret.txt", false, "outside"],
      ["out-file", false, "outside"],
      ["dangling", false, "outside"],
    ];
    for (const [path, recursive, why] of expected) {
      expect([path, await reason(bench, path, recursive)]).toEqual([path, why]);
    }
    expect(bench.snapshot()).toEqual(before);
  });

  test("a link that leads anywhere is removed if that is allowed, and only by its own name", async () => {
    const links = {
      out: { link: "../outside" },
      "out-file": { link: "../outside/secret.txt" },
      dangling: { link: "nothing" },
      loop: { link: "loop" },
      "to-denied": { link: ".env" },
      "d/up": { link: "../../outside" },
    };
    using bench = new FilesFixture(backend, { ...links, ".env": "kept" });
    const outside = readFileSync(join(bench.root, "outside/secret.txt"), "utf8");
    const options = { recursive: true, linkMayLeadAnywhere: true };
    for (const path of ["out/", "dangling/", "out/secret.txt", "d/up/secret.txt", ".env"])
      expect(await reasonOf(() => bench.files.remove(path, options, bench.call))).toBe(
        path === ".env" ? "denied" : "outside",
      );
    for (const path of Object.keys(links)) {
      expect(await bench.files.remove(path, options, bench.call)).toBe(true);
      expect(await bench.files.remove(path, options, bench.call)).toBe(false);
    }
    expect(bench.tree()).toEqual({ ".env": "kept", "d/": null });
    expect(readFileSync(join(bench.root, "outside/secret.txt"), "utf8")).toBe(outside);
  });

  test("a tree is removed with everything in it, and nothing that its links lead to", async () => {
    using bench = new FilesFixture(backend, {
      "tree/a/b/c": "",
      "tree/out": { link: "../../outside" },
      "tree/a/out-file": { link: "../../../outside/secret.txt" },
      "tree/a/kept": { link: "../../kept" },
      kept: "",
      [`tree/${temporaryName()}`]: "",
    });
    Bun.spawnSync(["mkfifo", bench.at("tree/fifo")]);
    const outside = bench.outside();
    expect(await remove(bench, "tree", true)).toBe(true);
    expect(bench.tree()).toEqual({ kept: "" });
    expect(bench.outside()).toEqual(outside);
  });

  test("a folder that only holds what a killed process left is empty", async () => {
    using bench = new FilesFixture(backend, { "d/": null, "busy/": null });
    const alive = temporaryName();
    const dead = alive.replace(/-[0-9a-z]+-([0-9a-f]{16})$/, "-1-$1");
    bench.add({ [`d/${dead}`]: "", [`busy/${alive}`]: "" });
    expect(await remove(bench, "d")).toBe(true);
    expect(await reason(bench, "busy")).toBe("not-empty");
  });

  test("names that are not UTF-8 are removed", async () => {
    using bench = new FilesFixture(backend, { "d/": null });
    writeFileSync(Buffer.concat([Buffer.from(`${bench.at("d")}/`), Buffer.from([0xff])]), "");
    expect(await remove(bench, "d", true)).toBe(true);
  });

  test("a tree of 300 levels is refused whole, and no deeper than the system is asked to go", async () => {
    using bench = new FilesFixture(backend, { "deep/a": "" });
    const deepest = Array.from({ length: 300 }, () => "d").join("/");
    mkdirSync(bench.at(`deep/${deepest}`), { recursive: true });
    const before = countDescriptorsBelow(bench.root);
    expect(await reason(bench, "deep", true)).toBe("io");
    expect(bench.text("deep/a")).toBe("");
    expect(countDescriptorsBelow(bench.root)).toBe(before);
  });

  test("where mounts are not listed, a folder on another device keeps all of them", async () => {
    using bench = new FilesFixture(backend, { "d/e/f": "" });
    using folder = bench.jailed.admitFolder("d");
    const { dev: device } = folder.lstat(".");
    const operation = { jail: bench.jailed, path: "d", ...bench.pace };
    expect(await reasonOf(() => requireNothingDenied({ ...operation, device }, folder))).toBe("done");
    expect(await reasonOf(() => requireNothingDenied({ ...operation, device: device + 1 }, folder))).toBe(
      "io",
    );
  });

  test("a removal ends when its time is up", async () => {
    using bench = new FilesFixture(backend);
    for (let i = 0; i < 600; i++) bench.add({ [`d/${i}`]: "" });
    const late = deadlineIn(0);
    let checks = 0;
    const slow = { ...late, signal: late.signal, check: () => (++checks > 2 ? late.check() : undefined) };
    expect(await reasonOf(() => bench.files.remove("d", { recursive: true }, { deadline: slow }))).toBe(
      "timeout",
    );
    expect(Object.keys(bench.tree())).toHaveLength(601);
  });

  test("a removal that ends in the middle says that its steps stay", async () => {
    using bench = new FilesFixture(backend);
    for (let i = 0; i < 600; i++) bench.add({ [`d/${i}`]: "" });
    const late = deadlineIn(0);
    const isBegun = () => Object.keys(bench.tree()).length < 601;
    const slow = { ...late, signal: late.signal, check: () => (isBegun() ? late.check() : undefined) };
    const removing = bench.files.remove("d", { recursive: true }, { deadline: slow });
    await expect(removing).rejects.toThrow(
      "stopped in the middle. What it had changed by then stays changed",
    );
    expect(isBegun()).toBe(true);
    expect(bench.tree()).not.toEqual({});
  });

  test("what others remove meanwhile is no error", async () => {
    using bench = new FilesFixture(backend, { "d/z/a": "" });
    for (let i = 0; i < 600; i++) bench.add({ [`d/${i}`]: "" });
    let checks = 0;
    const removing = {
      ...bench.deadline,
      signal: bench.deadline.signal,
      check: () => {
        if (++checks === 5)
          for (const path of ["599", "z"]) rmSync(bench.at(`d/${path}`), { recursive: true });
      },
    };
    expect(await bench.files.remove("d", { recursive: true }, { deadline: removing })).toBe(true);
    expect(bench.tree()).toEqual({});
  });

  test("what is denied and appears during a removal stays", async () => {
    using bench = new FilesFixture(backend, { "d/z/a": "" });
    for (let i = 0; i < 600; i++) bench.add({ [`d/${i}`]: "" });
    let checks = 0;
    const planting = {
      ...bench.deadline,
      signal: bench.deadline.signal,
      check: () => {
        if (++checks === 5) bench.add({ "d/z/.env": "password" });
      },
    };
    expect(await reasonOf(() => bench.files.remove("d", { recursive: true }, { deadline: planting }))).toBe(
      "denied",
    );
    expect(bench.text("d/z/.env")).toBe("password");
  });

  test("no descriptor is left open", async () => {
    using bench = new FilesFixture(backend, { "a/b/c": "", "x/.env": "", "d/e": "" });
    const before = countDescriptorsBelow(bench.root);
    for (const path of ["a", "x", "d", "nothing", "."]) await reason(bench, path, path !== "d");
    expect(countDescriptorsBelow(bench.root)).toBe(before);
  });
});

test("a folder whose name is not UTF-8 is removed by its bytes, where folders are held by descriptors", async () => {
  for (const backend of backends.filter((name) => name !== "current-directory")) {
    using bench = new FilesFixture(backend, { "d/": null });
    mkdirSync(Buffer.concat([Buffer.from(`${bench.at("d")}/`), Buffer.from([0xff])]));
    expect(await bench.files.remove("d", { recursive: true }, bench.call)).toBe(true);
  }
});
