/** Random calls: some sensible, most of them slightly wrong, a few wild. */

import type { Random } from "../harness/random.ts";
import type { Tree } from "../harness/tree.ts";

export interface RandomCall {
  readonly functionId: string;
  readonly payload: unknown;
}

/** The tree that the calls are about: something of everything, and links that lead out. */
export const fuzzTree: Tree = {
  "../outside/secret.txt": "outside-secret\n",
  "../outside/deep/er.txt": "outside-secret\n",
  "a.txt": "one\ntwo\nthree\n",
  "b.txt": "no final newline",
  "crlf.txt": "one\r\ntwo\r\n",
  "bytes.bin": { base64: "AP/+gICA" },
  "latin.txt": { base64: "Y2Fm6Qo=" },
  "bom.txt": "\ufeffone\n",
  "empty.txt": "",
  "bad\udcff.txt": "name",
  ".env": "denied-secret\n",
  "key.pem": "denied-secret\n",
  "secrets/token": "denied-secret\n",
  "d/e/f.txt": "needle\n",
  "d/e/g.txt": "needle\nneedle\n",
  "empty/": null,
  pipe: { fifo: true },
  "ln-file": { link: "a.txt" },
  "ln-folder": { link: "d/e" },
  "ln-denied": { link: ".env" },
  "ln-out": { link: "../outside" },
  "ln-out-file": { link: "../outside/secret.txt" },
  "ln-absolute": { link: "/etc/passwd" },
  "ln-base": { link: "<base>/a.txt" },
  "ln-loop": { link: "ln-loop" },
  "ln-dangling": { link: "nowhere" },
};

const names = [
  ...Object.keys(fuzzTree).map((key) => key.replace(/\/$/, "")),
  "d",
  "d/e",
  "new.txt",
  "new/deep/er.txt",
  "secrets",
  "outside",
];

const oddPaths = [
  "",
  ".",
  "..",
  "/",
  "//",
  "/etc/passwd",
  "../outside/secret.txt",
  "d/../../outside/secret.txt",
  "ln-out/secret.txt",
  "ln-out/../base/a.txt",
  "ln-out/new.txt",
  "d/./e//f.txt",
  "d/e/f.txt/",
  "a.txt/b",
  "a\0b",
  "\n",
  " ",
  "~",
  "C:\\windows",
  "\\..\\..",
  "%2e%2e/x",
  ".ENV",
  "Key.PEM",
  ".coder-tmp-00000000-1-1-0123456789abcdef",
  "\u202e.txt",
  "e\u0301",
  "x".repeat(255),
  "x".repeat(256),
  "x/".repeat(3000),
  "../".repeat(300),
  "a/../".repeat(70),
  "*",
  "[",
];

const texts = [
  "",
  "x",
  "x\n",
  "one\ntwo",
  "\r\n",
  "\n\n\n",
  "é\u{1f600}",
  "\ufeff",
  "$0$1${a}",
  "\0",
  "z".repeat(5000),
];
const patterns = [
  "o",
  "^",
  "$",
  "(?m)^",
  "",
  "(",
  "[a",
  "a{1000000}",
  "(?<n>o)",
  "\\b",
  "\\p{L}+",
  "(?=a)",
  "(a+)+$",
  ".",
];
const globs = ["**", "*", "**/*.txt", "d/**", "", "[", "{a,b", "!a", "{a,{b,c}}*", "*".repeat(50), "\\"];
const numbers = [0, 1, 2, 3, 4, -1, 0.5, 1e21, 2 ** 31, 2 ** 32, 2 ** 53, Number.MAX_VALUE, 100, 1000];
const modes = ["0644", "755", "0000", "7777", "9", "", "-1", "0o644", "644 "];

const wild = (random: Random): unknown =>
  random.pick<unknown>([
    null,
    true,
    false,
    "",
    "text",
    [],
    {},
    [[]],
    [null],
    { path: {} },
    JSON.parse('{"__proto__":{"overwrite":true},"constructor":{"prototype":{}}}'),
    random.pick(numbers),
    random.pick(oddPaths),
    "\ud800",
    "y".repeat(100_000),
    Array.from({ length: 500 }, () => 0),
    deep(200),
  ]);

const deep = (levels: number): unknown => (levels === 0 ? 0 : [deep(levels - 1)]);

const pathFrom = (random: Random): string => random.pick(random.chance(0.8) ? names : oddPaths);

const few = <T>(random: Random, make: () => T): T[] => Array.from({ length: random.below(4) }, make);

const line = (random: Random): number => (random.chance(0.8) ? random.below(5) : random.pick(numbers));

function opFrom(random: Random): unknown {
  const content = random.pick(texts);
  switch (random.below(5)) {
    case 0:
      return { op: "insert", at_line: line(random), content };
    case 1:
      return { op: "remove", from_line: line(random), to_line: line(random) };
    case 2:
      return { op: "update_lines", from_line: line(random), to_line: line(random), content };
    case 3:
      return {
        op: "replace",
        pattern: random.pick(patterns),
        replacement: content,
        ignore_case: random.chance(0.5),
      };
    default:
      return { op: random.pick(["constructor", "__proto__", "", "INSERT"]), at_line: 1, content };
  }
}

const makers: Readonly<Record<string, (random: Random) => Record<string, unknown>>> = {
  "coder::read-file": (random) => ({ path: pathFrom(random) }),
  "coder::list-folder": (random) => ({
    path: pathFrom(random),
    page: random.pick(numbers),
    page_size: random.pick([null, ...numbers]),
  }),
  "coder::tree": (random) => ({
    path: pathFrom(random),
    max_depth: random.pick([null, ...numbers]),
    per_folder_limit: random.pick([null, ...numbers]),
  }),
  "coder::search": (random) => ({
    query: random.pick(random.chance(0.5) ? patterns : texts),
    path: random.pick([".", "d", pathFrom(random)]),
    regex: random.chance(0.5),
    ignore_case: random.chance(0.5),
    include_globs: few(random, () => random.pick(globs)),
    exclude_globs: few(random, () => random.pick(globs)),
    max_matches: random.pick([null, ...numbers]),
    max_line_bytes: random.pick([null, ...numbers]),
    search_content: random.chance(0.8),
    search_paths: random.chance(0.8),
  }),
  "coder::create-file": (random) => ({
    files: few(random, () => ({
      path: pathFrom(random),
      content: random.pick(texts),
      mode: random.chance(0.7) ? "0644" : random.pick(modes),
      overwrite: random.chance(0.5),
      parents: random.chance(0.5),
    })),
  }),
  "coder::update-file": (random) => ({
    files: few(random, () => ({ path: pathFrom(random), ops: few(random, () => opFrom(random)) })),
  }),
  "coder::delete-file": (random) => ({
    // The base would be emptied too often.
    paths: few(random, () => pathFrom(random)),
    recursive: random.chance(0.3),
  }),
};

/** A call of one of the seven functions. A third of the payloads have something wild in them. */
export function randomCall(random: Random): RandomCall {
  const functionId = random.pick(Object.keys(makers));
  const payload = makers[functionId]!(random);
  if (random.chance(0.02)) return { functionId, payload: wild(random) };
  if (random.chance(0.33)) spoil(payload, random);
  return { functionId, payload };
}

/** Puts something wild in the place of one field, at any depth, or takes the field away, or adds one. */
function spoil(target: Record<string, unknown>, random: Random): void {
  const key = random.pick([...Object.keys(target), "extra"]);
  const value = target[key];
  if (typeof value === "object" && value !== null && random.chance(0.7) && Object.keys(value).length > 0)
    spoil(value as Record<string, unknown>, random);
  else if (random.chance(0.2)) delete target[key];
  else target[key] = wild(random);
}
