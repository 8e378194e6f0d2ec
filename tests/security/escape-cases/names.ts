import {
  aFile,
  aFolder,
  aNewName,
  aNewNameDeep,
  asFile,
  asFolder,
  asWalk,
  belowFile,
  type EscapeCase,
  forEachCall,
  noNewName,
  theBase,
} from "../escape-case.ts";

const inside = "leads inside";
const ordinary = "an ordinary name on this system";
const notation = "no system call takes it";
const outsideFile = "../outside/outside-name.txt";

const refused = (name: string, path: string, reaches: EscapeCase["reaches"]): EscapeCase => ({
  name,
  tree: {},
  path,
  expected: forEachCall("C210"),
  reaches,
});

/** Returns a case with ordinary characters, which are a way out if a program decodes or normalises them. */
const disguised = (name: string, path: string): EscapeCase => ({
  name,
  tree: {},
  path,
  expected: path.includes("\\") ? noNewName : path.includes("/") ? aNewNameDeep : aNewName,
  reaches: asFile,
  unjailedPath: outsideFile,
});

const ordinaryName = (path: string): EscapeCase => ({
  name: `the name ${JSON.stringify(path)}`,
  tree: {},
  path,
  expected: aNewName,
  reaches: ordinary,
});

const climbing = (name: string, path: string, reaches: EscapeCase["reaches"]): EscapeCase => ({
  name,
  tree: {},
  path,
  expected: forEachCall("C215"),
  reaches,
});

/** Rows in which the danger, or its appearance, lies in the path that is sent. */
export const names: readonly EscapeCase[] = [
  refused("an empty path", "", "names the base at most"),
  refused("an absolute path inside the base", "<base>/a.txt", inside),
  refused("an absolute path outside", "<base>/../outside/outside-name.txt", asFile),
  refused("a NUL behind ..", "..\u0000", notation),
  refused("a NUL before an ending", "a.txt\u0000.png", notation),
  refused("a name of 256 bytes", "x".repeat(256), notation),
  refused("a name of 128 characters of three bytes", "\u20ac".repeat(128), notation),
  refused("a path of more than 4096 bytes", "d/".repeat(2100), notation),
  refused("200 steps down and up", `${"d/../".repeat(200)}a.txt`, inside),

  climbing("a step above the base", outsideFile, asFile),
  climbing("a step above the base to a folder", "../outside", asFolder),
  climbing("the folder above the base", "..", asWalk),
  climbing("the folder above the base with a slash", "../", asWalk),
  climbing("a step above the base behind a dot", "./../outside/outside-name.txt", asFile),
  climbing("more steps up than down", "d/../../outside/outside-name.txt", asFile),
  climbing("more steps up than down, with dots and slashes", "d/.//..//./../outside/", asFolder),
  climbing("out and in again", "../base/a.txt", inside),
  climbing("out and in again from below", "d/../../base/d/b.txt", inside),
  climbing("a new file above the base", "../new.txt", ["create", "overwrite"]),
  climbing("new folders above the base", "../new/sub/x.txt", ["overwrite"]),
  climbing("more steps up than there are folders", `${"../".repeat(60)}<base>/../outside`, asFolder),
  {
    name: "a sibling whose name begins with the base's",
    tree: { "../base-evil/outside-name.txt": "outside-secret\n" },
    path: "../base-evil/outside-name.txt",
    expected: forEachCall("C215"),
    reaches: asFile,
  },

  disguised("percent signs for dots", "%2e%2e/outside/outside-name.txt"),
  disguised("percent signs for slashes", "..%2foutside%2foutside-name.txt"),
  disguised("one character of two dots", "\u2025/outside/outside-name.txt"),
  disguised("dots of full width", "\uff0e\uff0e/outside/outside-name.txt"),
  disguised("dots that lead", "\u2024\u2024/outside/outside-name.txt"),
  disguised("dots with a zero-width joiner", ".\u200d./outside/outside-name.txt"),
  disguised("dots with a blank behind", ".. /outside/outside-name.txt"),
  disguised("dots with a blank before", " ../outside/outside-name.txt"),
  disguised("backslashes", "..\\outside\\outside-name.txt"),
  disguised("a backslash in the middle", "d\\..\\..\\outside\\outside-name.txt"),

  ordinaryName("..."),
  ordinaryName(" .."),
  ordinaryName(".. "),
  ordinaryName("..a"),
  ordinaryName("~"),
  ordinaryName("$HOME"),
  ordinaryName("A.TXT"),
  ordinaryName("a.txt."),
  ordinaryName("a.txt::$DATA"),
  ordinaryName("\u202etxt.a"),
  {
    name: "the address of a file",
    tree: {},
    path: "file:///etc/passwd",
    expected: aNewNameDeep,
    reaches: ordinary,
    place: "file:/etc/passwd",
  },
  { name: "a drive", tree: {}, path: "C:\\a.txt", expected: noNewName, reaches: ordinary },
  {
    name: "a drive with a slash",
    tree: {},
    path: "C:/a.txt",
    expected: { ...noNewName, create: "C211" },
    reaches: ordinary,
  },
  { name: "a share", tree: {}, path: "\\\\server\\share", expected: noNewName, reaches: ordinary },
  { name: "a line break in a name", tree: {}, path: "a\nb", expected: noNewName, reaches: ordinary },

  { name: "the base", tree: {}, path: ".", expected: theBase, changeMode: "C215", reaches: inside },
  {
    name: "the base by a detour",
    tree: {},
    path: "d/..",
    expected: theBase,
    changeMode: "C215",
    reaches: inside,
  },
  {
    name: "a file by a detour",
    tree: {},
    path: "./d//../a.txt",
    expected: aFile,
    reaches: inside,
    ...at("a.txt"),
  },
  {
    name: "a detour by what is not there",
    tree: {},
    path: "no/../a.txt",
    expected: aFile,
    reaches: inside,
    ...at("a.txt"),
  },
  { name: "a folder with a slash", tree: {}, path: "d/", expected: aFolder, reaches: inside, ...at("d") },
  { name: "a file with a slash", tree: {}, path: "a.txt/", expected: belowFile, reaches: inside },
  { name: "a file with a dot behind", tree: {}, path: "a.txt/.", expected: belowFile, reaches: inside },
  { name: "a path below a file", tree: {}, path: "a.txt/x", expected: belowFile, reaches: inside },
  { name: "a step up from a file", tree: {}, path: "a.txt/../a.txt", expected: belowFile, reaches: inside },
  {
    name: "a new name with a slash",
    tree: {},
    path: "new/",
    expected: noNewName,
    makeFolder: "ok",
    reaches: inside,
  },
];

function at(path: string): Pick<EscapeCase, "place" | "entry"> {
  return { place: path, entry: path };
}
