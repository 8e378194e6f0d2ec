import { expect, test } from "bun:test";
import { inOneStep, runAtOnce } from "../base/scheduling/time-slice.ts";
import type { ConfinedRules } from "./command-rules.ts";
import { indexHidden } from "./hidden-names.ts";
import {
  type GuardedNames,
  hiddenBehindLinks,
  hiddenInArguments,
  type NotedOutput,
  sandboxNotes,
} from "./sandbox-notes.ts";

const none: ConfinedRules = { network: "none", holdsFiles: true, keepsFiles: true };
const loopback: ConfinedRules = { network: "loopback", holdsFiles: true, keepsFiles: true };
const full: ConfinedRules = { network: "full", holdsFiles: true, keepsFiles: true };

const python = `  File "/usr/lib/python3.12/socket.py", line 233, in __init__
    _socket.socket.__init__(self, family, type, proto, fileno)
PermissionError: [Errno 13] Permission denied`;

const writing = "commands write below the served folder and $TMPDIR only";
const signalled = "only processes of the same command are signalled";
const hidden = "config/.env is hidden: commands do not find its content there";
const started = "on 127.0.0.1 and ::1 only servers that commands have started are reached";

const index = (paths: readonly string[]) => runAtOnce(indexHidden(paths));

const inArguments = (...args: Parameters<typeof hiddenInArguments>) => runAtOnce(hiddenInArguments(...args));

interface Guarded extends Omit<GuardedNames, "hidden" | "written"> {
  readonly hidden?: readonly string[];
}

const notesOf = (output: NotedOutput, rules: ConfinedRules, { hidden = [], ...guarded }: Guarded = {}) =>
  runAtOnce(
    sandboxNotes(output, rules, {
      written: "the served folder and $TMPDIR only",
      ...guarded,
      hidden: index(hidden),
    }),
  );

const threeTimes = (notes: string[]) => [notes, notes, notes] as const;

/** Outputs of programs, and the notes without a network, with loopback, and with the full network. */
const rows: readonly (readonly [text: string, none: string[], loopback: string[], full: string[]])[] = [
  ["Error: listen EACCES: permission denied 127.0.0.1", ["listening is not allowed"], [], []],
  ["nc: bind failed: Operation not permitted", ["listening is not allowed"], [], []],
  [
    python,
    ["listening and connecting are not allowed"],
    ["sockets of other programs are out of reach"],
    ["sockets of other programs are out of reach"],
  ],
  [
    "Error: connect EACCES /var/run/docker.sock",
    ["listening and connecting are not allowed"],
    ["sockets of other programs are out of reach"],
    ["sockets of other programs are out of reach"],
  ],
  [
    "curl: (6) Could not resolve host: example.com",
    ["there is no network"],
    ["no host but 127.0.0.1 and ::1 is reached"],
    [],
  ],
  ["    code: 'EAI_AGAIN',", ["there is no network"], ["no host but 127.0.0.1 and ::1 is reached"], []],
  [
    "Error: connect ECONNREFUSED 127.0.0.1:3000",
    ["there is no network, not even on loopback"],
    [started],
    [],
  ],
  ["bash: line 1: kill: (1) - Operation not permitted", [signalled], [signalled], [signalled]],
  ["touch: cannot touch '/etc/x': Permission denied", [writing], [writing], [writing]],
  ["Error: EACCES: permission denied, open '/tmp/outside'", [writing], [writing], [writing]],
  ["cat: .env: Permission denied", [hidden], [hidden], [hidden]],
  [
    "Error: EACCES: permission denied, open '/srv/config/.env'",
    ...threeTimes([
      `${hidden}; a program that ends because of that needs another folder for such files (Vite: envDir)`,
    ]),
  ],
  [
    "error: unable to unlink old 'config/.env': Device or resource busy",
    ...threeTimes(["config/.env is hidden: commands do not change, move or remove it"]),
  ],
  ["cat: /proc/1/environ: Permission denied", ...threeTimes(["nothing of other processes is read"])],
  ["grep: /root/notes: Permission denied", [], [], []],
  [
    "cat: /etc/shadow: Permission denied",
    ...threeTimes(["/etc/shadow is hidden: commands do not find its content there"]),
  ],
  ["cat: /home/shadow: Permission denied", [], [], []],
  ["all went well, and 3 tests were refused", [], [], []],
];

test.each(rows)("%s", (text, withoutNetwork, withLoopback, withAll) => {
  const notes = [none, loopback, full].map((rules) =>
    notesOf({ stdout: "", stderr: text }, rules, { hidden: ["config/.env", "/etc/shadow"] }),
  );
  expect(notes).toEqual([withoutNetwork, withLoopback, withAll]);
});

test("each note is given once, and the end of a long output is read", () => {
  const line = "Error: listen EACCES: permission denied\n";
  expect(notesOf({ stdout: line, stderr: `${"x\n".repeat(100_000)}${line.repeat(3)}` }, none)).toEqual([
    "listening is not allowed",
  ]);
});

test("nothing is said of files where nothing keeps them", () => {
  const stderr = "touch: cannot touch '/etc/x': Permission denied";
  expect(notesOf({ stdout: "", stderr }, { network: "none", holdsFiles: false, keepsFiles: false })).toEqual(
    [],
  );
});

test("a file or folder that commands cannot change is named where a line names it", () => {
  const kept = [".git/config", ".git/hooks", ".npmrc"];
  const noted = (stderr: string) => notesOf({ stdout: "", stderr }, none, { kept });
  const reason =
    "is read-only for commands, since other programs act on it by themselves; the user can open it with write_allow_globs";
  expect(noted("error: could not write config file .git/config: Device or resource busy")).toEqual([
    `.git/config ${reason.replace(";", "; git -c KEY=VALUE sets it for one command, git config --global for all;")}`,
  ]);
  expect(noted("bash: line 1: .git/hooks/pre-commit: Read-only file system")).toEqual([
    `.git/hooks ${reason}`,
  ]);
  expect(noted("npm error EROFS: read-only file system, open '/a/.npmrc'")).toEqual([`.npmrc ${reason}`]);
  expect(noted("rm: cannot remove 'sub': Device or resource busy")).toEqual([]);
  expect(noted("npm warn config .npmrc is old")).toEqual([]);
});

test("a folder that is busy is explained by a hidden file or a read-only root in it", () => {
  const nameOf = (path: string) => `app/${path}`;
  const guarded = {
    hidden: ["app/cfg/deep/.env", "/etc/shadow"],
    nestedRoots: ["app/vendor/nested"],
    nameOf,
  };
  const noted = (stderr: string) => notesOf({ stdout: "", stderr }, none, guarded);
  const end = "and so neither it nor the folders above it can be moved or removed";
  for (const folder of ["cfg", "./cfg/", "cfg/deep", "app/cfg"])
    expect(noted(`mv: cannot move '${folder}' to 'x': Device or resource busy`)).toEqual([
      `app/cfg/deep/.env is hidden, ${end}`,
    ]);
  for (const folder of ["vendor", "vendor/nested", "nested", "/srv/app/vendor/nested", "app/vendor"])
    expect(noted(`OSError: [Errno 16] Device or resource busy: '${folder}'`)).toEqual(
      folder.startsWith("/") ? [] : [`app/vendor/nested is a read-only root, ${end}`],
    );
  expect(noted("Error: EBUSY: resource busy or locked, rename 'src' -> 'lib'")).toEqual([]);
  expect(noted("umount: .: Device or resource busy")).toEqual([]);
});

test("git is told how it takes a hidden file of another size for unchanged, and where it stopped", () => {
  const nameOf = (path: string) => (path.startsWith("../") ? path.slice(3) : `sub/${path}`);
  const noted = (stderr: string, hidden = [".env", "sub/.env.test"]) =>
    notesOf({ stdout: "", stderr }, none, { hidden, nameOf });
  const corrected = (path: string) => [
    `${path} is hidden, and git takes it for changed because its size is not the recorded one: git add ${path} corrects that, and changes neither the file nor what is recorded`,
  ];
  expect(noted(" M .env")).toEqual(corrected(".env"));
  expect(noted(" M .env.test")).toEqual(corrected(".env.test"));
  expect(noted("\tmodified:   ../.env")).toEqual(corrected("../.env"));
  expect(noted(" M a.txt\n\t.env")).toEqual([]);
  const overwritten = "error: Your local changes to the following files would be overwritten by checkout:";
  expect(noted(`${overwritten}\n\t.env\nAborting`)).toEqual(corrected(".env"));
  const unlinked = "error: unable to unlink old '.env': Device or resource busy";
  const kept = ".env is hidden: commands do not change, move or remove it";
  expect(noted(unlinked)).toEqual([kept]);
  for (const end of ["error: could not detach HEAD", "fatal: Could not reset index file to revision 'HEAD'."])
    expect(noted(`${unlinked}\n${end}`)).toEqual([
      kept,
      "git stopped in the middle, at a hidden file: git status shows what it had changed by then",
    ]);
});

test("a path without a folder is explained where its file system is read-only", () => {
  const noted = (stderr: string) => notesOf({ stdout: "", stderr }, none);
  for (const line of [
    "touch: cannot touch 'x': Read-only file system",
    "sh: 1: cannot create x: Read-only file system",
    "Can't open: cannot open x: Read-only file system",
    "Error: EROFS: read-only file system, open 'x'",
  ])
    expect(noted(line)).toEqual([writing]);
  expect(noted("touch: cannot touch 'x': Permission denied")).toEqual([]);
});

test("a rename out of a folder that is a mount is explained, if there are mounts", () => {
  const stderr = "OSError: [Errno 18] Invalid cross-device link: 'cfg/x' -> 'y'";
  expect(notesOf({ stdout: "", stderr }, none)).toEqual([expect.stringContaining("as mv does")]);
  expect(notesOf({ stdout: "", stderr }, { ...none, keepsFiles: false })).toEqual([]);
});

test("a hidden file that the command line names is named", () => {
  const noted = (...argv: string[]) => inArguments(argv, index([".env", "config/key.pem"]));
  expect(noted("cat", ".env")).toEqual([".env is hidden: commands do not find its content there"]);
  expect(noted("bash", "-c", "cat <./.env | wc; cat config/key.pem")).toEqual([
    ".env is hidden: commands do not find its content there",
    "config/key.pem is hidden: commands do not find its content there",
  ]);
  expect(noted("cat", ".env.example", "key.pem", "notes.env")).toEqual([]);
});

test("the hidden files are named that a search of their folder passes by", () => {
  const hidden = [".env", "config/key.pem", "/etc/shadow"];
  const noted = (...argv: string[]) =>
    inArguments(argv, index(hidden)).map((note) => note.slice(0, note.indexOf(" is hidden")));
  const inFolder = [".env", "config/key.pem"];
  for (const argv of [
    ["grep", "-rn", "X", "."],
    ["grep", "--recursive", "X"],
    ["bash", "-c", "true && egrep -R X ./ | wc -l"],
    ["git", "grep", "X"],
  ])
    expect(noted(...argv)).toEqual(inFolder);
  expect(noted("grep", "-r", "X", "config/")).toEqual(["config/key.pem"]);
  for (const argv of [
    ["grep", "X", "a.txt"],
    ["grep", "-r", "X", "src"],
    ["git", "log", "--grep=X"],
  ])
    expect(noted(...argv)).toEqual([]);
});

test("the hidden files are named that a copy or an archive of their folder has as blank lines", () => {
  const noted = (...argv: string[]) =>
    inArguments(argv, index([".env", "config/key.pem"])).map((note) => note.split(" ")[0]!);
  for (const argv of [
    ["tar", "cf", "t.tar", "config"],
    ["tar", "--create", "--file=t.tar", "./config/"],
    ["cp", "-r", "config", "copy"],
    ["cp", "-a", "config", "copy"],
    ["zip", "-qr", "t.zip", "config"],
    ["bash", "-c", "rsync -a config/ copy && ls"],
  ])
    expect(noted(...argv)).toEqual(["config/key.pem"]);
  expect(noted("tar", "czf", "t.tgz", ".")).toEqual([".env", "config/key.pem"]);
  for (const argv of [
    ["tar", "xf", "t.tar", "-C", "config"],
    ["tar", "tf", "config"],
    ["cp", "a.txt", "config"],
    ["zip", "t.zip", "a.txt"],
    ["ls", "-R", "config"],
  ])
    expect(noted(...argv)).toEqual([]);
});

test("of two hidden files with one name, the one is named that the line has", () => {
  const hidden = [".env", "sub/.env"];
  const noted = (stderr: string) =>
    notesOf({ stdout: "", stderr }, none, { hidden }).map((note) => note.split(" ")[0]);
  expect(noted("cat: .env: Permission denied")).toEqual([".env"]);
  expect(noted("cat: /srv/sub/.env: Permission denied")).toEqual(["sub/.env"]);
});

test("the call is named that removes a folder which commands cannot, where one does", () => {
  const kept = ["sub/.npmrc", "sub/.git/hooks", ".npmrc"];
  const removal = { folder: "sub", call: "coder::delete-file" };
  const removalOf = (path: string) => inOneStep(() => (path.startsWith("sub/") ? removal : undefined));
  const noted = (stderr: string) => notesOf({ stdout: "", stderr }, none, { kept, removalOf });
  const call = 'coder::delete-file with `recursive` removes "sub" as a whole';
  const reason = "is read-only for commands, since other programs act on it by themselves";
  expect(noted("rm: cannot remove 'sub/.git/hooks/x': Read-only file system")).toEqual([
    `sub/.git/hooks ${reason}; ${call}`,
  ]);
  expect(noted("rm: cannot remove '.npmrc': Device or resource busy")).toEqual([
    `sub/.npmrc ${reason}; ${call}`,
    `.npmrc ${reason}; the user can open it with write_allow_globs`,
  ]);
  expect(noted("mv: cannot move './sub' to 'other': Device or resource busy")).toEqual([
    `sub/.npmrc ${reason}, and so the folders above it cannot be moved; ${call}`,
  ]);
  expect(noted("mv: cannot move 'other' to 'su': Device or resource busy")).toEqual([]);
});

test("a hidden file is named by its last name, however it is written", () => {
  const hidden = [".env", "a/my key.pem", "b/[id].pem", "vault"];
  const noted = (stderr: string) =>
    notesOf({ stdout: "", stderr }, none, { hidden }).map((note) =>
      note.slice(0, note.indexOf(" is hidden")),
    );
  for (const [named, path] of [
    ["\u001b[31m.env\u001b[39m", ".env"],
    ["[.env]", ".env"],
    ["my key.pem", "a/my key.pem"],
    ["/srv/b/[id].pem", "b/[id].pem"],
    ["/srv/vault/x", "vault"],
  ] as const)
    expect(noted(`error: Permission denied: ${named}`)).toEqual([path]);
  expect(noted("Permission denied: .env.")).toEqual([".env"]);
  expect(noted("cat: notes.env: Permission denied")).toEqual([]);
});

test("one line of an output is one step", () => {
  const stderr = "cat: .env: Permission denied\n".repeat(99);
  const steps = sandboxNotes({ stdout: "", stderr }, none, { written: "", hidden: index([".env"]) });
  expect([...steps].length).toBeGreaterThanOrEqual(99);
});

test("a line takes a step for each read-only root, and for some of the hidden names with blanks", () => {
  const stepsOf = (stderr: string, hidden: readonly string[], nestedRoots: readonly string[]) =>
    [...sandboxNotes({ stdout: "", stderr }, none, { written: "", hidden: index(hidden), nestedRoots })]
      .length;
  const roots = Array.from({ length: 256 }, (_, number) => `root${number}`);
  expect(stepsOf("mv: other: Device or resource busy", [], roots)).toBeGreaterThan(256);
  const names = Array.from({ length: 10_000 }, (_, number) => `my key ${number}.pem`);
  expect(stepsOf("EACCES EROFS x", names, [])).toBeGreaterThan(10);
});

test("the longest path that a word ends with is named, or the one that an absolute word begins with", () => {
  const hidden = ["c/.env", "b/c/.env", "/srv/key", "/srv/key/.env"];
  const noted = (word: string) =>
    notesOf({ stdout: "", stderr: `cat: ${word}: Permission denied` }, none, { hidden }).map((note) =>
      note.slice(0, note.indexOf(" is hidden")),
    );
  expect(noted("/a/b/c/.env")).toEqual(["b/c/.env"]);
  expect(noted("x/c/.env")).toEqual(["c/.env"]);
  expect(noted("/srv/key/more/id")).toEqual(["/srv/key"]);
  expect(noted("/srv/key/.env")).toEqual(["/srv/key/.env"]);
  expect(noted(`${"a/".repeat(6000)}b/c/.env`)).toEqual(["b/c/.env"]);
});

test("each folder that a command reads is looked up once, some in each step", () => {
  const named: string[] = [];
  const nameOf = (word: string) => {
    named.push(word);
    return word;
  };
  const words = Array.from({ length: 10_000 }, (_, number) => `w${number}`);
  const argv = ["cp", "-r", ...words, ...words, "sub"];
  const steps = [...hiddenInArguments(argv, index(["sub/.env"]), nameOf)].length;
  expect(named).toHaveLength(words.length + 1);
  expect(steps).toBeGreaterThan(50);
});

test("a link that leads to a hidden file, or to a folder with one, is followed", () => {
  const links: Readonly<Record<string, string[]>> = { lnk: ["sub/.env"], up: ["sub"], plain: ["sub/b.txt"] };
  const behind = (...argv: string[]) =>
    runAtOnce(hiddenBehindLinks(argv, index(["sub/.env"]), (path) => links[path] ?? []));
  const note = ["sub/.env is hidden: commands do not find its content there"];
  expect(behind("cat", "./lnk")).toEqual(note);
  expect(behind("sh", "-c", "cat x; cat lnk")).toEqual(note);
  expect(behind("grep", "-r", "KEY", "up")).toEqual(note);
  expect(behind("ls", "up")).toEqual([]);
  expect(behind("cat", "plain")).toEqual([]);
  const words = Array.from({ length: 20_000 }, (_, number) => `w${number}`);
  let followed = 0;
  runAtOnce(hiddenBehindLinks(["cat", words.join(" ")], index(["sub/.env"]), () => [`${followed++}`]));
  expect(followed).toBe(1000);
});

test("only words that may be hidden get their names in the folder of the command, some words in each step", () => {
  const words = Array.from({ length: 10_000 }, (_, number) => `w${number}`);
  const named: string[] = [];
  const nameOf = (word: string) => {
    named.push(word);
    return `sub/${word}`;
  };
  const steps = hiddenInArguments(["cat", words.join(" "), "a/.env", "sub/x"], index(["sub/a/.env"]), nameOf);
  let count = 0;
  for (;;) {
    const { done, value } = steps.next();
    if (done) {
      expect(value).toEqual(["sub/a/.env is hidden: commands do not find its content there"]);
      break;
    }
    count++;
  }
  expect(named).toEqual(["a/.env"]);
  expect(count).toBeGreaterThan(10);
  expect([...hiddenInArguments(["cat", words.join(" ")], index([]))]).toEqual([]);
});

test("three hidden files of a command line are named, and a note says that there are more", () => {
  const paths = Array.from({ length: 5 }, (_, number) => `many/k${number}.secret`);
  const say = (path: string) => `${path} is hidden: commands do not find its content there`;
  expect(inArguments(["cat", ...paths.slice(0, 3)], index(paths))).toEqual(paths.slice(0, 3).map(say));
  const all = [...paths.slice(0, 3).map(say), "more files there are hidden like these"];
  expect(inArguments(["cat", ...paths], index(paths))).toEqual(all);
  expect(inArguments(["grep", "-r", "x", "many"], index(paths))).toEqual(all);
});

test("eight notes on an output are shown, and the others counted", () => {
  const hidden = Array.from({ length: 300 }, (_, number) => `many/k${number}.secret`);
  const stderr = hidden.map((path) => `rm: cannot remove '${path}': Device or resource busy\n`).join("");
  const notes = notesOf({ stdout: "", stderr }, none, { hidden });
  expect(notes).toHaveLength(9);
  expect(notes[7]).toContain("is hidden: commands do not change, move or remove it");
  expect(notes[8]).toMatch(/^the same holds for \d+ more paths of the output$/);
});
