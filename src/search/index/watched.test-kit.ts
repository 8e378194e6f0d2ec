/** For tests of searches by a watched tree: such a searcher over some files. */
import { afterEach } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openJail } from "../../filesystem/jail/jail.ts";
import { SharedTree } from "../../filesystem/watch/shared-tree.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { openSearcher, type RequestFields } from "../search.test-kit.ts";

/** Closes the resources of the current test. */
export const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface WatchedFixture {
  readonly deny?: readonly string[];
  readonly Tree?: typeof SharedTree;
  readonly scrubbedFiles?: number;
}

/**
 * Opens a searcher over twenty files, with an index that knows them and a watched tree. Also returns a search
 * that finds one word.
 */
export async function openWatched({ deny = [], Tree = SharedTree, scrubbedFiles = 0 }: WatchedFixture = {}) {
  const base = mkdtempSync(join(tmpdir(), "coder-"));
  closing.push(() => rmSync(base, { recursive: true }));
  const at = (path: string) => join(base, path);
  for (const folder of ["d", "e"]) mkdirSync(at(folder));
  for (let i = 0; i < 20; i++)
    writeFileSync(at(`${"de"[i % 2]}/file${i}`), `text of file ${i}\nwithout it\n`);
  const jail = openJail({ basePath: base, deny: compileGlobSet([]), backend: "openat" });
  closing.push(() => jail.close());
  const tree = new Tree({ openBase: () => jail.admitFolder(".") });
  const searcher = openSearcher(base, {
    backend: "openat",
    threads: 2,
    deny,
    index: { mode: "watched", maxBytes: 2 ** 24, tree, scrubbedFiles },
  });
  closing.push(searcher.close);
  const search = (fields: RequestFields = {}, milliseconds?: number) =>
    searcher.search({ pattern: "needle", isExtended: true, ...fields }, milliseconds);
  const find = async (fields: RequestFields = {}) => {
    const { index, content_matches, path_matches } = await search(fields);
    return [index, ...[...content_matches, ...path_matches].map(({ path }) => path)];
  };
  /** Lets the index catch up, and searches once to notice it. */
  const settle = async () => {
    await searcher.index?.filled();
    await searcher.watched();
    await find();
  };
  await find();
  await settle();
  return { at, search, find, settle, searcher, tree };
}
