/**
 * Files that a caller can plant and that a person's git then runs. The worker writes each plant, and git
 * itself runs on the result: in the profile `contract`, it runs the planted command; in `agent`, it does not.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createLog } from "../../src/base/log/log.ts";
import { createInvoke } from "../../src/calls/invoke.ts";
import { functions } from "../../src/coder/functions.ts";
import { loadConfig, openCoder } from "../../src/coder/services.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));

const log = createLog({ level: "error", form: "text", write: (line) => process.stderr.write(line) });

/** A folder with a home and with a repository, which is the base. */
class Place {
  readonly home: string;
  readonly base: string;
  readonly marker: string;

  constructor() {
    const top = mkdtempSync(join(root, "place-"));
    this.home = join(top, "home");
    this.base = join(top, "base");
    this.marker = join(top, "planted");
    for (const folder of [this.home, this.base]) mkdirSync(folder, { recursive: true });
    this.write(
      "../home/.gitconfig",
      '[user]\n\tname = n\n\temail = e@e\n[protocol "file"]\n\tallow = always\n',
    );
    this.write("tracked.txt", "text\n");
    this.git("init", "-q");
    this.git("add", ".");
    this.git("commit", "-qm", "first");
  }

  get environment() {
    return { HOME: this.home, PATH: process.env["PATH"], GIT_CONFIG_NOSYSTEM: "1" };
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.base, path)), { recursive: true });
    writeFileSync(join(this.base, path), text, { mode: 0o755 });
  }

  git(...words: string[]): void {
    spawnSync("git", words, { cwd: this.base, env: this.environment });
  }
}

interface Plant {
  /** Prepares the repository as a person has it. */
  readonly before?: (place: Place) => void;
  /** The files that the caller writes, by path. `command` is a program that leaves a mark when it runs. */
  readonly files: (command: string) => Readonly<Record<string, string>>;
  /** Moves that the caller makes after the writes. */
  readonly moves?: Readonly<Record<string, string>>;
  /** The arguments of the git command that the person runs. Default: `status`. */
  readonly words?: readonly string[];
}

const monitor = (command: string) => `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ${command}\n`;
const hook = (command: string) => `#!/bin/sh\n${command}\n`;
const commit = ["commit", "-qam", "second", "--allow-empty"];

const plants: Readonly<Record<string, Plant>> = {
  "configuration of the repository": { files: (command) => ({ ".git/config": monitor(command) }) },
  "a hook": { files: (command) => ({ ".git/hooks/pre-commit": hook(command) }), words: commit },
  "a hook of an older profile's blind spot": {
    files: (command) => ({ ".git/hooks/post-index-change": hook(command) }),
    words: ["add", "--renormalize", "."],
  },
  "the folder that a repository shares": {
    files: (command) => ({
      ".git/commondir": "../evil\n",
      "evil/config": monitor(command),
      "evil/objects/x": "",
      "evil/refs/x": "",
    }),
  },
  "configuration of one working tree": {
    before: (place) => place.git("config", "extensions.worktreeConfig", "true"),
    files: (command) => ({ ".git/config.worktree": monitor(command) }),
  },
  "configuration of a submodule": {
    before(place) {
      place.git("clone", "-q", ".", "../other");
      place.git("submodule", "add", "-q", `${place.base}/../other`, "sub");
      place.git("commit", "-qm", "submodule");
    },
    files: (command) => ({
      ".git/modules/sub/config": `${monitor(command)}\tworktree = ../../../sub\n`,
    }),
  },
  "a file .git in a folder": {
    files: (command) => ({
      "sub/.git": "gitdir: ../evil\n",
      "evil/config": monitor(command),
      "evil/objects/x": "",
      "evil/refs/x": "",
      "evil/HEAD": "ref: refs/heads/main\n",
    }),
    words: ["-C", "sub", "status"],
  },
  "a folder .git that gets its name by a move": {
    files: (command) => ({
      "sub/evil/config": monitor(command),
      "sub/evil/objects/x": "",
      "sub/evil/refs/x": "",
      "sub/evil/head": "ref: refs/heads/main\n",
    }),
    moves: { "sub/evil/head": "sub/evil/HEAD", "sub/evil": "sub/.git" },
    words: ["-C", "sub", "status"],
  },
  "a link that gets the name .git": {
    before(place) {
      mkdirSync(join(place.base, "sub"));
      symlinkSync("../evil", join(place.base, "sub/link"));
      place.write("evil/HEAD", "ref: refs/heads/main\n");
    },
    files: (command) => ({ "evil/config": monitor(command), "evil/objects/x": "", "evil/refs/x": "" }),
    moves: { "sub/link": "sub/.git" },
    words: ["-C", "sub", "status"],
  },
  "a folder that is a bare repository": {
    files: (command) => ({
      "plain/config": `${monitor(command)}\tbare = false\n\tworktree = ..\n`,
      "plain/objects/x": "",
      "plain/refs/x": "",
      "plain/HEAD": "ref: refs/heads/main\n",
    }),
    words: ["-C", "plain", "status"],
  },
  "a bare repository of which the person has HEAD": {
    before: (place) => place.write("plain/HEAD", "ref: refs/heads/main\n"),
    files: (command) => ({
      "plain/config": `${monitor(command)}\tbare = false\n\tworktree = ..\n`,
      "plain/objects/x": "",
      "plain/refs/x": "",
    }),
    words: ["-C", "plain", "status"],
  },
  "a folder of hooks by its usual name": {
    before: (place) => place.git("config", "core.hooksPath", ".husky"),
    files: (command) => ({ ".husky/pre-commit": hook(command) }),
    words: commit,
  },
  "a folder of hooks by any name": {
    before: (place) => place.git("config", "core.hooksPath", "scripts/for git"),
    files: (command) => ({ "scripts/for git/pre-commit": hook(command) }),
    words: commit,
  },
  "a folder of hooks, moved as a whole": {
    before: (place) => place.git("config", "core.hooksPath", "scripts/hooks"),
    files: (command) => ({ "free/hooks/pre-commit": hook(command) }),
    moves: { free: "scripts" },
    words: commit,
  },
  "a folder of hooks by a link": {
    before(place) {
      place.git("config", "core.hooksPath", "linked");
      mkdirSync(join(place.base, "real"));
      symlinkSync("real", join(place.base, "linked"));
    },
    files: (command) => ({ "real/pre-commit": hook(command) }),
    words: commit,
  },
  "a folder of hooks that the user has everywhere": {
    before: (place) => place.git("config", "--global", "core.hooksPath", "team/hooks"),
    files: (command) => ({ "team/hooks/pre-commit": hook(command) }),
    words: commit,
  },
  "a file that the configuration includes": {
    before: (place) => place.git("config", "include.path", "../team.gitconfig"),
    files: (command) => ({ "team.gitconfig": monitor(command) }),
  },
  "a file that an included one includes": {
    before(place) {
      place.git("config", "include.path", "../team/first");
      place.write("team/first", "[include]\n\tpath = second\n");
    },
    files: (command) => ({ "team/second": monitor(command) }),
  },
  "a program of a filter": {
    before(place) {
      place.git("config", "filter.team.clean", "sh ./tools/clean.sh %f");
      place.write(".gitattributes", "*.txt filter=team\n");
      place.write("tools/clean.sh", "cat\n");
      place.write("tracked.txt", "changed\n");
    },
    files: (command) => ({ "tools/clean.sh": `${command}\ncat\n` }),
    words: ["add", "."],
  },
  "a program that an alias runs": {
    before: (place) => place.git("config", "alias.st", "!./tools/st"),
    files: (command) => ({ "tools/st": hook(command) }),
    words: ["st"],
  },
  "the repository of a working tree elsewhere": {
    before(place) {
      place.git("clone", "-q", "--separate-git-dir=store", ".", "work");
    },
    files: (command) => ({ "store/config": monitor(command) }),
    words: ["-C", "work", "status"],
  },
};

async function plantBy(place: Place, profile: string, { files, moves = {} }: Plant): Promise<string> {
  const config = { source: "test", keys: { fsync: false, base_path: place.base, profile, index: "off" } };
  const runtime = await openCoder(loadConfig({ config, basePath: undefined, environment: {} }), {
    environment: { ...place.environment, XDG_STATE_HOME: join(root, "state") },
  });
  const invoke = createInvoke(runtime, log);
  const call = async (id: string, entry: object) =>
    JSON.stringify(await invoke(functions.find((one) => one.id === id)!, { files: [entry] }));
  const answers: string[] = [];
  const command = join(dirname(place.marker), "run.sh");
  writeFileSync(command, `#!/bin/sh\n: > ${place.marker}\n`, { mode: 0o755 });
  for (const [path, content] of Object.entries(files(command)))
    answers.push(
      await call("coder::create-file", { path, content, parents: true, overwrite: true, mode: "0755" }),
    );
  for (const [from, to] of Object.entries(moves))
    answers.push(await call("coder::move", { from, to, overwrite: true }));
  await runtime.close();
  return answers.join("\n");
}

describe.each(Object.entries(plants))("%s", (_, plant) => {
  test.each(["contract", "agent"])("%s", async (profile) => {
    const place = new Place();
    plant.before?.(place);
    rmSync(place.marker, { force: true });
    const answers = await plantBy(place, profile, plant);
    place.git(...(plant.words ?? ["status"]));
    expect([existsSync(place.marker), answers.includes("C222")]).toEqual(
      profile === "contract" ? [true, false] : [false, true],
    );
  });
});

test("files of a repository that git does not run are written", async () => {
  const place = new Place();
  place.git("config", "core.hooksPath", "scripts/hooks");
  place.git("config", "alias.up", "!cd ./src && git pull");
  place.write("src/there.txt", "");
  const files = () => ({
    "src/there.txt": "new",
    "scripts/build.sh": "",
    "hooks/pre-commit": "",
    ".gitignore": "",
    ".github/workflows/ci.yml": "",
    "config/objects/refs": "",
    "package.json": "{}",
  });
  expect(await plantBy(place, "agent", { files })).not.toContain("C222");
});
