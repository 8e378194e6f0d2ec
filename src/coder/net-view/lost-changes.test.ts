/** Tests that net changes are only supposed where the feed has lost others. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "../sessions.test-kit.ts";
import type { NetChange } from "./answer.ts";

test.each(["names", "stat", "diff"])(
  "after an overflow, %s have no move or creation for certain",
  async (answer) => {
    await using fixture = new SessionsFixture();
    const { call, text } = fixture.open({ session: "a" });
    for (const folder of ["sub", "other"]) {
      mkdirSync(fixture.at(folder));
      writeFileSync(fixture.at(`${folder}/f`), "f\n");
    }
    writeFileSync(fixture.at("file"), "");
    const { next: since, external } = await call("coder::changes");
    if (!external) return;
    const limit = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
    renameSync(fixture.at("other"), fixture.at("another"));
    await call("coder::changes");
    // An overflow of the kernel's queue loses all of these.
    renameSync(fixture.at("sub"), fixture.at("sub9"));
    for (let renames = 0; renames < limit; renames++) {
      renameSync(fixture.at("file"), fixture.at("file9"));
      renameSync(fixture.at("file9"), fixture.at("file"));
    }
    await call("coder::changes");
    renameSync(fixture.at("sub9"), fixture.at("sub"));
    writeFileSync(fixture.at("new"), "new\n");
    await call("coder::create-file", { path: "own", content: "own\n" });
    const { net, overflow } = await call("coder::changes", { since, answer });
    expect(overflow).toBe(true);
    const certain = net.filter(({ kind, unsure }: NetChange) => kind !== "modified" && !unsure);
    expect(certain.map(({ kind, path }: NetChange) => `${kind} ${path}`)).toEqual(["created own"]);
    const lines = await text("coder::changes", { since, answer });
    for (const line of ["moved: other/ to another/", "moved: sub9/ to sub/", "created: new"])
      expect(lines).toContain(`perhaps ${line} (by another program)`);
  },
);
