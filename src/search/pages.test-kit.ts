/** For tests of pages: a folder to fill, searchers over it, and all pages of a search. */
import { expect } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Cursors } from "./answer/cursors.ts";
import type { PageRequest, SearchAnswer } from "./request.ts";
import { openSearcher, type RequestFields, type RunSearch, type SearchFixture } from "./search.test-kit.ts";

type Contents = Readonly<Record<string, string | Buffer>>;

/** The first fixture has one thread per processor. */
const fixtures: readonly SearchFixture[] = [
  { backend: "openat", threads: true },
  { backend: "openat", threads: false },
  { backend: "openat", threads: 1 },
  { backend: "openat", threads: 3 },
  { backend: "descriptors", threads: 5 },
];

/** The number of searchers, which differ in threads and backends. */
export const searchers = fixtures.length;

/** The limits of one page, and the index of the searcher. */
export interface Turn extends Partial<Pick<PageRequest, "maxBytes" | "milliseconds">> {
  readonly maxMatches: number;
  readonly by: number;
}

const cursors = new Cursors();

/** Returns a page that starts at the cursor. */
export const pageFrom = (cursor: string | undefined, limits: Partial<PageRequest> = {}): PageRequest => ({
  maxBytes: Number.POSITIVE_INFINITY,
  milliseconds: undefined,
  namesLeftOut: true,
  ...limits,
  after: cursor === undefined ? undefined : cursors.open("q", cursor)!,
  seal: (place) => cursors.seal("q", place),
});

/** Joins the lists of all pages. */
export const together = (pages: readonly SearchAnswer[]) => ({
  contents: pages.flatMap(({ content_matches }) => content_matches),
  paths: pages.flatMap(({ path_matches }) => path_matches),
  files: pages.flatMap(({ files = [] }) => files),
});

/** A folder `tree` in a folder of its own, and searchers over that. */
export class PagesFixture {
  readonly #base = mkdtempSync(join(tmpdir(), "coder-"));
  readonly tree = join(this.#base, "tree");
  readonly #opened = fixtures.map((fixture) =>
    openSearcher(this.#base, { ...fixture, deny: ["**/denied*"] }),
  );
  readonly searches: readonly RunSearch[] = this.#opened.map(({ search }) => search);

  async close(): Promise<void> {
    for (const { close } of this.#opened) await close();
    rmSync(this.#base, { recursive: true, force: true });
  }

  write(files: Contents): void {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.tree, path)), { recursive: true });
      writeFileSync(join(this.tree, path), content);
    }
  }

  /** Replaces all files by these. */
  fill(files: Contents): void {
    rmSync(this.tree, { recursive: true, force: true });
    mkdirSync(this.tree);
    this.write(files);
  }

  /** Reads all pages, with limits that take turns. `between` is called between two pages. */
  async readPages(
    fields: RequestFields,
    turns: readonly Turn[],
    between = () => {},
  ): Promise<SearchAnswer[]> {
    const pages: SearchAnswer[] = [];
    for (let cursor: string | undefined; pages.length === 0 || cursor !== undefined; ) {
      const { maxMatches, by, ...limits } = turns[pages.length % turns.length]!;
      if (pages.length > 0) between();
      const page = await this.searches[by]!({ ...fields, maxMatches, page: pageFrom(cursor, limits) });
      expect(page.stopped_by === undefined).toBe(page.next_cursor === undefined);
      expect(page.truncated).toBe(page.stopped_by !== undefined);
      if (page.stopped_by !== undefined && page.stopped_by !== "deadline")
        expect(
          page.content_matches.length + page.path_matches.length + (page.files?.length ?? 0),
        ).toBeGreaterThan(0);
      pages.push(page);
      cursor = page.next_cursor;
    }
    return pages;
  }
}
