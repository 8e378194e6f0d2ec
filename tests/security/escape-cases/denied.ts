import type { Tree } from "../../harness/tree.ts";
import { aFile, aFolder, aNewName, asFile, asNew, type EscapeCase, forEachCall } from "../escape-case.ts";

interface Row {
  readonly tree: Tree;
  readonly path: string;
  readonly reaches: EscapeCase["reaches"];
  readonly unjailedPath?: string;
}

const refused = (name: string, row: Row): EscapeCase => ({ name, ...row, expected: forEachCall("C211") });

const env: Tree = { ".env": "denied-secret\n" };
const nothingThere = "nothing is there, and it is no folder";

/** Rows about names that the default deny globs cover, and about the names of temporary files. */
export const denied: readonly EscapeCase[] = [
  refused("a denied file", { tree: env, path: ".env", reaches: asFile }),
  refused("a denied file behind a dot", { tree: env, path: "./.env", reaches: asFile }),
  refused("a denied file by a detour", { tree: env, path: "d/..//.env", reaches: asFile }),
  refused("a denied file by a detour through what is missing", {
    tree: env,
    path: "no/../.env",
    reaches: asFile,
    unjailedPath: ".env",
  }),
  refused("a denied file with a slash", { tree: env, path: ".env/", reaches: nothingThere }),
  refused("a path below a denied file", { tree: env, path: ".env/x", reaches: nothingThere }),
  refused("a step up from a denied file", {
    tree: env,
    path: ".env/../a.txt",
    reaches: "leads to a file that is not denied",
  }),
  refused("a denied file that may not be made", { tree: {}, path: ".env.local", reaches: asNew }),
  refused("a denied file in a folder", {
    tree: { "d/e/x.key": "denied-secret\n" },
    path: "d/e/x.key",
    reaches: asFile,
  }),
  refused("a file in a denied folder", {
    tree: { "x.pem/f": "denied-secret\n" },
    path: "x.pem/f",
    reaches: asFile,
  }),
  refused("a denied folder", {
    tree: { "x.pem/f": "denied-secret\n" },
    path: "x.pem",
    reaches: ["search", "remove"],
  }),
  refused("a new file in a denied folder", {
    tree: { "x.pem/f": "denied-secret\n" },
    path: "x.pem/new",
    reaches: asNew,
  }),
  refused("folders to be made of which one is denied", {
    tree: {},
    path: "n/x.pem/m/f",
    reaches: ["overwrite"],
  }),
  refused("a file in a folder of secrets", {
    tree: { "secrets/f": "denied-secret\n" },
    path: "secrets/f",
    reaches: asFile,
  }),
  refused("a new file in a folder of secrets that is not there", {
    tree: {},
    path: "d/secrets/f",
    reaches: ["overwrite"],
  }),
  refused("a step up inside a folder of secrets", {
    tree: { "secrets/s/f": "denied-secret\n" },
    path: "secrets/s/../../a.txt",
    reaches: "leads to a file that is not denied",
  }),
  refused("a link to a denied file", { tree: { ...env, l: { link: ".env" } }, path: "l", reaches: asFile }),
  refused("an absolute link to a denied file", {
    tree: { ...env, l: { link: "<base>/.env" } },
    path: "l",
    reaches: asFile,
  }),
  refused("a link to a denied file that is not there", {
    tree: { l: { link: ".env" } },
    path: "l",
    reaches: ["overwrite"],
  }),
  refused("a link to a link to a denied file", {
    tree: { ...env, l: { link: "d/m" }, "d/m": { link: "../.env" } },
    path: "l",
    reaches: asFile,
  }),
  refused("a denied file by way of a link to its folder", {
    tree: { ...env, "d/up": { link: ".." } },
    path: "d/up/.env",
    reaches: asFile,
  }),
  refused("a denied file by way of a link to the base", {
    tree: { ...env, l: { link: "<base>" } },
    path: "l/.env",
    reaches: asFile,
  }),
  refused("a new denied file by way of a link", {
    tree: { l: { link: "d" } },
    path: "l/new.key",
    reaches: asNew,
  }),
  refused("a file behind a link to a folder of secrets", {
    tree: { "secrets/f": "denied-secret\n", l: { link: "secrets" } },
    path: "l/f",
    reaches: asFile,
  }),
  refused("a file behind a link into a folder of secrets", {
    tree: { "secrets/s/f": "denied-secret\n", l: { link: "secrets/s" } },
    path: "l/f",
    reaches: asFile,
  }),
  refused("a link with a denied name", {
    tree: { ".env": { link: "a.txt" } },
    path: ".env",
    reaches: "leads to a file that is not denied",
  }),
  refused("a link with a denied name to a file outside", {
    tree: { "l.key": { link: "../outside/outside-name.txt" } },
    path: "l.key",
    reaches: asFile,
  }),
  refused("a link with a denied name to a folder outside", {
    tree: { "l.key": { link: "../outside" } },
    path: "l.key/outside-name.txt",
    reaches: asFile,
  }),
  refused("a denied name with a dot behind", {
    tree: { ".env.": "denied-secret\n" },
    path: ".env.",
    reaches: asFile,
  }),
  refused("a file with the name of a temporary one", {
    tree: { ".coder-tmp-x": "denied-secret\n" },
    path: ".coder-tmp-x",
    reaches: asFile,
  }),
  refused("a guess at the name of a temporary file", {
    tree: {},
    path: "d/.coder-tmp-00000000-1-1-0000000000000000",
    reaches: asNew,
  }),
  refused("a link with the name of a temporary file", {
    tree: { ".coder-tmp-l": { link: "../outside/outside-name.txt" } },
    path: ".coder-tmp-l",
    reaches: asFile,
  }),
  refused("a file in a folder with the name of a temporary file", {
    tree: { ".coder-tmp-d/f": "denied-secret\n" },
    path: ".coder-tmp-d/f",
    reaches: asFile,
  }),

  {
    name: "a folder of secrets: its names may be seen",
    tree: { "secrets/f": "denied-secret\n" },
    path: "secrets",
    expected: { ...aFolder, remove: "C211" },
    below: "C211",
    reaches: ["search", "remove"],
  },
  {
    name: "a link to a folder of secrets",
    tree: { "secrets/f": "denied-secret\n", l: { link: "secrets" } },
    path: "l",
    expected: { ...aFolder, delete: "ok" },
    below: "C211",
    reaches: ["search", "remove"],
  },
  {
    name: "a second name of a denied file",
    tree: { ".env": "shared\n", h: { hardlink: ".env" } },
    path: "h",
    expected: aFile,
    reaches: ["update", "overwrite"],
  },
  ...["..env", ".env ", ".ENV", ".e\u200dnv", "ENV~1", "x.pem~", "secrets"].map(
    (path): EscapeCase => ({
      name: `the name ${JSON.stringify(path)}, which no glob covers`,
      tree: {},
      path,
      expected: aNewName,
      reaches: "another name than the denied one on this system",
    }),
  ),
];
