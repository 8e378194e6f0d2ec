/** Other programs change a file between the moment a call reads it and the moment the call replaces it. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Deadline, deadlineIn } from "../../src/base/scheduling/deadline.ts";
import { type CoderRuntime, openCoder } from "../../src/coder/services.ts";
import { createFileAt } from "../../src/filesystem/operations/create.ts";
import { buildTree, snapshotTree } from "../harness/tree.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { edit } from "./edit.ts";
import { configOf } from "./settings.ts";

let root: string;
let base: string;
let runtime: CoderRuntime;

beforeEach(async () => {
  root = temporaryFolder();
  base = join(root, "base");
  buildTree(root, { "f.txt": "old\n", "../outside.txt": "outside\n" });
  runtime = await openCoder(await configOf({ base_path: base, fsync: false }), { environment: process.env });
});
afterEach(async () => {
  await runtime.close();
  rmSync(root, { recursive: true });
});

const at = (name: string) => join(base, name);
const text = (name: string) => readFileSync(at(name), "utf8");
const append = (line: string) => (before: Buffer) => Buffer.concat([before, Buffer.from(line)]);

/** Returns the reason of a refusal, or "done" if the act succeeded. */
const endOf = (act: Promise<unknown>): Promise<string> =>
  act.then(
    () => "done",
    (error: { reason?: string; message: string }) => error.reason ?? error.message,
  );

/** Actions of another program on the file, and the content that each leaves. */
const foreignWrites: Readonly<Record<string, { act(): void; leaves: string }>> = {
  "appends to it": { act: () => writeFileSync(at("f.txt"), "old\nforeign\n"), leaves: "old\nforeign\n" },
  "writes as many bytes": { act: () => writeFileSync(at("f.txt"), "OLD\n"), leaves: "OLD\n" },
  "writes as many bytes and sets the time back": {
    act() {
      writeFileSync(at("f.txt"), "OLD\n");
      utimesSync(at("f.txt"), 1_700_000_000, 1_700_000_000);
    },
    leaves: "OLD\n",
  },
  "replaces it": {
    act() {
      writeFileSync(at("other"), "OLD\n");
      renameSync(at("other"), at("f.txt"));
    },
    leaves: "OLD\n",
  },
  "makes it empty": { act: () => writeFileSync(at("f.txt"), ""), leaves: "" },
};

describe.each(Object.entries(foreignWrites))(
  "another program %s while a call edits",
  (_, { act, leaves }) => {
    test("once: the edit is made on what it wrote", async () => {
      let tries = 0;
      const change = (before: Buffer) => {
        if (++tries === 1) act();
        return append("ours\n")(before);
      };
      await edit(runtime, "f.txt", change, { deadline: deadlineIn(5000) });
      expect({ tries, text: text("f.txt") }).toEqual({ tries: 2, text: `${leaves}ours\n` });
    });

    test("again and again: the call fails, and what it wrote stays", async () => {
      let tries = 0;
      const change = (before: Buffer) => {
        tries++;
        act();
        // Without this, the second write of some programs would change nothing but the time.
        writeFileSync(at("f.txt"), `${text("f.txt")}${tries}`);
        return append("ours\n")(before);
      };
      expect(await endOf(edit(runtime, "f.txt", change, { deadline: deadlineIn(5000) }))).toBe("io");
      expect({ tries, text: text("f.txt") }).toEqual({ tries: 2, text: `${leaves}2` });
      expect(readdirSync(base)).toEqual(["f.txt"]);
    });
  },
);

test("another program writes within one step of the clock that stamps files", async () => {
  // Each round writes the file again, so that it is fresh when the call reads it.
  for (let round = 0; round < 200; round++) {
    let tries = 0;
    writeFileSync(at("f.txt"), `old ${round}\n`.padEnd(20));
    await edit(
      runtime,
      "f.txt",
      (before) => {
        if (++tries === 1) writeFileSync(at("f.txt"), `new ${round}\n`.padEnd(20));
        return append("ours\n")(before);
      },
      { deadline: deadlineIn(5000) },
    );
    expect(text("f.txt")).toBe(`${`new ${round}\n`.padEnd(20)}ours\n`);
  }
});

test("the file is deleted while a call edits it: it is not made again", async () => {
  const change = (before: Buffer) => {
    rmSync(at("f.txt"), { force: true });
    return append("ours\n")(before);
  };
  expect(await endOf(edit(runtime, "f.txt", change, { deadline: deadlineIn(5000) }))).toBe("missing");
  expect(readdirSync(base)).toEqual([]);
});

test("the file becomes a link that leads outside: neither end is written to", async () => {
  const change = (before: Buffer) => {
    rmSync(at("f.txt"), { force: true });
    symlinkSync("../outside.txt", at("f.txt"));
    return append("ours\n")(before);
  };
  expect(await endOf(edit(runtime, "f.txt", change, { deadline: deadlineIn(5000) }))).toBe("outside");
  expect(readFileSync(join(root, "outside.txt"), "utf8")).toBe("outside\n");
  expect(readdirSync(base)).toEqual(["f.txt"]);
});

test("the mode is changed while a call edits: the new mode is kept", async () => {
  let tries = 0;
  const change = (before: Buffer) => {
    if (++tries === 1) chmodSync(at("f.txt"), 0o640);
    return append("ours\n")(before);
  };
  await edit(runtime, "f.txt", change, { deadline: deadlineIn(5000) });
  expect(snapshotTree(root).get("f.txt")).toEqual({ kind: "file", mode: 0o640, content: "old\nours\n" });
});

/** Actions of another program on the temporary file. */
const tamperings: Readonly<Record<string, (temporary: string) => void>> = {
  "is deleted": (temporary) => unlinkSync(temporary),
  "is replaced by another file": (temporary) => {
    writeFileSync(at("planted"), "planted");
    renameSync(at("planted"), temporary);
  },
  "is replaced by a link that leads outside": (temporary) => {
    unlinkSync(temporary);
    symlinkSync("../outside.txt", temporary);
  },
};

/**
 * Returns a deadline that lets `tamper` act on the temporary file at each check, as just before the rename.
 */
function tamperingDeadline(tamper: (temporary: string) => void): Deadline {
  return Object.assign(deadlineIn(5000), {
    check() {
      const names = readdirSync(base, { recursive: true }) as string[];
      const temporary = names.find((name) => name.includes(".coder-tmp-"));
      if (temporary !== undefined) tamper(at(temporary));
    },
  });
}

describe.each(Object.entries(tamperings))("the temporary file %s before it has its name", (_, tamper) => {
  const writes: Readonly<Record<string, (deadline: Deadline) => Promise<unknown>>> = {
    update: (deadline) => edit(runtime, "f.txt", append("ours\n"), { deadline }),
    create: (deadline) => create("new.txt", deadline),
    "create below new folders": (deadline) => create("new/folders/new.txt", deadline),
    overwrite: (deadline) => create("f.txt", deadline),
  };

  test.each(Object.keys(writes))("%s fails, and what was there stays", async (name) => {
    expect(await endOf(writes[name]!(tamperingDeadline(tamper)))).toBe("io");
    expect(readdirSync(base)).toEqual(["f.txt"]);
    expect(text("f.txt")).toBe("old\n");
    expect(readFileSync(join(root, "outside.txt"), "utf8")).toBe("outside\n");
    await writes[name]!(deadlineIn(5000));
  });

  function create(path: string, deadline: Deadline): Promise<boolean> {
    const options = { mode: 0o644, overwrite: true, parents: true };
    return createFileAt(runtime.tree, { path, content: Buffer.from("ours\n"), ...options }, { deadline });
  }
});
