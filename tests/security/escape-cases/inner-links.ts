import {
  aFifo,
  aFile,
  aFolder,
  aNewName,
  aNewNameDeep,
  belowFile,
  type EscapeCase,
  theBase,
} from "../escape-case.ts";
import { chain } from "./links.ts";

/**
 * Returns a case with a harmless link: a delete removes the link itself, and the other calls reach `place`.
 */
const works = (
  name: string,
  expected: EscapeCase["expected"],
  row: Pick<EscapeCase, "tree" | "path"> & Partial<EscapeCase>,
): EscapeCase => ({
  name,
  expected,
  reaches: "leads inside",
  ...row,
});

/** Rows with links that must keep working, and two with entries that only resemble links. */
export const innerLinks: readonly EscapeCase[] = [
  works("a link to a file", aFile, { tree: { l: { link: "a.txt" } }, path: "l", place: "a.txt" }),
  works("a link to a file, with a slash", belowFile, { tree: { l: { link: "a.txt" } }, path: "l/" }),
  works("a link to a file, with a slash and a dot", belowFile, {
    tree: { l: { link: "a.txt" } },
    path: "l/.",
  }),
  works("links in a row to a file, with slashes", belowFile, { tree: chain(3, "a.txt"), path: "l1//" }),
  works("a link with a slash to a file", belowFile, { tree: { l: { link: "a.txt/" } }, path: "l" }),
  works("a link to a FIFO, with a slash", belowFile, {
    tree: { pipe: { fifo: true }, l: { link: "pipe" } },
    path: "l/",
  }),
  works("an absolute link to a file", aFile, {
    tree: { l: { link: "<base>/a.txt" } },
    path: "l",
    place: "a.txt",
  }),
  works("a link with .. that stays inside", aFile, {
    tree: { "d/l": { link: "../a.txt" } },
    path: "d/l",
    place: "a.txt",
  }),
  works("a link that goes down and up", aFile, {
    tree: { l: { link: "d/../a.txt" } },
    path: "l",
    place: "a.txt",
  }),
  works("a file below a link to a folder", aFile, {
    tree: { l: { link: "d" } },
    path: "l/b.txt",
    place: "d/b.txt",
    entry: "d/b.txt",
  }),
  works("a step up behind a link goes to the parent of what it leads to", aFile, {
    tree: { "d/e/c.txt": "inside\n", l: { link: "d/e" } },
    path: "l/../b.txt",
    place: "d/b.txt",
    entry: "d/b.txt",
  }),
  works("a new file below a link to a folder", aNewName, {
    tree: { l: { link: "d" } },
    path: "l/new.txt",
    place: "d/new.txt",
  }),
  works("new folders below a link to a folder", aNewNameDeep, {
    tree: { l: { link: "<base>/d" } },
    path: "l/n/new.txt",
    place: "d/n/new.txt",
  }),
  works("a link to a folder", { ...aFolder, delete: "ok" }, { tree: { l: { link: "d" } }, path: "l" }),
  works(
    "a link to a folder, with a slash",
    { ...aFolder, delete: "ok" },
    { tree: { l: { link: "d" } }, path: "l/", entry: "l" },
  ),
  works("a link to where it stands", aFile, {
    tree: { l: { link: "." } },
    path: "l/l/l/a.txt",
    place: "a.txt",
    entry: "a.txt",
  }),
  works(
    "a link to the base",
    { ...theBase, delete: "ok", remove: "ok" },
    { tree: { l: { link: "<base>" } }, path: "l", changeMode: "C215" },
  ),
  works("a file below a link to the base", aFile, {
    tree: { l: { link: "<base>/" } },
    path: "l/a.txt",
    place: "a.txt",
    entry: "a.txt",
  }),
  works("a link to a FIFO", aFifo, { tree: { pipe: { fifo: true }, l: { link: "pipe" } }, path: "l" }),
  works("39 links in a row", aFile, { tree: chain(39, "a.txt"), path: "l1", place: "a.txt" }),
  works("40 links in a row", aFile, { tree: chain(40, "a.txt"), path: "l1", place: "a.txt" }),
  works("a second name of a file outside", aFile, {
    tree: { "../outside/twin.txt": "shared\n", h: { hardlink: "../outside/twin.txt" } },
    path: "h",
    reaches: ["update", "overwrite"],
  }),
  works("a FIFO", aFifo, {
    tree: { pipe: { fifo: true } },
    path: "pipe",
    reaches: "reading it would only hang",
    copy: "C210",
  }),
];
