/** Random calls: some sensible, most of them slightly wrong, a few wild. */

import type { TObject, TRecord, TSchema } from "@sinclair/typebox";
import type { RequestPath } from "../../src/calls/contract/definition.ts";
import { functions } from "../../src/coder/functions.ts";
import type { Random } from "../harness/random.ts";
import type { Tree } from "../harness/tree.ts";

export interface RandomCall {
  readonly functionId: string;
  readonly payload: unknown;
}

/** The tree that the calls use: an entry of every kind, and links that lead outside. */
export const fuzzTree: Tree = {
  "../outside/secret.txt": "outside-secret\n",
  "../outside/deep/er.txt": "outside-secret\n",
  "a.txt": "one\ntwo\nthree\n",
  "b.txt": "no final newline",
  "crlf.txt": "one\r\ntwo\r\n",
  "bytes.bin": Buffer.from("AP/+gICA", "base64"),
  "latin.txt": Buffer.from("Y2Fm6Qo=", "base64"),
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

/** Strings for fields with these names. Other fields take `texts`. */
const strings: Readonly<Record<string, readonly string[]>> = {
  query: [...patterns, ...texts],
  pattern: patterns,
  include_globs: globs,
  exclude_globs: globs,
  mode: modes,
};

/** The ingredients of one payload's random values. */
interface Making {
  readonly random: Random;
  /** The fields that are paths or contain some. */
  readonly paths: readonly RequestPath[];
}

/**
 * Returns a value that a field accepts, or nearly. `at` is the pointer to the field, with `*` for each array
 * item.
 */
function valueFor(schema: TSchema, at: string, making: Making): unknown {
  const { random, paths } = making;
  const found = paths.filter((path) => path.at === at);
  if (found.length > 0) return pathFor(random.pick(found), random);
  if (schema["anyOf"] !== undefined) return valueFor(random.pick(schema["anyOf"] as TSchema[]), at, making);
  if (schema["const"] !== undefined)
    return random.chance(0.95)
      ? schema["const"]
      : random.pick(["constructor", "__proto__", "", String(schema["const"]).toUpperCase()]);
  if (schema["default"] !== undefined && schema["type"] !== "array" && random.chance(0.7))
    return schema["default"];
  switch (schema["type"]) {
    case "object":
      return "patternProperties" in schema
        ? recordFor(schema as TRecord, at, making)
        : objectFor(schema as TObject, at, making);
    case "array":
      return few(random, () => valueFor(schema["items"] as TSchema, `${at}/*`, making));
    case "string":
      return random.pick(strings[at.replace("/*", "").split("/").at(-1)!] ?? texts);
    case "integer":
      return random.chance(0.6) ? random.below(5) : random.pick(numbers);
    case "boolean":
      return random.chance(0.5);
    default:
      return null;
  }
}

/** Returns a path, or a text with some paths in it. */
function pathFor({ render }: RequestPath, random: Random): string {
  if (render === undefined) return pathFrom(random);
  return few(random, () =>
    render(pathFrom(random), { there: pathFrom(random), free: pathFrom(random) }),
  ).join("");
}

/** Returns an object with file names as its keys. */
const recordFor = ({ patternProperties }: TRecord, at: string, making: Making): Record<string, unknown> =>
  Object.fromEntries(
    few(making.random, () => [
      pathFrom(making.random),
      valueFor(Object.values(patternProperties)[0]!, at, making),
    ]),
  );

function objectFor(
  { properties, required = [] }: TObject,
  at: string,
  making: Making,
): Record<string, unknown> {
  const fields = Object.entries(properties).filter(
    ([name, field]) =>
      required.includes(name) || making.random.chance(field["default"] === undefined ? 0.3 : 0.8),
  );
  return Object.fromEntries(fields.map(([name, field]) => [name, valueFor(field, `${at}/${name}`, making)]));
}

/** Returns a call of a random function. A third of the payloads have something wild in them. */
export function randomCall(random: Random): RandomCall {
  const { id: functionId, request, paths } = random.pick(functions);
  const making = { random, paths };
  const payload = objectFor(request as TObject, "", making);
  if (random.chance(0.02)) return { functionId, payload: wild(random) };
  if (random.chance(0.33)) spoil(payload, random);
  return { functionId, payload };
}

/** Replaces or removes a random field at any depth, or adds one. */
function spoil(target: Record<string, unknown>, random: Random): void {
  const key = random.pick([...Object.keys(target), "extra"]);
  const value = target[key];
  if (typeof value === "object" && value !== null && random.chance(0.7) && Object.keys(value).length > 0)
    spoil(value as Record<string, unknown>, random);
  else if (random.chance(0.2)) delete target[key];
  else target[key] = wild(random);
}
