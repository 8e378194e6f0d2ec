import type { Tree } from "../../harness/tree.ts";
import { asFile, asFolder, asNew, asWalk, type EscapeCase, forEachCall } from "../escape-case.ts";

const inside = "leads inside";
const loops = "the system ends loops of links itself";
const outsideFile = "../outside/outside-name.txt";

interface Row {
  readonly tree: Tree;
  readonly path: string;
  readonly reaches: EscapeCase["reaches"];
}

const refused = (name: string, row: Row): EscapeCase => ({ name, ...row, expected: forEachCall("C215") });

/** Returns `count` links in a row, named l1, l2 and so on. The last one leads to `target`. */
export const chain = (count: number, target: string): Tree =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n): [string, { link: string }] => [
      `l${n + 1}`,
      { link: n + 1 === count ? target : `l${n + 2}` },
    ]),
  );

/** Rows with links that lead to a forbidden place, or nowhere. */
export const links: readonly EscapeCase[] = [
  refused("a link to a file outside", { tree: { l: { link: outsideFile } }, path: "l", reaches: asFile }),
  refused("an absolute link to a file outside", {
    tree: { l: { link: "<base>/../outside/outside-name.txt" } },
    path: "l",
    reaches: asFile,
  }),
  refused("a link to a file outside, with a slash", {
    tree: { l: { link: outsideFile } },
    path: "l/",
    reaches: "no file has anything below it",
  }),
  refused("a link to a folder outside", {
    tree: { l: { link: "../outside" } },
    path: "l",
    reaches: asFolder,
  }),
  refused("a link to a folder outside, with a slash", {
    tree: { l: { link: "../outside" } },
    path: "l/",
    reaches: asFolder,
  }),
  refused("a link to a folder outside, with a slash and a dot", {
    tree: { l: { link: "../outside" } },
    path: "l/.",
    reaches: asFolder,
  }),
  refused("a link with a slash to a folder outside", {
    tree: { l: { link: "../outside/" } },
    path: "l",
    reaches: asFolder,
  }),
  refused("a file below a link that leads outside", {
    tree: { l: { link: "../outside" } },
    path: "l/outside-name.txt",
    reaches: asFile,
  }),
  refused("a folder below a link that leads outside", {
    tree: { l: { link: "../outside" } },
    path: "l/sub",
    reaches: asFolder,
  }),
  refused("a new file below a link that leads outside", {
    tree: { l: { link: "../outside" } },
    path: "l/new.txt",
    reaches: asNew,
  }),
  refused("new folders below a link that leads outside", {
    tree: { l: { link: "../outside" } },
    path: "l/n/m/new.txt",
    reaches: ["overwrite"],
  }),
  refused("a step up from a folder outside", {
    tree: { l: { link: "../outside" } },
    path: "l/..",
    reaches: asWalk,
  }),
  refused("a step up from a folder outside, and in again", {
    tree: { l: { link: "../outside" } },
    path: "l/../base/a.txt",
    reaches: inside,
  }),
  refused("a link that leaves and returns", {
    tree: { l: { link: "../base/a.txt" } },
    path: "l",
    reaches: inside,
  }),
  refused("a folder link that leaves and returns", {
    tree: { l: { link: "../base" } },
    path: "l/d/b.txt",
    reaches: inside,
  }),
  refused("an absolute link that leaves and returns", {
    tree: { l: { link: "<base>/../base/a.txt" } },
    path: "l",
    reaches: inside,
  }),
  refused("an absolute link that leaves from below", {
    tree: { l: { link: "<base>/d/../../outside/outside-name.txt" } },
    path: "l",
    reaches: asFile,
  }),
  refused("an absolute link to a sibling whose name begins with the base's", {
    tree: {
      "../base-evil/outside-name.txt": "outside-secret\n",
      l: { link: "<base>-evil/outside-name.txt" },
    },
    path: "l",
    reaches: asFile,
  }),
  refused("an absolute link to a sibling folder whose name begins with the base's", {
    tree: { "../base-evil/outside-name.txt": "outside-secret\n", l: { link: "<base>-evil" } },
    path: "l/outside-name.txt",
    reaches: asFile,
  }),
  refused("a link to the root of the system", {
    tree: { l: { link: "/" } },
    path: "l<base>/../outside/outside-name.txt",
    reaches: asFile,
  }),
  refused("a link to the root that procfs shows", {
    tree: { l: { link: "/proc/self/root" } },
    path: "l<base>/../outside/outside-name.txt",
    reaches: asFile,
  }),
  refused("a link to the current directory that procfs shows", {
    tree: { l: { link: "/proc/self/cwd" } },
    path: `l${"/..".repeat(30)}<base>/../outside/outside-name.txt`,
    reaches: asFile,
  }),
  refused("a link to a device", {
    tree: { l: { link: "/dev/null" } },
    path: "l",
    reaches: "a device holds nothing",
  }),
  refused("a link to a FIFO outside", {
    tree: { "../pipe": { fifo: true }, l: { link: "../pipe" } },
    path: "l",
    reaches: ["delete", "remove"],
  }),
  refused("links that lead to each other and then outside", {
    tree: { l: { link: "m" }, m: { link: "d/n" }, "d/n": { link: "../../outside/outside-name.txt" } },
    path: "l",
    reaches: asFile,
  }),
  refused("a folder link behind a folder link", {
    tree: { l: { link: "d/n" }, "d/n": { link: "../../outside" } },
    path: "l/sub/outside-name.txt",
    reaches: asFile,
  }),
  refused("a link one step up", {
    tree: { up: { link: ".." } },
    path: "up/outside/outside-name.txt",
    reaches: asFile,
  }),
  refused("a link two steps up", {
    tree: { "d/up": { link: "../.." } },
    path: "d/up/outside/outside-name.txt",
    reaches: asFile,
  }),
  refused("links one step up, twice", {
    tree: { "d/e/up": { link: ".." }, "d/up": { link: ".." } },
    path: "d/e/up/up/../outside",
    reaches: asFolder,
  }),
  refused("steps up behind a link to where it stands", {
    tree: { "d/l": { link: "." } },
    path: "d/l/../../outside/outside-name.txt",
    reaches: asFile,
  }),
  refused("a step up behind a link to the base", {
    tree: { l: { link: "<base>" } },
    path: "l/../outside/outside-name.txt",
    reaches: asFile,
  }),
  refused("a link that goes down and further up", {
    tree: { l: { link: "d/../../outside/outside-name.txt" } },
    path: "l",
    reaches: asFile,
  }),
  refused("a link with a very long text", {
    tree: { l: { link: `${"./".repeat(1900)}../outside/outside-name.txt` } },
    path: "l",
    reaches: asFile,
  }),
  refused("a link whose text is not UTF-8 to a folder outside", {
    tree: { l: { link: "../\udcff" }, "../\udcff/outside-name.txt": "outside-secret\n" },
    path: "l/outside-name.txt",
    reaches: ["read", "update", "search", "overwrite"],
  }),
  refused("a link to a name that is not UTF-8, beside what that name is shown as", {
    tree: { l: { link: "n\udcff" }, "n\udcff": "one\n", "n\ufffd": "another\n" },
    path: "l",
    reaches: inside,
  }),
  refused("40 links in a row that lead outside", {
    tree: chain(40, outsideFile),
    path: "l1",
    reaches: asFile,
  }),
  refused("41 links in a row that lead inside", { tree: chain(41, "a.txt"), path: "l1", reaches: loops }),
  refused("a link to itself", { tree: { l: { link: "l" } }, path: "l", reaches: loops }),
  refused("links to each other", {
    tree: { l: { link: "m" }, m: { link: "l" } },
    path: "l/x",
    reaches: loops,
  }),
  refused("links that double at each step", {
    tree: Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`x${n}`, { link: n === 11 ? "." : `x${n + 1}/x${n + 1}` }]),
    ),
    path: "x0",
    reaches: loops,
  }),
  refused("a link to what is missing outside", {
    tree: { l: { link: "../outside/new.txt" } },
    path: "l",
    reaches: ["overwrite"],
  }),
  refused("a link into a folder that is missing outside", {
    tree: { l: { link: "../none/new.txt" } },
    path: "l",
    reaches: "no folder is there to make it in",
  }),
  refused("a link to what is missing inside", {
    tree: { l: { link: "d/new.txt" } },
    path: "l",
    reaches: inside,
  }),
  refused("a new file below a link to what is missing", {
    tree: { l: { link: "../outside/new" } },
    path: "l/x.txt",
    reaches: "no folder is made through a link",
  }),
  refused("a step up behind a link to what is missing", {
    tree: { l: { link: "none" } },
    path: "l/../a.txt",
    reaches: inside,
  }),
];
