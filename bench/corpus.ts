/**
 * The trees for the benchmarks, made once from a seed. S and L resemble real source trees: mostly small
 * files, some of megabytes, binaries, minified files, text that is not ASCII. XL has a million smaller files,
 * `long` has lines of 200 KB, and `wide` has one folder of 100,000 files.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Random, randomFrom } from "../tests/harness/random.ts";
import { makeLines, makeLongLine, makeName } from "./lines.ts";
import { sampleLogNormal } from "./random.ts";

/** The folder of everything that benchmarks make. It can be deleted at any time. */
export const workFolder = join(dirname(import.meta.dir), ".work/bench");

export type CorpusName = keyof typeof makers;

/** Returns the folder of a tree. Makes the tree first unless its current version exists. */
export function ensureCorpus(name: CorpusName): string {
  const folder = join(workFolder, name);
  const stamp = `${folder}.made`;
  const version = digestOfMakers();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === version) return folder;
  console.error(`Making the tree ${name} in ${folder}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  makers[name](folder);
  writeFileSync(stamp, version);
  return folder;
}

const digestOfMakers = (): string => {
  const hash = createHash("sha256");
  for (const file of ["corpus.ts", "lines.ts", "random.ts", "../tests/harness/random.ts"])
    hash.update(readFileSync(join(import.meta.dir, file)));
  return hash.digest("hex");
};

const makers = {
  S: (folder: string) => makeSources(folder, { seed: 1, files: 5_000, folders: 890 }),
  L: (folder: string) => makeSources(folder, { seed: 2, files: 60_000, folders: 8_400 }),
  // Takes about ten minutes and 6 GB.
  XL: (folder: string) =>
    makeSources(folder, { seed: 4, files: 1_000_000, folders: 100_000, medianBytes: 400 }),
  long: makeLongLines,
  wide: makeWideFolder,
};

interface Extent {
  readonly seed: number;
  readonly files: number;
  readonly folders: number;
  /** The median size of the text files. Some are much larger. */
  readonly medianBytes?: number;
}

/** Lines that only few files contain, each with the share of those files. */
const rarities: readonly (readonly [number, string])[] = [
  [0.002, "  registerInstrumentations({ tracerProvider });"],
  [0.0015, '    case "EAddrInUse": return retry(port);'],
  [0.017, "    return Deserialize(payload, schema);"],
  [0.0006, "  // Например: пример из документации"],
];

function makeSources(base: string, { seed, files, folders, medianBytes = 1_600 }: Extent): void {
  const random = randomFrom(seed);
  const places = makeFolders(base, random, folders);
  const pools = { plain: makeLines(random, 60_000), foreign: makeLines(random, 6_000, { foreign: true }) };
  const noise = Buffer.from(Array.from({ length: 100_000 }, () => random.below(256)));
  // A kind gets the files whose draw is below its number, but not below the previous one.
  const kinds: readonly (readonly [number, string, () => string | Buffer])[] = [
    [0.015, ".png", () => makeBinary(random, noise)],
    [0.019, ".min.js", () => makeLongLine(random, 20_000 + random.below(100_000))],
    [0.021, ".js.map", () => makeLongLine(random, 20_000 + random.below(200_000), { foreign: true })],
    [0.061, ".md", () => makeText(random, pools.foreign, medianBytes)],
    [1, ".ts", () => makeText(random, pools.plain, medianBytes)],
  ];
  for (let number = 0; number < files; number++) {
    const draw = random.next();
    const [, ending, make] = kinds.find(([below]) => draw < below)!;
    writeFileSync(join(random.pick(places), `${makeName(random)}-${number}${ending}`), make());
  }
}

/** Makes folders below `base`. Older folders get more subfolders, so most are four to six levels deep. */
function makeFolders(base: string, random: Random, count: number): string[] {
  const places = [base];
  while (places.length < count) {
    const parent = places[Math.floor(places.length * random.next() ** 2)]!;
    const place = join(parent, `${makeName(random)}-${places.length}`);
    mkdirSync(place);
    places.push(place);
  }
  return places;
}

const largestText = 2_000_000;

function makeText(random: Random, pool: readonly string[], medianBytes: number): string {
  const wanted = Math.min(sampleLogNormal(random, medianBytes, 1.85), largestText);
  const lines: string[] = [];
  for (let length = 0; length < wanted; ) {
    const line = random.pick(pool);
    lines.push(line);
    length += line.length + 1;
  }
  for (const [share, line] of rarities) {
    if (random.next() < share) lines.splice(random.below(lines.length), 0, line);
  }
  return `${lines.join("\n")}\n`;
}

function makeBinary(random: Random, noise: Buffer): Buffer {
  const length = Math.min(Math.floor(sampleLogNormal(random, 12_000, 1)), noise.length);
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n\0\0", "latin1"), noise.subarray(0, length)]);
}

function makeLongLines(base: string): void {
  const random = randomFrom(3);
  for (let number = 0; number < 40; number++) {
    const line = makeLongLine(random, 200_000, { foreign: true });
    writeFileSync(join(base, `bundle-${number}.js`), `${line}\n`);
  }
}

function makeWideFolder(base: string): void {
  for (let number = 0; number < 100_000; number++) writeFileSync(join(base, `entry-${number}.txt`), "");
}
