/** Tests the removal of files that another program replaces or writes to in the process. */
import { describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { FilesFixture } from "../files/files.test-kit.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import { backends } from "../jail/jail.test-kit.ts";
import type { MutationListener } from "./mutation.ts";
import { removeEntry, removeVerified } from "./set-aside.ts";

const file = { raw: "f", kind: "file" } as const;

describe.each(backends)("%s", (backend) => {
  /** Lets another program act each time that a removal has been reported and not been made. */
  const racing = (act: (bench: FilesFixture) => void) => {
    const outcomes: string[] = [];
    const listener: MutationListener = {
      before({ entries }) {
        entries?.replaced()?.read(() => undefined);
        act(bench);
      },
      after: (_, outcome) => outcomes.push(outcome),
    };
    const bench: FilesFixture = new FilesFixture(backend, { f: "old" }, { listeners: [listener] });
    const scope = { mutations: bench.disk.mutations, requester: bench.call };
    return { bench, scope, folder: bench.jailed.reopenFolder(""), outcomes };
  };

  test("a file that another program always writes to is removed in the end", () => {
    const { bench, scope, folder, outcomes } = racing((bench) => appendFileSync(bench.at("f"), "more"));
    using _bench = bench;
    using _folder = folder;
    removeEntry(scope, folder, file);
    expect(bench.tree()).toEqual({});
    expect(outcomes).toEqual(["failed", "failed", "done"]);
  });

  test("a file that another program always replaces stays", async () => {
    const { bench, outcomes } = racing((one) => {
      writeFileSync(one.at("f~"), "newer");
      renameSync(one.at("f~"), one.at("f"));
    });
    using _bench = bench;
    const removal = bench.files.remove("f", { recursive: false }, bench.call);
    expect(await removal.catch((error: Error) => error.message)).toBe(
      '"f" was not removed: each time that it was about to be, another program had just replaced it. Repeat the call once that program is done.',
    );
    expect(bench.tree()).toEqual({ f: "newer" });
    expect(outcomes).toEqual(["failed", "failed", "failed"]);
  });

  test("a folder that takes the name of a file is not removed", async () => {
    const { bench } = racing((bench) => {
      rmSync(bench.at("f"), { force: true, recursive: true });
      mkdirSync(bench.at("f"));
      writeFileSync(bench.at("f/theirs"), "theirs");
    });
    using _bench = bench;
    const removal = bench.files.remove("f", { recursive: false }, bench.call);
    expect(await removal.catch((error: Error) => error.message)).toContain("had just replaced it");
    expect(bench.tree()).toEqual({ "f/": null, "f/theirs": "theirs" });
  });

  test("a file that cannot be put back, since its name is taken again, stays beside it", () => {
    const { bench, scope, folder } = racing(() => {});
    using _bench = bench;
    using _folder = folder;
    const verify = () => {
      writeFileSync(bench.at("f"), "newer");
      throw errnoError("EIO");
    };
    let error: unknown;
    try {
      removeVerified(scope, folder, { ...file, verify });
    } catch (thrown) {
      error = thrown;
    }
    expect(errnoOf(error)).toBe("EIO");
    const tree = Object.entries(bench.tree()).map(([name, text]) => [
      name.replace(/[0-9a-f]{8}$/, "8"),
      text,
    ]);
    expect(Object.fromEntries(tree)).toEqual({ f: "newer", "f.kept-8": "old" });
  });
});
