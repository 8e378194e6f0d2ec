import type { ErrorCode } from "../../harness/errors.ts";
import { type Changes, gone, type Tree } from "../../harness/tree.ts";
import { type Case, contentRevision, failure, Matcher, notAnObject, wrongTypes } from "../case.ts";

const id = "coder::apply-patch";

type Fields = Readonly<Record<string, unknown>>;

const aName = new Matcher("16 hex digits", (value) => /^[\da-f]{16}$/.test(String(value)));
const aPlan = new Matcher("32 hex digits", (value) => /^[\da-f]{32}$/.test(String(value)));
const aTime = new Matcher("a time", (value) => Number.isSafeInteger(value) && Number(value) > 0);
const anEcho = new Matcher("an echo", (value) => Array.isArray(value) && value.length > 0);

const linesOf = (content: string): number => content.split("\n").length - (/(?:^|\n)$/.test(content) ? 1 : 0);

const leaves = (content: string) => ({
  new_line_count: linesOf(content),
  revision: contentRevision(content),
});
const added = (path: string, content: string) => ({ path, kind: "added", ...leaves(content) });
const modified = (path: string, content: string) => ({
  path,
  kind: "modified",
  ...leaves(content),
  echo: anEcho,
});
const deleted = (path: string) => ({ path, kind: "deleted" });
const moved = (from: string, path: string) => ({ path, from, kind: "moved" });
const movedAs = (from: string, path: string, content: string) => ({
  ...modified(path, content),
  from,
  kind: "moved",
});
const copied = (from: string, path: string) => ({ path, from, kind: "added" });

interface Applied {
  readonly results: readonly unknown[];
  readonly tree: Changes;
  readonly fields?: Fields;
  readonly config?: Fields;
}

const applies = (
  name: string,
  tree: Tree,
  patch: string,
  { results, tree: changes, fields, config }: Applied,
): Case => ({
  name,
  tree,
  ...(config !== undefined && { config }),
  call: { function: id, payload: { patch, ...fields } },
  expect: { answer: { committed: true, results, transaction: aName }, tree: changes },
});

/** Makes a case of a refused call. `request` is the patch, or all fields including the patch. */
const refuses = (
  name: string,
  tree: Tree,
  request: string | Fields,
  [code, ...says]: readonly [ErrorCode, ...string[]],
): Case => ({
  name,
  tree,
  call: { function: id, payload: typeof request === "string" ? { patch: request } : request },
  expect: { error: failure(code, ...says), tree: {} },
});

const v4a = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
const update = (path: string, ...lines: string[]) => v4a(`*** Update File: ${path}`, ...lines);
const diff = (path: string, ...lines: string[]) =>
  [`--- a/${path}`, `+++ b/${path}`, ...lines, ""].join("\n");

const list = "one\ntwo\nthree\nfour\n";
const changed = "one\n2\nthree\nfour\n";
const hunk = [" one", "-two", "+2", " three"];
const numbered = ["@@ -1,3 +1,3 @@", ...hunk];

/** Makes a case of a patch that must not change, move or replace a FIFO. */
const fifoStays = (name: string, patch: string, fields: Fields = {}): Case[] => [
  refuses(`${name} of a FIFO`, { f: list, p: { fifo: true } }, { patch, ...fields }, ["C210"]),
];

const one: Applied = { results: [modified("f", changed)], tree: { f: changed } };

const formats: Case[] = [
  applies("V4A", { f: list }, update("f", "@@", ...hunk), one),
  applies("V4A, said to be", { f: list }, update("f", "@@", ...hunk), { ...one, fields: { format: "v4a" } }),
  applies("a unified diff", { f: list }, diff("f", ...numbered), one),
  applies("a unified diff, said to be", { f: list }, diff("f", ...numbered), {
    ...one,
    fields: { format: "unified" },
  }),
  applies(
    "a diff of git",
    { f: list },
    `diff --git a/f b/f\nindex 1..2 100644\n${diff("f", ...numbered)}`,
    one,
  ),
  applies("a code fence around it", { f: list }, `Here:\n\`\`\`diff\n${diff("f", ...numbered)}\`\`\`\n`, one),
  applies(
    "CRLF in the patch and not in the file",
    { f: list },
    update("f", ...hunk).replaceAll("\n", "\r\n"),
    one,
  ),
  applies("wrong counts", { f: list }, diff("f", "@@ -7,9 +7 @@", ...hunk), one),
  refuses("V4A that is said to be unified", { f: list }, { patch: update("f", ...hunk), format: "unified" }, [
    "C210",
    "unified",
    "auto",
  ]),
  refuses(
    "a unified diff that is said to be V4A",
    { f: list },
    { patch: diff("f", ...numbered), format: "v4a" },
    ["C210", "v4a"],
  ),
  refuses("a format that is none", { f: list }, { patch: diff("f", ...numbered), format: "context" }, [
    "C210",
    "format",
  ]),
  refuses("no patch at all", { f: list }, "", ["C210", "names no file"]),
  refuses("line breaks that are escapes", { f: list }, update("f", ...hunk).replaceAll("\n", "\\n"), [
    "C210",
    "real line breaks",
  ]),
  refuses("a patch whose end is missing", { f: list }, update("f", ...hunk).slice(0, -6), [
    "C210",
    "End Patch",
  ]),
  refuses("a hunk that belongs to no file", { f: list }, "@@ -1 +1 @@\n-one\n+1\n", ["C210", "line 1"]),
  refuses("a binary file", { f: list }, "diff --git a/f b/f\nBinary files a/f and b/f differ\n", [
    "C210",
    "binary",
  ]),
  refuses(
    "a link",
    { f: list },
    "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+f\n",
    ["C210", "symbolic link"],
  ),
];

const withMode = (text: string, mode: number) => ({ text, mode });

const files: Case[] = [
  applies("a new file", { f: list }, v4a("*** Add File: d/e/new", "+a", "+b"), {
    results: [added("d/e/new", "a\nb\n")],
    tree: { "d/e/new": "a\nb\n" },
  }),
  applies(
    "a new program of git",
    {},
    "diff --git a/run b/run\nnew file mode 100755\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+#!/bin/sh\n",
    {
      results: [added("run", "#!/bin/sh\n")],
      tree: { run: withMode("#!/bin/sh\n", 0o755) },
    },
  ),
  applies("an empty new file", {}, v4a("*** Add File: new"), {
    results: [added("new", "")],
    tree: { new: "" },
  }),
  applies("a file that goes", { f: list, g: "g" }, v4a("*** Delete File: f"), {
    results: [deleted("f")],
    tree: { f: gone },
  }),
  applies(
    "a file that goes, and is shown",
    { f: "a\nb\n", g: "g" },
    "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
    {
      results: [deleted("f")],
      tree: { f: gone },
    },
  ),
  applies("a file that moves", { f: list }, v4a("*** Update File: f", "*** Move to: d/g"), {
    results: [moved("f", "d/g")],
    tree: { f: gone, "d/g": list },
  }),
  applies(
    "a file that moves and changes",
    { f: list },
    v4a("*** Update File: f", "*** Move to: g", ...hunk),
    {
      results: [movedAs("f", "g", changed)],
      tree: { f: gone, g: changed },
    },
  ),
  applies(
    "a rename of git",
    { f: list },
    "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n",
    {
      results: [moved("f", "g")],
      tree: { f: gone, g: list },
    },
  ),
  applies("a copy of git", { f: list }, "diff --git a/f b/g\ncopy from f\ncopy to g\n", {
    results: [copied("f", "g")],
    tree: { g: list },
  }),
  applies(
    "a copy of git that changes",
    { f: list },
    `diff --git a/f b/g\ncopy from f\ncopy to g\n--- a/f\n+++ b/g\n${numbered.join("\n")}\n`,
    {
      results: [{ ...modified("g", changed), from: "f", kind: "added" }],
      tree: { g: changed },
    },
  ),
  applies("another mode", { f: list }, "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", {
    results: [{ path: "f", kind: "modified", ...leaves(list) }],
    tree: { f: withMode(list, 0o755) },
  }),
  applies("a mode that stays", { f: withMode(list, 0o755) }, update("f", ...hunk), {
    results: [modified("f", changed)],
    tree: { f: withMode(changed, 0o755) },
  }),
  applies(
    "several files",
    { f: list, g: "g\n" },
    v4a("*** Add File: new", "+a", "*** Update File: f", ...hunk, "*** Delete File: g"),
    {
      results: [added("new", "a\n"), modified("f", changed), deleted("g")],
      tree: { new: "a\n", f: changed, g: gone },
    },
  ),
  applies(
    "a file that is named twice",
    { f: list },
    v4a("*** Update File: f", ...hunk, "*** Update File: f", "-2", "+zwei"),
    {
      results: [modified("f", changed), modified("f", changed.replace("2", "zwei"))],
      tree: { f: changed.replace("2", "zwei") },
    },
  ),
  applies(
    "a file in the place of one that goes",
    { f: list },
    v4a("*** Delete File: f", "*** Add File: f", "+a"),
    {
      results: [deleted("f"), added("f", "a\n")],
      tree: { f: "a\n" },
    },
  ),
  applies(
    "two files that exchange their names",
    { f: "f\n", g: "g\n" },
    v4a(
      "*** Update File: f",
      "*** Move to: t",
      "*** Update File: g",
      "*** Move to: f",
      "*** Update File: t",
      "*** Move to: g",
    ),
    {
      results: [moved("f", "t"), moved("g", "f"), moved("t", "g")],
      tree: { f: "g\n", g: "f\n" },
    },
  ),
  ...fifoStays("an update", update("p", "+a")),
  ...fifoStays("an addition", v4a("*** Add File: p", "+a"), { overwrite: true }),
  ...fifoStays("a deletion", v4a("*** Delete File: p")),
  ...fifoStays("a move", update("p", "*** Move to: q", "+a")),
  ...fifoStays("a move onto it", update("f", "*** Move to: p", ...hunk), { overwrite: true }),
  ...fifoStays("a unified deletion", "--- a/p\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"),
  ...fifoStays("a rename by git", "diff --git a/p b/q\nrename from p\nrename to q\n"),
  ...fifoStays("a rename by git onto it", "diff --git a/f b/p\nrename from f\nrename to p\n", {
    overwrite: true,
  }),
  refuses("a new file where one is", { f: list }, v4a("*** Add File: f", "+a"), ["C210", '"f"', "already"]),
  refuses("a new file where a folder is", { "f/a": list }, v4a("*** Add File: f", "+a"), ["C210", '"f"']),
  refuses("a move onto a file", { f: list, g: "g" }, v4a("*** Update File: f", "*** Move to: g"), [
    "C210",
    '"g"',
    "already",
  ]),
  refuses("a copy onto a file", { f: list, g: "g" }, "diff --git a/f b/g\ncopy from f\ncopy to g\n", [
    "C210",
    '"g"',
  ]),
  refuses("a file that is not there", {}, update("f", ...hunk), ["C211", '"f"']),
  refuses("a deletion of what is not there", {}, v4a("*** Delete File: f"), ["C211", '"f"']),
  refuses("a deletion of a folder", { "f/a": "a" }, v4a("*** Delete File: f"), [
    "C210",
    "not a regular file",
  ]),
  refuses("a deletion of a part", { f: list }, "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n", [
    "C210",
    "2 lines are left",
  ]),
  refuses("a path that leaves the base", {}, v4a("*** Add File: ../f", "+a"), ["C215", "../f"]),
  refuses("a denied file", { ".env": "secret\n" }, update(".env", "-guess", "+a"), ["C211", ".env"]),
  refuses(
    "a failure behind other files",
    { f: list, g: "g\n" },
    v4a("*** Add File: new", "+a", "*** Update File: f", ...hunk, "*** Delete File: nowhere"),
    ["C211", "nowhere"],
  ),
  refuses("a file whose hunks change nothing in it", { f: list }, v4a("*** Update File: f"), [
    "C210",
    "changes nothing",
  ]),
];

const crlf = list.replaceAll("\n", "\r\n");
const bytes = Buffer.concat([Buffer.from([0xff, 0x0a]), Buffer.from(list)]);

const hunks: Case[] = [
  applies("blanks at the ends of lines", { f: "one  \ntwo\t\nthree\n" }, update("f", ...hunk), {
    results: [modified("f", "one  \n2\nthree\n")],
    tree: { f: "one  \n2\nthree\n" },
  }),
  applies(
    "another indentation, by which it is shifted",
    { f: "\tone\n\ttwo\n\tthree\n" },
    update("f", ...hunk),
    {
      results: [modified("f", "\tone\n\t2\n\tthree\n")],
      tree: { f: "\tone\n\t2\n\tthree\n" },
    },
  ),
  refuses(
    "another indentation, which is not the same for all lines",
    { f: "\tone\n  two\n" },
    update("f", " one", "-two", "+2"),
    ["C210", "lines 1 to 2", "not the same for each line"],
  ),
  applies("only lines to add", { f: list }, update("f", "+five"), {
    results: [modified("f", `${list}five\n`)],
    tree: { f: `${list}five\n` },
  }),
  applies("line endings, which stay", { f: crlf }, update("f", ...hunk), {
    results: [modified("f", crlf.replace("two", "2"))],
    tree: { f: crlf.replace("two", "2") },
  }),
  applies("a missing final newline, which stays", { f: "one\ntwo" }, update("f", " one", "-two", "+2"), {
    results: [modified("f", "one\n2")],
    tree: { f: "one\n2" },
  }),
  applies(
    "a final newline that git adds",
    { f: "one" },
    diff("f", "@@ -1 +1 @@", "-one", "\\ No newline at end of file", "+one"),
    {
      results: [modified("f", "one\n")],
      tree: { f: "one\n" },
    },
  ),
  applies("bytes that are not UTF-8, which stay", { f: bytes }, update("f", ...hunk), {
    results: [
      {
        ...modified("f", ""),
        new_line_count: 5,
        revision: contentRevision(Buffer.from(bytes.toString("latin1").replace("two", "2"), "latin1")),
      },
    ],
    tree: { f: Buffer.from(bytes.toString("latin1").replace("two", "2"), "latin1") },
  }),
  applies("a place below a heading", { f: "f:\n  x\ng:\n  x\n" }, update("f", "@@ g:", "-  x", "+  y"), {
    results: [modified("f", "f:\n  x\ng:\n  y\n")],
    tree: { f: "f:\n  x\ng:\n  y\n" },
  }),
  applies("a place at the end of the file", { f: "x\ny\nx\n" }, update("f", "-x", "+z", "*** End of File"), {
    results: [modified("f", "x\ny\nz\n")],
    tree: { f: "x\ny\nz\n" },
  }),
  applies("a place that the line number chooses", { f: "x\ny\nx\n" }, diff("f", "@@ -3 +3 @@", "-x", "+z"), {
    results: [modified("f", "x\ny\nz\n")],
    tree: { f: "x\ny\nz\n" },
  }),
  {
    ...applies(
      "what is shown of it",
      { f: list },
      update("f", "-two", "+2", "@@", "+five", "*** End of File"),
      {
        results: [
          {
            ...modified("f", `${changed}five\n`),
            echo: [
              { hunk: 1, from_line: 1, lines: ["one", "2", "three", "four"] },
              { hunk: 2, from_line: 3, lines: ["three", "four", "five"] },
            ],
          },
        ],
        tree: { f: `${changed}five\n` },
      },
    ),
  },
  refuses("a hunk that fits twice", { f: "x\ny\nx\n" }, update("f", "-x", "+z"), [
    "C210",
    "Hunk 1",
    '"f"',
    "2 places",
    "1, 3",
  ]),
  refuses("a hunk that fits nowhere", { f: list }, update("f", " one", "-tow", "+2"), [
    "C210",
    "Hunk 1",
    "lines 3 to 5 of the patch",
    "does not fit",
    "lines 1 to 2",
  ]),
  refuses("the second hunk that does not fit", { f: list }, update("f", "-one", "+1", "@@", "-fore", "+4"), [
    "C210",
    "Hunk 2",
  ]),
  refuses("a heading that is nowhere", { f: list }, update("f", "@@ zero", "-two", "+2"), [
    "C210",
    "@@ zero",
  ]),
  refuses("lines to add at no place", { f: list }, diff("f", "@@", "+five"), ["C210", "nothing says where"]),
  refuses(
    "a patch that is applied already",
    { f: "one\nzwei und drei\n" },
    update("f", " one", "-two", "+zwei und drei"),
    ["C210", "applied already", "lines 1 to 2"],
  ),
  refuses(
    "hunks that change the same line",
    { f: list },
    update("f", "-one", "+1", "@@", "-one", "-two", "+12"),
    ["C210", "hunk 1 changes too"],
  ),
];

const renamed = (from: string, to: string) =>
  `diff --git a/${from} b/${to}\nrename from ${from}\nrename to ${to}\n`;

/** Patches whose files depend on each other, and fields that control how names and hunks are read. */
const options: Case[] = [
  applies(
    "a copy of git of what it changes before",
    { f: list },
    `diff --git a/f b/f\n${diff("f", ...numbered)}diff --git a/f b/g\ncopy from f\ncopy to g\n`,
    {
      results: [modified("f", changed), { ...copied("f", "g"), ...leaves(list) }],
      tree: { f: changed, g: list },
    },
  ),
  applies("renames of git in a chain", { f: "f\n", g: "g\n" }, renamed("f", "g") + renamed("g", "h"), {
    results: [moved("f", "g"), { ...moved("g", "h"), ...leaves("g\n") }],
    tree: { f: gone, g: "f\n", h: "g\n" },
  }),
  applies(
    "renames of git in a circle",
    { f: "f\n", g: withMode("g\n", 0o755) },
    renamed("f", "g") + renamed("g", "f"),
    {
      results: [
        { ...moved("f", "g"), ...leaves("f\n") },
        { ...moved("g", "f"), ...leaves("g\n") },
      ],
      tree: { f: withMode("g\n", 0o755), g: withMode("f\n", 0o644) },
    },
  ),
  applies("a file that becomes a folder", { f: list }, renamed("f", "f/g"), {
    results: [{ ...moved("f", "f/g"), ...leaves(list) }],
    tree: { f: gone, "f/g": list },
  }),
  applies(
    "a folder that becomes a file",
    { "d/e/f": "a\n" },
    "diff --git a/d b/d\nnew file mode 100644\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+d\ndiff --git a/d/e/f b/d/e/f\ndeleted file mode 100644\n--- a/d/e/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    {
      results: [added("d", "d\n"), deleted("d/e/f")],
      tree: { "d/e/f": gone, "d/e/": gone, "d/": gone, d: "d\n" },
    },
  ),
  applies(
    "names below other folders",
    { f: list },
    diff("f", ...numbered)
      .replace("a/f", "old-1.0/f")
      .replace("b/f", "old-1.1/f"),
    one,
  ),
  applies("leading parts to remove", { f: list }, diff("x/y/f", ...numbered), {
    ...one,
    fields: { strip: 3 },
  }),
  refuses("more leading parts than there are", { f: list }, { patch: diff("f", ...numbered), strip: 2 }, [
    "C210",
    "strip",
  ]),
  applies("a patch the other way round", { f: changed }, diff("f", ...numbered), {
    results: [modified("f", list)],
    tree: { f: list },
    fields: { reverse: true },
  }),
  refuses("a deletion the other way round", {}, { patch: v4a("*** Delete File: f"), reverse: true }, [
    "C210",
    "reverse",
  ]),
  applies("a new file over one, as is asked for", { f: list }, v4a("*** Add File: f", "+a"), {
    results: [added("f", "a\n")],
    tree: { f: "a\n" },
    fields: { overwrite: true },
  }),
  applies(
    "a move over a file, as is asked for",
    { f: list, g: "g\n" },
    v4a("*** Update File: f", "*** Move to: g"),
    {
      results: [moved("f", "g")],
      tree: { f: gone, g: list },
      fields: { overwrite: true },
    },
  ),
  {
    name: "a patch that lies in the tree",
    tree: { f: list, "the.patch": diff("f", ...numbered) },
    call: { function: id, payload: { patch_path: "the.patch" } },
    expect: { answer: { committed: true, results: one.results, transaction: aName }, tree: one.tree },
  },
  applies(
    "a file in UTF-16, in the profile agent",
    { f: Buffer.from("\ufeffone\r\ntwo\r\n", "utf16le") },
    update("f", " one", "-two", "+2 €"),
    {
      results: [
        {
          ...modified("f", ""),
          new_line_count: 2,
          revision: contentRevision(Buffer.from("\ufeffone\r\n2 €\r\n", "utf16le")),
          line_ends: "CRLF",
          text_notes: ["UTF-16LE, BOM"],
        },
      ],
      tree: { f: Buffer.from("\ufeffone\r\n2 €\r\n", "utf16le") },
      config: { profile: "agent" },
    },
  ),
  applies("a file with CR, in the profile agent", { f: "one\rtwo\r" }, update("f", " one", "-two", "+2"), {
    results: [{ ...modified("f", "one\n2\n"), revision: contentRevision("one\r2\r"), line_ends: "CR" }],
    tree: { f: "one\r2\r" },
    config: { profile: "agent" },
  }),
  applies(
    "a hunk not where its header says, in the profile agent",
    { f: `zero\n${list}` },
    diff("f", ...numbered),
    {
      results: [{ ...modified("f", `zero\n${changed}`), placed: [{ hunk: 1, line: 2, offset: 1 }] }],
      tree: { f: `zero\n${changed}` },
      config: { profile: "agent" },
    },
  ),
  {
    name: "a character for a file of unknown encoding, in the profile agent",
    tree: { f: Buffer.from([0xe9, 0x0a]) },
    config: { profile: "agent" },
    call: { function: id, payload: { patch: diff("f", "@@ -1,0 +2 @@", "+é") } },
    expect: { error: failure("C210", "encoding"), tree: {} },
  },
  refuses("a patch that is sent and lies in the tree", { f: list }, { patch: "x", patch_path: "f" }, [
    "C210",
    "not both",
  ]),
  refuses("a patch in a file that is not there", {}, { patch_path: "nowhere" }, ["C211", "nowhere"]),
  refuses("a patch in a denied file", { ".env": diff("f", ...numbered) }, { patch_path: ".env" }, [
    "C211",
    ".env",
  ]),
];

const rest: Case[] = [
  applies("a folder that names are relative to", { "p/f": list }, update("f", ...hunk), {
    results: [modified("p/f", changed)],
    tree: { "p/f": changed },
    fields: { base_dir: "p" },
  }),
  applies("a folder with a slash", { "p/q/f": list }, v4a("*** Update File: f", "*** Move to: ../g"), {
    results: [moved("p/q/f", "p/q/../g")],
    tree: { "p/q/f": gone, "p/g": list },
    fields: { base_dir: "p/q/" },
  }),
  refuses("a folder that is not there", {}, { patch: v4a("*** Add File: f", "+a"), base_dir: "p" }, [
    "C211",
    '"p"',
  ]),
  refuses("a folder that is a file", { p: "p" }, { patch: v4a("*** Add File: f", "+a"), base_dir: "p" }, [
    "C210",
    "not a folder",
  ]),
  refuses("a folder outside", {}, { patch: v4a("*** Add File: f", "+a"), base_dir: ".." }, ["C215"]),
  applies("a revision that the file has", { f: list }, update("f", ...hunk), {
    ...one,
    fields: { expected_revisions: { f: contentRevision(list) } },
  }),
  applies(
    "revisions of files that go, move and come",
    { f: list, g: "g\n" },
    v4a("*** Delete File: g", "*** Update File: f", "*** Move to: h", "*** Add File: new", "+a"),
    {
      results: [deleted("g"), { path: "h", from: "f", kind: "moved", ...leaves(list) }, added("new", "a\n")],
      tree: { g: gone, f: gone, h: list, new: "a\n" },
      fields: { expected_revisions: { f: contentRevision(list), g: contentRevision("g\n"), new: "absent" } },
    },
  ),
  refuses(
    "a revision that the file has not",
    { f: list },
    { patch: update("f", ...hunk), expected_revisions: { f: contentRevision(changed) } },
    ["C221", '"f"'],
  ),
  refuses(
    "a revision that a file to delete has not",
    { f: list },
    { patch: v4a("*** Delete File: f"), expected_revisions: { f: contentRevision(changed) } },
    ["C221", '"f"'],
  ),
  refuses(
    "a revision that is none",
    { f: list },
    { patch: update("f", ...hunk), expected_revisions: { f: "latest" } },
    ["C210", "sha256"],
  ),
  refuses(
    "a revision of a file that the patch does not name",
    { f: list, g: list },
    { patch: update("f", ...hunk), expected_revisions: { g: contentRevision(list) } },
    ["C210", '"g"'],
  ),
  {
    name: "a dry run",
    tree: { f: list },
    call: { function: id, payload: { patch: update("f", ...hunk), dry_run: true } },
    expect: {
      answer: { committed: false, results: [modified("f", changed)], plan: aPlan, plan_expires_at: aTime },
      tree: {},
    },
  },
  refuses(
    "a dry run of what does not fit",
    { f: list },
    { patch: update("f", "-tow", "+2"), dry_run: true },
    ["C210", "does not fit"],
  ),
  {
    name: "a patch that changes nothing",
    tree: { f: list },
    call: { function: id, payload: { patch: update("f", " one", "-two", "+two") } },
    expect: { answer: { committed: true, results: [modified("f", list)] }, tree: {} },
  },
];

export const cases: readonly Case[] = [
  ...formats,
  ...files,
  ...hunks,
  ...options,
  ...rest,
  ...notAnObject(id),
  ...wrongTypes({
    function: id,
    field: "patch",
    takes: ["a string"],
    says: ["patch"],
    payload: (patch) => ({ patch }),
  }),
  ...wrongTypes({
    function: id,
    field: "expected_revisions",
    takes: ["an object"],
    says: ["expected_revisions"],
    payload: (value) => ({ patch: v4a("*** Add File: new"), expected_revisions: value }),
  }),
  {
    name: "no patch",
    tree: {},
    call: { function: id, payload: {} },
    expect: { error: failure("C210", "patch") },
  },
];
