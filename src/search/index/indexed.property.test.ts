/** A search with an index answers like one that reads every file, whatever has just happened to the files. */
import { afterAll, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { refuse } from "../../base/errors.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { pageFrom } from "../pages.test-kit.ts";
import type { SearchAnswer } from "../request.ts";
import { openSearcher, type RequestFields } from "../search.test-kit.ts";
import { attempt } from "./changes.test-kit.ts";

const bases: string[] = [];
afterAll(() => {
  for (const base of bases) rmSync(base, { recursive: true, force: true });
});

/** Words that few files contain, so that the index rules out the others. */
const rare = ["needle", "quokka", "zebra"] as const;
const words = fc.constantFrom(
  ..."Needle,QUOKKA,haystack,\u212aelvin kelvin,\u017fecret,жук,ЖУК,import { a } from,return,x,\n,\r\n,\n\n,  ".split(
    ",",
  ),
  "\0",
  "\xff",
);
const text = fc
  .array(fc.oneof({ weight: 20, arbitrary: words }, { weight: 1, arbitrary: fc.constantFrom(...rare) }), {
    maxLength: 12,
  })
  .map((parts) => parts.join(" "));
/** Text long enough to be read in several steps. A NUL at its beginning makes it binary. */
const long = fc
  .tuple(fc.constantFrom("", "\0"), text)
  .map(([head, tail]) => `${head}${"filler ".repeat(10_000)}${tail}`);
const content = fc.oneof({ weight: 12, arbitrary: text }, { weight: 1, arbitrary: long });

const names = fc.constantFrom(..."a,b.ts,c.md,.gitignore,denied,d".split(","));
const folders = fc.constantFrom("", "one/", "one/two/", "three/", "node_modules/");
const path = fc.tuple(folders, names).map((parts) => parts.join(""));

type Change = (at: (path: string) => string) => void;

const write = fc.tuple(path, content).map(
  ([to, what]): Change =>
    (at) => {
      mkdirSync(dirname(at(to)), { recursive: true });
      writeFileSync(at(to), what, "latin1");
    },
);

/** Rewrites a file, and keeps its size and its time of modification. */
const rewrite = fc.tuple(path, fc.constantFrom(...rare)).map(
  ([to, word]): Change =>
    (at) => {
      const { atime, mtime } = statSync(at(to));
      const old = readFileSync(at(to), "latin1");
      writeFileSync(at(to), `${word}${old.slice(word.length)}`, "latin1");
      utimesSync(at(to), atime, mtime);
    },
);

const changes = fc.oneof(
  write,
  { weight: 4, arbitrary: rewrite },
  fc.tuple(path, text).map(
    ([to, what]): Change =>
      (at) =>
        appendFileSync(at(to), what, "latin1"),
  ),
  fc.tuple(path, fc.nat(20)).map(
    ([to, size]): Change =>
      (at) =>
        truncateSync(at(to), size),
  ),
  fc.tuple(path, path).map(
    ([from, to]): Change =>
      (at) =>
        renameSync(at(from), at(to)),
  ),
  fc.tuple(folders, folders).map(
    ([from, to]): Change =>
      (at) =>
        renameSync(at(from), `${at(to)}moved`),
  ),
  fc.tuple(path, path).map(
    ([from, to]): Change =>
      (at) =>
        linkSync(at(from), at(to)),
  ),
  fc.tuple(path, path).map(
    ([from, to]): Change =>
      (at) => {
        rmSync(at(to), { force: true });
        symlinkSync(at(from), at(to));
      },
  ),
  path.map(
    (to): Change =>
      (at) =>
        rmSync(at(to)),
  ),
  folders
    .filter((to) => to !== "")
    .map(
      (to): Change =>
        (at) =>
          rmSync(at(to), { recursive: true }),
    ),
  fc.tuple(path, fc.constantFrom(0o644, 0)).map(
    ([to, mode]): Change =>
      (at) =>
        chmodSync(at(to), mode),
  ),
);

const patterns = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...rare).map((pattern) => ({ pattern, regex: false })) },
  fc
    .constantFrom("haystack", "жук", "x", "import { a", "secret", "kelvin")
    .map((pattern) => ({ pattern, regex: false })),
  fc
    .constantFrom(
      "needle|quokka",
      "ne+dle",
      "zebr[aA]",
      "\\w+rn",
      "import .* from",
      "(?s)needle.*return",
      "kel[vw]in\\s",
      ".",
      "^$",
      "ret",
      "a b\\n",
    )
    .map((pattern) => ({ pattern, regex: true })),
);

const requests: fc.Arbitrary<RequestFields> = fc
  .record({
    query: patterns,
    ignoreCase: fc.boolean(),
    multiline: fc.boolean(),
    mode: fc.constantFrom("content", "files", "counts"),
    every: fc.boolean(),
    linesBefore: fc.nat(1),
    linesAfter: fc.nat(1),
    content: fc.constant(true),
    paths: fc.boolean(),
    maxMatches: fc.constantFrom(1, 1000, 1000),
    maxLineBytes: fc.constantFrom(20, 4096),
    findsBinaries: fc.boolean(),
    maxFileBytes: fc.constantFrom(70_000, 1_000_000, 1_000_000),
    respectsIgnoreFiles: fc.boolean(),
    textBytes: fc.constantFrom(undefined, 8),
    path: fc.constantFrom(".", ".", "one"),
    include: fc.constantFrom(undefined, undefined, compileGlobSet(["**/*.ts", "**/a"])),
  } as const)
  .map(({ query, ...fields }) => ({ ...query, ...fields }) as RequestFields);

interface Step {
  readonly changes: readonly Change[];
  readonly request: RequestFields;
  readonly isPaged: boolean;
  /** Whether to repeat the request of the last step, whose results in files may be kept. */
  readonly repeats: boolean;
  /** Whether the index may catch up before the changes. */
  readonly fills: boolean;
}

const steps: fc.Arbitrary<Step> = fc.record({
  changes: fc.oneof(fc.constant([]), fc.array(changes, { maxLength: 3 })),
  request: requests,
  isPaged: fc.boolean(),
  repeats: fc.constantFrom(true, true, false),
  fills: fc.constantFrom(true, true, false),
});

/** An answer, or the reason for its absence. */
type Outcome = Omit<SearchAnswer, "index"> | string;

/** Maximum pages of a search that are compared. */
const maxPages = 3;

test.each(["verified", "watched"] as const)(
  "the answers of searches with an index, %s, are those of searches that read all files",
  async (mode) => {
    let used = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(write, { minLength: 5, maxLength: 30 }),
        fc.array(steps, { minLength: 4, maxLength: 12 }),
        fc.constantFrom("openat", "descriptors"),
        fc.constantFrom(0, 0, 2, 128),
        async (initial, sequence, backend, scrubbedFiles) => {
          const base = mkdtempSync(join(tmpdir(), "coder-"));
          bases.push(base);
          const at = (to: string) => join(base, to);
          for (const change of initial) attempt(() => change(at));
          const deny = ["**/denied*"];
          const scan = openSearcher(base, { backend, threads: 2, deny });
          const indexed = openSearcher(base, {
            backend,
            threads: 2,
            deny,
            index: { mode, maxBytes: 2 ** 24, scrubbedFiles },
          });
          try {
            await indexed.search({ pattern: "absentword" });
            if (mode === "watched") await indexed.watched();
            let last = sequence[0]!;
            for (const step of sequence) {
              const { request, isPaged } = step.repeats ? last : step;
              last = { ...step, request, isPaged };
              if (step.fills) await indexed.index?.filled();
              for (const change of step.changes) attempt(() => change(at));
              let cursor: string | undefined;
              for (let pages = 0; pages === 0 || (pages < maxPages && cursor !== undefined); pages++) {
                const page = isPaged ? { page: pageFrom(cursor), isExtended: true } : { isExtended: true };
                const found = await outcomeOf(indexed.search({ ...request, ...page }));
                const expected = await outcomeOf(scan.search({ ...request, ...page }));
                if (found.index === mode) used++;
                // After the base was moved away, a folder below may still be read by its descriptor
                // (jail.test.ts). A search that needs the base itself, such as for ignore files, refuses. The
                // index may have them.
                const refusesMovedBase = !existsSync(base) && expected.outcome === String(refuse.baseGone());
                if (!refusesMovedBase) expect(found.outcome).toEqual(expected.outcome);
                cursor = typeof found.outcome === "string" ? undefined : found.outcome.next_cursor;
              }
            }
          } finally {
            await indexed.close();
            await scan.close();
            rmSync(base, { recursive: true, force: true });
          }
        },
      ),
      propertyRuns(12),
    );
    expect(used).toBeGreaterThan(0);
  },
  600_000,
);

async function outcomeOf(
  searched: Promise<SearchAnswer>,
): Promise<{ outcome: Outcome; index?: string | undefined }> {
  try {
    const { index, ...outcome } = await searched;
    return { outcome, index };
  } catch (error) {
    return { outcome: String(error) };
  }
}
