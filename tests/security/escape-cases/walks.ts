import type { Tree } from "../../harness/tree.ts";
import { aFolder, asWalk, type EscapeCase, forEachCall, theBase } from "../escape-case.ts";

const inside = "leads inside";

const walked = (
  name: string,
  tree: Tree,
  reaches: EscapeCase["reaches"],
  changes: Partial<EscapeCase> = {},
): EscapeCase => ({
  name,
  tree,
  path: "w",
  expected: aFolder,
  reaches,
  ...changes,
});

const env: Tree = { "w/in/.env": "denied-secret\n", "w/x.txt": "inside\n" };

/** Rows with a folder that may be walked, and in it an entry that leads elsewhere. */
export const walks: readonly EscapeCase[] = [
  walked("a folder with a link to a folder outside", { "w/l": { link: "../../outside" } }, asWalk),
  walked("a folder with a link to a file outside", { "w/l": { link: "../../outside/outside-name.txt" } }, [
    "search",
    "remove",
  ]),
  walked("a folder with an absolute link outside", { "w/l": { link: "<base>/../outside" } }, asWalk),
  walked(
    "a folder with a link to the root that procfs shows",
    { "w/l": { link: "/proc/self/root<base>/../outside" } },
    asWalk,
  ),
  walked("a folder with links deep inside", { "w/x/y/z/l": { link: "../../../../../outside" } }, asWalk),
  walked("a folder with a link to the folder above the base", { "w/l": { link: "../.." } }, [
    "tree",
    "search",
  ]),
  walked("a folder with a link whose name is not UTF-8", { "w/\udcff": { link: "../../outside" } }, asWalk),
  walked(
    "a folder with a link to a link outside",
    { "w/l": { link: "../m" }, m: { link: "../outside" } },
    asWalk,
  ),
  walked("a folder with a link to itself", { "w/l": { link: "." }, "w/x": "inside\n" }, inside),
  walked("a folder with a link to another", { "w/l": { link: "../d" }, "w/m": { link: "../a.txt" } }, inside),
  walked("a folder with a link to a denied file", { ".env": "denied-secret\n", "w/l": { link: "../.env" } }, [
    "search",
    "remove",
  ]),
  walked(
    "a folder with a link to a folder of secrets",
    { "secrets/f": "denied-secret\n", "w/l": { link: "../secrets" } },
    ["search", "remove"],
  ),
  walked("a folder with a denied file", env, ["search", "remove"], {
    expected: { ...aFolder, remove: "C211" },
  }),
  walked("a folder with a folder of secrets", { "w/secrets/s/f": "denied-secret\n" }, ["search", "remove"], {
    expected: { ...aFolder, remove: "C211" },
  }),
  walked("a folder with a denied link", { "w/l.key": { link: "../a.txt" } }, ["remove"], {
    expected: { ...aFolder, remove: "C211" },
  }),
  walked(
    "a folder with a FIFO",
    { "w/pipe": { fifo: true }, "w/x": "inside\n" },
    "reading it would only hang",
    { copy: "C210" },
  ),
  walked(
    "a folder with a second name of a file outside",
    { "../outside/twin.txt": "shared\n", "w/h": { hardlink: "../outside/twin.txt" } },
    "removing one name leaves the other",
  ),
  walked(
    "a folder with links that dangle and loop",
    { "w/l": { link: "none" }, "w/m": { link: "m" } },
    "leads nowhere",
  ),
  walked(
    "a link to a folder with a link outside",
    { "w/l": { link: "../../outside" }, m: { link: "w" } },
    asWalk,
    {
      path: "m",
      expected: { ...aFolder, delete: "ok" },
    },
  ),
  walked("the base with links in it", { l: { link: "../outside" }, ".env": "denied-secret\n" }, asWalk, {
    path: ".",
    expected: theBase,
    changeMode: "C215",
  }),
  walked(
    "a folder that is a link when it is walked",
    { w: { link: "../outside/sub" } },
    ["list", ...asWalk],
    {
      expected: forEachCall("C215"),
    },
  ),
];
