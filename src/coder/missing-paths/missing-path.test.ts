/** Tests what the error of a missing path says of the calls that deleted it. */
import { expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { refuse } from "../../base/errors.ts";
import type { OnDirent } from "../../filesystem/jail/dirents.ts";
import type { Folder, Jail } from "../../filesystem/jail/folder.ts";
import type { WatchedTree } from "../../filesystem/watch/watched-tree.ts";
import { SessionsFixture } from "../sessions.test-kit.ts";
import { explainAbsence } from "./missing-path.ts";

function open() {
  const fixture = new SessionsFixture();
  const calls = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  const create = (path: string) => calls.call("coder::create-file", { path, content: `${path}\n` });
  const fateOf = async (path: string) => {
    const { message } = await calls.call("coder::read-file", { path }).then(
      () => ({ message: "no error" }),
      (error: Error) => JSON.parse(error.message) as { message: string },
    );
    return /It was .*?\.(?= |$)/.exec(message)?.[0];
  };
  return { fixture, create, fateOf, ...calls };
}

test("a deletion that was undone is not the reason why a path is missing", async () => {
  const { fixture, create, fateOf, call } = open();
  await using _ = fixture;
  await create("a.txt");
  await call("coder::delete-file", { paths: ["a.txt"] });
  expect(await fateOf("a.txt")).toBe('It was deleted by #2; coder::undo {"seq":2} brings it back.');
  await call("coder::undo", { seq: 2 });
  renameSync(fixture.at("a.txt"), fixture.at("b.txt"));
  expect(await fateOf("a.txt")).toBe(
    "It was deleted by #2, was there again after #3, and a change without a checkpoint has removed it since.",
  );
});

test("a file that a call created again, and another program deleted, is not that of the deletion", async () => {
  const { fixture, create, fateOf, call } = open();
  await using _ = fixture;
  await create("d/a.txt");
  await call("coder::delete-file", { paths: ["d"], recursive: true });
  await create("d/a.txt");
  rmSync(fixture.at("d"), { recursive: true });
  expect(await fateOf("d/a.txt")).toBe(
    "It was deleted by #2, was there again after #3, and a change without a checkpoint has removed it since.",
  );
});

test("a name that is not UTF-8 is not said to be gone, but to be out of reach", async () => {
  const { fixture, call, text } = open();
  await using _ = fixture;
  const name = Buffer.concat([Buffer.from(fixture.at("d/a")), Buffer.from([0xff])]);
  const make = () => {
    mkdirSync(fixture.at("d"));
    writeFileSync(name, "");
  };
  make();
  await call("coder::delete-file", { paths: ["d"], recursive: true });
  make();
  await expect(call("coder::read-file", { path: "d/a\ufffd" })).rejects.toThrow(
    "is not found, or the configuration denies it. If its name is not UTF-8, no call can name it: move, copy or delete its folder,",
  );
  expect(await text("coder::delete-file", { paths: ["d/a\ufffd"] })).toBe(
    "d/a\ufffd: was not there (if its name is not UTF-8, only its folder can be deleted)",
  );
});

test("the advice is an undo of that path alone, and only if it does not conflict", async () => {
  const { fixture, create, fateOf, call, text } = open();
  await using _ = fixture;
  await create("d/a.txt");
  await create("b.txt");
  await create("e/c.txt");
  await call("coder::delete-file", { paths: ["d", "b.txt", "e/c.txt"], recursive: true });
  writeFileSync(fixture.at("b.txt"), "new\n");
  expect(await fateOf("d/a.txt")).toBe(
    'It was deleted by #4; coder::undo {"seq":4,"paths":["d"]} brings it back.',
  );
  rmSync(fixture.at("e"), { recursive: true });
  expect(await fateOf("e/c.txt")).toBe("It was deleted by #4.");
  expect(await text("coder::undo", { seq: 4, paths: ["d"] })).toStartWith("#4\n  restored: d\n");
  rmSync(fixture.at("d"), { recursive: true });
  mkdirSync(fixture.at("d"));
  expect(await fateOf("d/a.txt")).toBe(
    "It was deleted by #4, was there again after #5, and a change without a checkpoint has removed it since.",
  );
});

test("the undo of a deletion is said to bring back the path that it does", async () => {
  const { fixture, create, fateOf, call } = open();
  await using _ = fixture;
  await create("a.txt");
  await call("coder::move", { from: "a.txt", to: "b.txt" });
  await call("coder::delete-file", { paths: ["b.txt"] });
  expect(await fateOf("a.txt")).toBe(
    'It was moved by #2, and deleted by #3; coder::undo {"seq":3} brings b.txt back.',
  );
  const changes = [
    { op: "move", from: "c.txt", to: "d/c.txt" },
    { op: "delete", path: "d", recursive: true },
  ];
  await create("c.txt");
  await create("d/e.txt");
  await call("coder::transact", { changes });
  expect(await fateOf("c.txt")).toBe("It was deleted by #6.");
});

test("records with thousands of paths are left out, and what older ones say is not said then", async () => {
  const { fixture, create, fateOf, call } = open();
  await using _ = fixture;
  const copy = (files: number) => {
    mkdirSync(fixture.at(`of-${files}`));
    for (let index = 0; index < files; index++) writeFileSync(fixture.at(`of-${files}/${index}`), "");
    return call("coder::copy", { from: `of-${files}`, to: `to-${files}` });
  };
  await create("a.txt");
  await call("coder::delete-file", { paths: ["a.txt"] });
  await copy(1000);
  expect(await fateOf("a.txt")).toBe('It was deleted by #2; coder::undo {"seq":2} brings it back.');
  await copy(2000);
  expect(await fateOf("a.txt")).toBeUndefined();
  await create("b.txt");
  await call("coder::delete-file", { paths: ["b.txt"] });
  expect(await fateOf("b.txt")).toBe('It was deleted by #6; coder::undo {"seq":6} brings it back.');
});

test("one path costs a bounded number of lists and of names, however many look alike", async () => {
  const { fixture } = open();
  await using _ = fixture;
  const levels = 9;
  // Each folder has two spellings of one name.
  const nest = (folder: string, level: number) => {
    for (const name of level === 0 ? [] : ["a", "A"]) {
      mkdirSync(`${folder}/${name}`);
      nest(`${folder}/${name}`, level - 1);
    }
  };
  nest(fixture.base, levels);
  const { jail, defaultExcludes } = await fixture.runtime;
  const counted = { lists: 0, names: 0 };
  const seen: Jail = {
    ...jail,
    denies(names) {
      counted.names++;
      return jail.denies(names);
    },
    fromBase: () => ({
      ...jail.fromBase(),
      admitFolder(path) {
        counted.lists++;
        return jail.admitFolder(path);
      },
    }),
  };
  const folders = Array.from({ length: 5000 }, (_, index) => ({ keys: ["x.js"], entries: [index] }));
  const keys = folders.map((_, index) => `${index}/`).sort();
  const tree = { base: { keys, entries: folders } } as unknown as WatchedTree;
  explainAbsence(refuse.absent(`${"a/".repeat(levels)}x.js`, "missing"), {
    ...{ jail: seen, journal: undefined, defaultExcludes },
    listedTrees: () => [{ name: "", tree }],
  });
  expect(counted.lists).toBeWithin(levels, 600);
  expect(counted.names).toBeWithin(6, 2000);
});

test("long names that are hard to fold take more room, and the trees of all roots share theirs", async () => {
  const { fixture } = open();
  await using _ = fixture;
  const { jail, defaultExcludes } = await fixture.runtime;
  const counted = { names: 0, folders: 0 };
  const name = Buffer.from("ü".repeat(100));
  const folder = {
    *list(onDirent: OnDirent) {
      for (; counted.names < 20_000; counted.names++) {
        onDirent(name, 0, name.length, "file");
        yield;
      }
    },
    [Symbol.dispose]() {},
  };
  const seen: Jail = {
    ...jail,
    fromBase: () => ({ ...jail.fromBase(), admitFolder: () => folder as unknown as Folder }),
  };
  const empty = {
    entries: [],
    get keys() {
      counted.folders++;
      return [];
    },
  };
  const keys = Array.from({ length: 40_000 }, (_, index) => `${index}/`).sort();
  const tree = { base: { keys, entries: keys.map(() => empty) } } as unknown as WatchedTree;
  explainAbsence(refuse.absent("xyz", "missing"), {
    ...{ jail: seen, journal: undefined, defaultExcludes },
    listedTrees: () => ["a", "b", "c"].map((root) => ({ name: root, tree })),
  });
  expect(counted.names).toBeWithin(1000, 2000);
  expect(counted.folders).toBeWithin(40_000, 50_000);
});
