/** Changes that the system stops halfway. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { chownToNobody, unprivileged } from "../filesystem/files/unprivileged.test-kit.ts";
import type { Config } from "./config.ts";
import { SessionsFixture } from "./sessions.test-kit.ts";

const author = { client: "anna 1.0", session: "aaaaaaaa" };

/** Calls `use` with a worker whose folder `d` has three entries before `closed`, and one after it. */
async function withTree(config: Partial<Config>, use: (fixture: SessionsFixture) => Promise<void>) {
  await using fixture = new SessionsFixture(config);
  chmodSync(fixture.root, 0o755);
  for (const path of ["d", "d/a", "d/closed"]) mkdirSync(fixture.at(path));
  for (const path of ["d/a/1", "d/a/2", "d/closed/f", "d/z"]) writeFileSync(fixture.at(path), "text\n");
  for (const path of ["d", "d/a", "d/closed"]) chownToNobody(fixture.at(path));
  chmodSync(fixture.at("d/closed"), 0o555);
  // The files of the journal that the unprivileged call adds to are open from here on.
  await fixture.open(author).call("coder::create-file", { files: [{ path: "first", content: "" }] });
  try {
    await use(fixture);
  } finally {
    if (existsSync(fixture.at("d/closed"))) chmodSync(fixture.at("d/closed"), 0o755);
  }
}

const permission = (path: string) =>
  `The operating system does not permit this on "${path}". Choose another path, or ask the user to change its permissions.`;
const messageOf = ([{ error }]: readonly [{ readonly error: string }]): string => JSON.parse(error).message;
const deleteAll = { paths: ["d"], recursive: true };

test("the error says where it stopped, what is gone, and how that comes back", async () => {
  await withTree({}, async (fixture) => {
    const { call, text } = fixture.open(author);
    const { results } = await unprivileged(() => call("coder::delete-file", deleteAll));
    expect(messageOf(results)).toEndWith(
      `${permission("d/closed/f")} 3 entries of the folder "d" are gone already, and the rest is still there. coder::undo {"seq":2,"paths":["d"]} brings back what is gone. To delete the rest, repeat the call once nothing prevents it.`,
    );
    expect(readdirSync(fixture.at("d")).sort()).toEqual(["closed", "z"]);
    expect(await text("coder::undo", { seq: 2, paths: ["d"] })).toContain("restored: d/a/1");
    expect(readdirSync(fixture.at("d/a")).sort()).toEqual(["1", "2"]);
    chmodSync(fixture.at("d/closed"), 0o755);
    expect((await call("coder::delete-file", deleteAll)).results).toMatchObject([{ removed: true }]);
  });
});

test("the error counts what the journal could not keep, and promises nothing without a journal", async () => {
  await withTree({}, async (fixture) => {
    execFileSync("mkfifo", [fixture.at("d/a/pipe")]);
    const { call } = fixture.open(author);
    const { results } = await unprivileged(() => call("coder::delete-file", deleteAll));
    expect(messageOf(results)).toContain(
      '4 entries of the folder "d" are gone already, and the rest is still there. coder::undo {"seq":2,"paths":["d"]} brings back what is gone, except 1 that the journal could not keep.',
    );
  });
  await withTree({ journal: { max_bytes: 4096, max_records: 0 } }, async (fixture) => {
    const { call } = fixture.open(author);
    const { results } = await unprivileged(() => call("coder::delete-file", deleteAll));
    expect(messageOf(results)).toEndWith(
      '3 entries of the folder "d" are gone already, and the rest is still there. To delete the rest, repeat the call once nothing prevents it.',
    );
  });
});

test("a removal that stops at its first entry says that nothing is gone", async () => {
  await withTree({}, async (fixture) => {
    const { call } = fixture.open(author);
    const { results } = await unprivileged(() =>
      call("coder::delete-file", { paths: ["d/closed"], recursive: true }),
    );
    expect(messageOf(results)).toEndWith(
      `${permission("d/closed/f")} Nothing of the folder "d/closed" is gone. To delete it, repeat the call once nothing prevents it.`,
    );
  });
});

test("in the profile contract the error is that of coder 0.2.0", async () => {
  await withTree({ profile: "contract" }, async (fixture) => {
    const { call } = fixture.open(author);
    const { results } = await unprivileged(() => call("coder::delete-file", deleteAll));
    expect(messageOf(results)).toEndWith(permission("d"));
    expect(messageOf(results)).not.toContain("gone");
  });
});

const failing: Readonly<Record<string, readonly [id: string, payload: object]>> = {
  move: ["coder::move", { files: [{ from: "d/closed/f", to: "d/n1/n2/f" }] }],
  "move to a folder that is there": ["coder::move", { files: [{ from: "d/closed/f", to: "d/f" }] }],
  copy: ["coder::copy", { files: [{ from: "d/closed", to: "d/closed/n1/n2" }] }],
};

test.each(Object.entries(failing))(
  "a %s that fails has no checkpoint, and hides no other",
  async (_, [id, sent]) => {
    await withTree({}, async (fixture) => {
      const { call } = fixture.open(author);
      const failed = await unprivileged(() => call(id, sent));
      expect(failed).toEqual({ results: [expect.objectContaining({ success: false })] });
      expect(readdirSync(fixture.at("d")).sort()).toEqual(["a", "closed", "z"]);
      expect(await call("coder::undo", {})).toMatchObject({ undone: [{ seq: 1, removed: ["first"] }] });
    });
  },
);

test("a checkpoint has only the folders that stayed", async () => {
  await withTree({}, async (fixture) => {
    const { call } = fixture.open(author);
    const files = [
      { from: "d/closed/f", to: "d/n1/n2/f" },
      { from: "d/z", to: "d/n1/z" },
    ];
    const { checkpoint } = await unprivileged(() => call("coder::move", { files }));
    const { checkpoints } = await call("coder::checkpoints", { seq: checkpoint });
    expect(checkpoints[0].files).toEqual([
      { path: "d/n1", change: "created" },
      { path: "d/n1/z", from: "d/z", change: "moved" },
    ]);
    expect((await call("coder::undo", { seq: checkpoint })).conflicts).toEqual([]);
    expect(readdirSync(fixture.at("d")).sort()).toEqual(["a", "closed", "z"]);
  });
});

test("a move that fails has lost nothing if the journal cannot be written", async () => {
  await withTree({}, async (fixture) => {
    const { call } = fixture.open(author);
    using _ = await fixture.breakJournal();
    const failed = await unprivileged(() => call(...failing["move"]!));
    expect(failed).toEqual({ results: [expect.objectContaining({ success: false })] });
    expect(readdirSync(fixture.at("d")).sort()).toEqual(["a", "closed", "z"]);
  });
});
