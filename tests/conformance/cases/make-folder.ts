import type { ErrorCode } from "../../harness/errors.ts";
import type { Changes, Tree } from "../../harness/tree.ts";
import { type Case, errorWith, failure, notAnObject, wrongTypes } from "../case.ts";

const id = "coder::make-folder";

interface Options {
  readonly mode?: string;
  readonly parents?: boolean;
  readonly dry_run?: boolean;
}

const made = (path: string) => ({ path, success: true, created: true });
const there = (path: string) => ({ path, success: true, created: false });
const failed = (path: string, code: ErrorCode, ...says: string[]) => ({
  path,
  success: false,
  created: false,
  error: errorWith(code, ...says),
});

interface Expected {
  readonly results: readonly unknown[];
  readonly tree?: Changes;
}

const call = (
  name: string,
  tree: Tree,
  [paths, options = {}]: readonly [paths: readonly string[], options?: Options],
  { results, tree: changes = {} }: Expected,
): Case => ({
  name,
  tree,
  call: { function: id, payload: { paths, ...options } },
  expect: { answer: { results }, tree: changes },
});

/** A path, alone or with options for the call. */
type Request = string | readonly [path: string, options: Options];

const oneOf = (request: Request): readonly [readonly string[], Options?] =>
  typeof request === "string" ? [[request]] : [[request[0]], request[1]];

const pathOf = (request: Request): string => (typeof request === "string" ? request : request[0]);

const makes = (name: string, tree: Tree, request: Request, changes: Changes): Case =>
  call(name, tree, oneOf(request), { results: [made(pathOf(request))], tree: changes });

const finds = (name: string, tree: Tree, request: Request): Case =>
  call(name, tree, oneOf(request), { results: [there(pathOf(request))] });

const refuses = (
  name: string,
  tree: Tree,
  request: Request,
  error: readonly [ErrorCode, ...string[]],
): Case => call(name, tree, oneOf(request), { results: [failed(pathOf(request), ...error)] });

const folders: Case[] = [
  makes("a folder", {}, "d", { "d/": null }),
  makes("a folder in a folder", { "s/x": "x" }, "s/d", { "s/d/": null }),
  makes("a folder and those above it", {}, "a/b/c", { "a/b/c/": null }),
  makes("a path with a slash", {}, "d/", { "d/": null }),
  makes("a path with dots and empty names", { "s/x": "x" }, "./s/../s//d/.", { "s/d/": null }),
  makes("a folder through a link", { "s/x": "x", ln: { link: "s" } }, "ln/d", { "s/d/": null }),
  makes("a name with blanks and umlauts", {}, "neue Ordner/für alle", { "neue Ordner/für alle/": null }),
  makes("a name that begins with a dot", {}, ".github/workflows", { ".github/workflows/": null }),
  makes("only the folder, without parents", { "s/": null }, ["s/d", { parents: false }], { "s/d/": null }),
  finds("a folder that is there", { "d/x": "x" }, "d"),
  finds("a folder that is there, without parents", { "d/x": "x" }, ["d", { parents: false }]),
  finds("a folder that is there, and keeps its mode", { "d/": { mode: 0o700 } }, ["d", { mode: "0777" }]),
  finds("a folder that is there, by a path with a slash", { "d/x": "x" }, "d/"),
  finds("a link to a folder", { "s/x": "x", ln: { link: "s" } }, "ln"),
  finds("the base", { a: "a" }, "."),
];

const modes: Case[] = [
  ...(["0700", "700", "0755", "0777", "0", "0511"] as const).map((mode) =>
    makes(`the mode ${mode}, exactly`, {}, ["d", { mode }], { "d/": { mode: Number.parseInt(mode, 8) } }),
  ),
  makes("the usual mode", {}, "d", { "d/": { mode: 0o755 } }),
  ...["", "9", "0o755", "u+x", "1755", "10000", "-1", " 755"].map(
    (mode): Case => ({
      name: `the mode ${JSON.stringify(mode)}`,
      tree: {},
      call: { function: id, payload: { paths: ["d"], mode } },
      expect: { error: failure("C210", "mode", "octal") },
    }),
  ),
];

const refusals: Case[] = [
  refuses("a file is there", { a: "a" }, "a", ["C217", "send another path"]),
  refuses("a FIFO is there", { p: { fifo: true } }, "p", ["C217"]),
  refuses("a link to a file is there", { a: "a", ln: { link: "a" } }, "ln", ["C217"]),
  refuses("a link that dangles is there", { ln: { link: "none" } }, "ln", ["C215"]),
  refuses("below a file", { a: "a" }, "a/d", ["C211"]),
  refuses("missing parents, without parents", {}, ["a/b", { parents: false }], ["C211"]),
  refuses("outside", {}, "../d", ["C215"]),
  refuses("through a link outside", { ln: { link: "../outside" }, "../outside/": null }, "ln/d", ["C215"]),
  refuses("an absolute path", {}, "/tmp/d", ["C210", "absolute"]),
  refuses("an empty path", {}, "", ["C210", "empty"]),
  refuses("a name with a backslash", {}, "a\\b", ["C210", "backslash"]),
  refuses("a name that is too long", {}, "x".repeat(256), ["C210", "longer"]),
  refuses("a denied name", {}, "id.pem", ["C211"]),
  refuses("a folder below a denied one", {}, "secrets/d", ["C211"]),
  refuses("a folder on the way is denied", {}, "a/.env/b", ["C211"]),
  refuses("the name of a temporary file", {}, ".coder-tmp-00000000-1-1-0123456789abcdef", ["C211"]),
  {
    ...refuses("a folder that is there and denied", { "kept/x": "x" }, "kept", ["C211"]),
    config: { non_accessible_globs: ["kept"] },
  },
];

const dryRuns: Case[] = [
  call("tried: a folder and those above it", {}, [["a/b"], { dry_run: true }], { results: [made("a/b")] }),
  call("tried: a folder that is there", { "d/": null }, [["d"], { dry_run: true }], {
    results: [there("d")],
  }),
  call("tried: a file is there", { a: "a" }, [["a"], { dry_run: true }], { results: [failed("a", "C217")] }),
  call("tried: a denied name", {}, [[".env"], { dry_run: true }], { results: [failed(".env", "C211")] }),
  call("tried: without parents", {}, [["a/b"], { dry_run: true, parents: false }], {
    results: [failed("a/b", "C211")],
  }),
];

const batches: Case[] = [
  call("one fails, the others go on, in order", { a: "a" }, [["d", "a/x", "d", "e/f"]], {
    results: [made("d"), failed("a/x", "C211"), there("d"), made("e/f")],
    tree: { "d/": null, "e/f/": null },
  }),
];

const payloads: Case[] = [
  ...notAnObject(id),
  {
    name: "paths is empty",
    tree: {},
    call: { function: id, payload: { paths: [] } },
    expect: { error: failure("C210", "paths", "empty") },
  },
  {
    name: "paths is missing",
    tree: {},
    call: { function: id, payload: {} },
    expect: { error: failure("C210", "paths") },
  },
  ...wrongTypes({
    function: id,
    field: "paths",
    takes: ["an array"],
    says: ["paths"],
    payload: (value) => ({ paths: value }),
  }),
  ...wrongTypes({
    function: id,
    field: "paths[0]",
    takes: ["a string"],
    says: ["paths", "string"],
    payload: (value) => ({ paths: [value] }),
  }),
  ...wrongTypes({
    function: id,
    field: "mode",
    takes: ["a string"],
    says: ["mode", "string"],
    payload: (value) => ({ paths: ["d"], mode: value }),
  }),
  ...["parents", "dry_run"].flatMap((field) =>
    wrongTypes({
      function: id,
      field,
      takes: ["a boolean"],
      says: [field, "true or false"],
      payload: (value) => ({ paths: ["d"], [field]: value }),
    }),
  ),
];

export const cases: readonly Case[] = [
  ...folders,
  ...modes,
  ...refusals,
  ...dryRuns,
  ...batches,
  ...payloads,
];
