/**
 * Tests deletions of a folder that another program renames, replaces or writes to in the process: the first
 * undo brings everything back.
 */
import { expect, spyOn, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Mutation } from "../filesystem/disk/mutation.ts";
import { Journal } from "../filesystem/journal/journal.ts";
import { SessionsFixture } from "./sessions.test-kit.ts";

const files = {
  "d/a/c/deep": "deep\n",
  "d/a/f": "first\n",
  "d/a/g": "second\n",
  "d/b/h": "third\n",
  "d/z": "last\n",
};

/** A program that acts while the journal records the removal of a path. */
interface OtherProgram {
  readonly path: string;
  /** Acts before the journal reads the entry. */
  readonly before?: (at: (path: string) => string) => void;
  /** Acts after that, and before the entry is removed. */
  readonly after?: (at: (path: string) => string) => void;
  /** The contents that it has written and not removed, by those that they replace. */
  readonly written?: Readonly<Record<string, string>>;
}

const away = (path: string): OtherProgram => ({
  path,
  before: (at) => renameSync(at(path), at(`${path}.q`)),
  after: (at) => renameSync(at(`${path}.q`), at(path)),
});

const renamed = (from: string, to: string, path: string): OtherProgram => ({
  path,
  after: (at) => renameSync(at(from), at(to)),
});

const programs: Readonly<Record<string, OtherProgram>> = {
  "a folder is away while it is recorded": away("d/a"),
  "an inner folder is away while it is recorded": away("d/a/c"),
  "the folder itself is away while it is recorded": away("d"),
  "a file is away while it is recorded": away("d/a/f"),
  "a file is another one while it is recorded": {
    path: "d/a/f",
    before(at) {
      renameSync(at("d/a/f"), at("d/a/f.q"));
      writeFileSync(at("d/a/f"), "other\n");
    },
    after: (at) => renameSync(at("d/a/f.q"), at("d/a/f")),
  },
  "two files change places": {
    path: "d/a/f",
    after(at) {
      renameSync(at("d/a/f"), at("d/a/f.q"));
      renameSync(at("d/a/g"), at("d/a/f"));
      renameSync(at("d/a/f.q"), at("d/a/g"));
    },
  },
  "an editor saves a file": {
    path: "d/a/f",
    after(at) {
      writeFileSync(at("d/a/f~"), "saved\n");
      renameSync(at("d/a/f~"), at("d/a/f"));
    },
    written: { "first\n": "saved\n" },
  },
  "a file is appended to": {
    path: "d/a/f",
    after: (at) => appendFileSync(at("d/a/f"), "more\n"),
    written: { "first\n": "first\nmore\n" },
  },
  "a folder is renamed while it is emptied": renamed("d/a", "d/a.q", "d/a/f"),
  "a folder is renamed while a folder in it is emptied": renamed("d/a", "d/a.q", "d/a/c/deep"),
  "a folder is renamed before one in it is removed": renamed("d/a", "d/a.q", "d/a/c"),
  "an inner folder is renamed while it is emptied": renamed("d/a/c", "d/a/e", "d/a/c/deep"),
  "a folder gets a later name": renamed("d/a", "d/c", "d/a/f"),
  "a folder moves out": renamed("d/a", "out", "d/a/f"),
  "the folder itself moves": renamed("d", "out", "d/b/h"),
  "a folder moves out, and another one takes its name": {
    path: "d/a/f",
    after(at) {
      renameSync(at("d/a"), at("out"));
      mkdirSync(at("d/a"));
    },
  },
  "a folder is renamed, and the removal stops in it": {
    path: "d/a/c/deep",
    after(at) {
      writeFileSync(at("d/a/c/theirs"), "theirs\n");
      renameSync(at("d/a"), at("d/a.q"));
    },
    written: { "": "theirs\n" },
  },
  "the folder itself is renamed, and the removal stops in it": {
    path: "d/a/c/deep",
    after(at) {
      writeFileSync(at("d/a/c/theirs"), "theirs\n");
      renameSync(at("d"), at("out"));
    },
    written: { "": "theirs\n" },
  },
};

/** Lets the other program act once before and once after the journal reads an entry. */
function racing({ path, before, after }: OtherProgram, at: (path: string) => string): Disposable {
  const real = Journal.prototype.before;
  let times = 0;
  const spy = spyOn(Journal.prototype, "before").mockImplementation(function (
    this: Journal,
    mutation: Mutation,
  ) {
    const isDue = mutation.kind === "remove" && !mutation.isTree && mutation.path === path && times++ === 0;
    if (isDue) before?.(at);
    real.call(this, mutation);
    if (isDue) after?.(at);
  });
  return { [Symbol.dispose]: () => spy.mockRestore() };
}

/** Returns the contents of all files in the tree, sorted. */
const contentsIn = (base: string): string[] =>
  readdirSync(base, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(`${parentPath}/${name}`, "utf8"))
    .sort();

/** Returns the undo that the text of a deletion advises; by default that of the newest change. */
function advisedIn(text: string): object {
  const fields = /coder::undo (\{.*?\}) brings back/.exec(text)?.[1];
  return fields === undefined ? {} : JSON.parse(fields);
}

test.each(Object.entries(programs))("%s", async (_, program) => {
  await using fixture = new SessionsFixture({ index: "off" });
  const at = (path: string) => fixture.at(path);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  }
  const { written = {} } = program;
  const { "": added = [], ...changed } = written;
  const expected = [...Object.values(files).map((text) => changed[text] ?? text), ...[added].flat()].sort();
  const calls = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  let deleted: string;
  {
    using _race = racing(program, at);
    deleted = await calls.text("coder::delete-file", { paths: ["d"], recursive: true });
  }
  const undone = await calls.text("coder::undo", advisedIn(deleted));
  expect({ deleted, undone, contents: contentsIn(fixture.base) }).toEqual({
    deleted,
    undone: expect.stringMatching(/^Undone;/m),
    contents: expected,
  });
  const kept = contentsIn(fixture.base);
  expect(await calls.text("coder::undo", {})).toMatch(/^Undone;/m);
  expect(await calls.text("coder::undo", {})).toMatch(/^Undone;/m);
  expect(contentsIn(fixture.base)).toEqual(kept);
});

test("a large file that another program appends to comes back with all that it had", async () => {
  await using sessions = new SessionsFixture();
  const path = join(sessions.base, "log");
  const content = "a line of the log\n".repeat(300_000);
  writeFileSync(path, content);
  const appending = spawn("sh", ["-c", 'while [ -e "$0" ]; do echo more >> "$0"; done', path]);
  const { call } = sessions.open();
  await call("coder::delete-file", { paths: ["log"] });
  appending.kill("SIGKILL");
  await once(appending, "close");
  const { checkpoints } = await call("coder::checkpoints");
  rmSync(path, { force: true });
  const undone = await call("coder::undo", { seq: checkpoints.at(-1).seq });
  expect(undone.undone[0]).toMatchObject({ restored: ["log"], skipped: [] });
  const restored = readFileSync(path, "utf8");
  expect(restored.slice(0, content.length) === content).toBe(true);
  expect(restored.slice(content.length)).toMatch(/^(more\n)*$/);
});

test("a folder that is exchanged for a file while it is emptied is not said to be missing", async () => {
  await using sessions = new SessionsFixture();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(sessions.at(path)), { recursive: true });
    writeFileSync(sessions.at(path), text);
  }
  using _program = racing(
    {
      path: "d/a/f",
      after(at) {
        renameSync(at("d/a"), at("out"));
        writeFileSync(at("d/a"), "theirs\n");
      },
    },
    (path) => sessions.at(path),
  );
  const { call } = sessions.open();
  const { results } = await call("coder::delete-file", { paths: ["d"], recursive: true });
  expect(results).toMatchObject([{ path: "d", success: false }]);
  expect(JSON.stringify(results)).toContain("4 entries of the folder");
  expect(readFileSync(sessions.at("d/a"), "utf8")).toBe("theirs\n");
});
