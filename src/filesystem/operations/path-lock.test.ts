import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { createKeyedMutex } from "../disk/keyed-mutex.ts";
import { Mutations } from "../disk/mutations.ts";
import { FilesFixture } from "../files/files.test-kit.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { admitInTurn } from "./path-lock.ts";

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

test.each(backends)("%s: a call whose path came to lead elsewhere joins the line there", async (backend) => {
  using bench = new FilesFixture(backend, { a: "", b: "", l: { link: "a" } });
  const shared = { jail: bench.jailed, locks: createKeyedMutex(), mutations: new Mutations() };
  const log: string[] = [];
  const open: Record<string, () => void> = {};
  const work = async (path: string) => {
    using admitted = await admitInTurn(shared, [{ path, changes: "entry" }], bench.deadline);
    log.push(`${path} is ${admitted.places[0].path}`);
    await new Promise<void>((resolve) => {
      open[path] = resolve;
    });
  };

  const calls = [work("a"), work("l"), work("b")];
  await nextTick();
  expect(log).toEqual(["a is a", "b is b"]);
  rmSync(bench.at("l"));
  bench.add({ l: { link: "b" } });
  open["a"]!();
  await nextTick();
  expect(log).toEqual(["a is a", "b is b"]);
  open["b"]!();
  await nextTick();
  expect(log).toEqual(["a is a", "b is b", "l is b"]);
  open["l"]!();
  await Promise.all(calls);
});

test("a call waits until listeners have read what came before it, and holds its paths", async () => {
  using bench = new FilesFixture("descriptors", { a: "" });
  const locks = createKeyedMutex();
  const errors: unknown[] = [];
  const { promise, reject } = Promise.withResolvers<void>();
  const mutations = new Mutations([{ catchUp: () => undefined }, { catchUp: () => promise }], (error) =>
    errors.push(error),
  );
  let isAdmitted = false;
  const admitting = admitInTurn(
    { jail: bench.jailed, locks, mutations },
    [{ path: "a", changes: "entry" }],
    bench.deadline,
  ).then((admitted) => {
    isAdmitted = true;
    return admitted;
  });
  await nextTick();
  expect([isAdmitted, locks.isFree(["a"])]).toEqual([false, false]);
  reject("unread");
  using admitted = await admitting;
  expect([admitted.places[0].path, errors]).toEqual(["a", ["unread"]]);
});
