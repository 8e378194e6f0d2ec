/**
 * `npm run suite -- index --operations 100000 --folder /mnt/xfs --memory 150000`: another program changes a
 * tree at random. Whenever it reports that it has, a search by an index and a watched tree, or by a saved
 * index, is compared with one that reads every file. With little memory, signatures move to the disk.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freshSeed, type Random, randomFrom } from "../../../tests/harness/random.ts";
import { openStateFolder } from "../../filesystem/state/state-folder.ts";
import { startWriter, type Writer } from "../../filesystem/watch/torture.test-kit.ts";
import { pageFrom } from "../pages.test-kit.ts";
import type { SearchAnswer } from "../request.ts";
import { openSearcher, type RequestFields } from "../search.test-kit.ts";
import { SavedIndex } from "../signatures/saved-index.ts";

export interface SearchTortureOptions {
  readonly operations: number;
  readonly seed: number;
  /** The folder to make the tree in. */
  readonly folder?: string | undefined;
  /** The memory of the index, in bytes. Default: 16 MiB. */
  readonly memory?: number;
}

export interface SearchTortureReport {
  readonly operations: number;
  /** The number of searches, by the way in which they found the files. */
  readonly searches: Readonly<Record<string, number>>;
  readonly matches: number;
  /** The number of searchers that began with a saved index. */
  readonly loaded: number;
  /** The number of times that signatures moved to the disk. */
  readonly spilled: number;
  /** The differences between the answers of both searches. */
  readonly faults: readonly string[];
}

export async function tortureSearches({
  operations,
  seed,
  folder = tmpdir(),
  memory = 2 ** 24,
}: SearchTortureOptions): Promise<SearchTortureReport> {
  const root = realpathSync(mkdtempSync(join(folder, "coder-index-")));
  const [base, outside] = [join(root, "base"), join(root, "outside")];
  for (const made of [base, outside]) mkdirSync(made);
  const options = { backend: "openat", threads: 2, deny: ["**/g"] } as const;
  const scan = openSearcher(base, options);
  const state = openStateFolder({ dir: join(root, "state"), roots: [{ name: ".", hostPath: base }] });
  const saved = { state, identity: "", minFiles: 1 };
  const open = () =>
    openSearcher(base, {
      ...options,
      index: { mode: "watched", maxBytes: memory, scrubbedFiles: 0, saved },
    });
  const writer = startWriter(base, outside, seed);
  const { spill } = SavedIndex.prototype;
  let spilled = 0;
  SavedIndex.prototype.spill = function (...all) {
    spilled++;
    return spill.apply(this, all);
  };
  try {
    const report = await run({ base, operations, random: randomFrom(seed), writer, scan, open });
    return { ...report, spilled };
  } finally {
    SavedIndex.prototype.spill = spill;
    writer.end();
    await scan.close();
    rmSync(root, { recursive: true, force: true });
  }
}

type Searcher = ReturnType<typeof openSearcher>;

interface Run {
  readonly base: string;
  readonly operations: number;
  readonly random: Random;
  readonly writer: Writer;
  readonly scan: Searcher;
  /** Opens a searcher that begins with the index which the one before it has saved. */
  readonly open: () => Searcher;
}

/** The number of changes before the index may catch up. */
const perFill = 60;
/** The number of large files, whose signatures take most of the memory, and of their changes before that. */
const large = { files: 64, perFill: 20 } as const;
/** The number of times that the index catches up before a new searcher loads what this one has saved. */
const fillsPerProcess = 3;
/** The number of changes made at once during searches, whose answers are then unpredictable. */
const together = 40;

async function run({
  base,
  operations,
  random,
  writer,
  scan,
  open,
}: Run): Promise<Omit<SearchTortureReport, "spilled">> {
  const searches: Record<string, number> = {};
  const faults: string[] = [];
  let [done, matches, filledAt, fills, loaded] = [0, 0, 0, 0, 0];
  done += await writer.change(200);
  mkdirSync(join(base, "large"));
  for (let file = 0; file < large.files; file++) writeLarge(base, file, random);
  let request = requestFrom(random, done);
  let indexed = open();
  try {
    await indexed.search({ pattern: "absent" });
    await indexed.watched();
    while (done < operations && faults.length < 5) {
      if (done - filledAt >= perFill) {
        for (let left = large.perFill; left > 0; left--) writeLarge(base, random.below(large.files), random);
        await answerOf(indexed, { pattern: "absent" });
        await indexed.index?.settled();
        if (++fills % fillsPerProcess === 0) {
          await indexed.close();
          indexed = open();
          await indexed.index?.load();
          if (indexed.index!.files > 0) loaded++;
        }
        // A loaded index is used at once, until the tree is watched.
        else await indexed.search({ pattern: "absent" });
        filledAt = done;
      }
      if (random.chance(0.02)) {
        const made = writer.change(together);
        await Promise.all([
          answerOf(indexed, requestFrom(random, done)),
          // The writer may have moved the base away for a moment.
          answerOf(indexed, { pattern: "absent" }),
        ]);
        done += await made;
      } else done += await writer.change(1);
      // The results of a repeated search are kept where nothing has changed.
      if (random.chance(0.5)) request = requestFrom(random, done);
      const [found, expected] = [await answerOf(indexed, request), await answerOf(scan, request)];
      const how = `${request.content === false ? "paths, " : ""}${found.index}`;
      searches[how] = (searches[how] ?? 0) + 1;
      matches += (expected.content_matches?.length ?? 0) + (expected.path_matches?.length ?? 0);
      if (textOf(found) !== textOf(expected))
        faults.push(`${JSON.stringify(request)}: ${textOf(found)} instead of ${textOf(expected)}`);
    }
  } finally {
    await indexed.close();
  }
  return { operations: done, searches, matches, loaded, faults };
}

/** Writes a file with a thousand words of letters that no request but one for paths has. */
function writeLarge(base: string, file: number, random: Random): void {
  const letters = [..."hijklmnopqrstuvwyz"];
  const word = () => Array.from({ length: 8 }, () => random.pick(letters)).join("");
  writeFileSync(join(base, "large", String(file)), Array.from({ length: 1000 }, word).join("\n"));
}

type Answered = Partial<SearchAnswer> & { readonly refusal?: string };

/** Returns the answer, or the refusal if the start is currently not a folder. */
const answerOf = ({ search }: Searcher, request: RequestFields): Promise<Answered> =>
  search(request).catch((refusal: Error) => ({ refusal: refusal.message }));

/** Queries for paths: parts of the names that the writer uses, and of their folders. */
const partsOfPaths = ["a", "b-", "F", "/", "a/", "b/c", "", "nowhere", ".b", "c/a/f"];

/**
 * Returns a search of paths, or one for numbers of writes, which few files contain, with the text written
 * around them.
 */
function requestFrom(random: Random, count: number): RequestFields {
  const page = random.chance(0.5) ? { page: pageFrom(undefined) } : {};
  if (random.chance(0.3)) {
    const pattern = random.pick(partsOfPaths);
    const path = random.pick([".", ".", ".", "a", "b"]);
    const maxMatches = random.pick([1000, 1, 3]);
    return {
      pattern,
      path,
      maxMatches,
      ignoreCase: random.chance(0.3),
      content: false,
      isExtended: true,
      ...page,
    };
  }
  const number = random.below(count);
  const literal = String(Math.max(100, number));
  return {
    ...random.pick<RequestFields>([
      { pattern: literal.slice(0, 3) },
      { pattern: ` ${literal.slice(0, 2)}` },
      { pattern: `X+ ${literal}`, regex: true, ignoreCase: true },
      { pattern: `[A-Z]x+ ${literal.slice(0, 2)}`, regex: true },
    ]),
    paths: random.chance(0.3),
    isExtended: true,
    ...page,
  };
}

const textOf = ({ index: _, ...answer }: Answered): string => JSON.stringify(answer);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      operations: { type: "string", default: "100000" },
      seed: { type: "string", default: String(freshSeed()) },
      folder: { type: "string" },
      memory: { type: "string", default: String(2 ** 24) },
    },
  });
  const report = await tortureSearches({
    operations: Number(values.operations),
    seed: Number(values.seed),
    folder: values.folder,
    memory: Number(values.memory),
  });
  process.stdout.write(`${JSON.stringify({ seed: values.seed, ...report }, undefined, 2)}\n`);
  if (report.faults.length > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
