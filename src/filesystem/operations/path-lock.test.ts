import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { createKeyedMutex } from "../disk/keyed-mutex.ts";
import { FilesFixture } from "../files/files.test-kit.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { admitInTurn } from "./path-lock.ts";

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

test.each(backends)("%s: a call whose path came to lead elsewhere joins the line there", async (backend) => {
  using bench = new FilesFixture(backend, { a: "", b: "", l: { link: "a" } });
  const shared = { jail: bench.jailed, locks: createKeyedMutex() };
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
