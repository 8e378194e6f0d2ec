/**
 * The kinds of net changes are true if calls and other programs take turns: a created entry was not there
 * before, a deleted one was, and no file that differs is left out.
 */
import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AuthorCalls, SessionsFixture } from "../sessions.test-kit.ts";
import type { NetChange } from "./answer.ts";

/** Steps by calls and by other programs, and the net changes of all of them. */
const sessions: Record<string, readonly [steps: readonly string[], net: readonly string[]]> = {
  "a folder that another program removes": [["program remove d"], ["deleted d/"]],
  "a file that another program makes, and a call moves": [
    ["program write b 1", "call move b d/b"],
    ["created d/b"],
  ],
  "a file in which a call writes what another program had just written": [
    ["program write d/a 1", "call write d/a 1"],
    ["modified d/a"],
  ],
};

async function takeByCall([does, path, to]: readonly string[], { call }: AuthorCalls): Promise<void> {
  if (does === "write") await call("coder::create-file", { files: [{ path, content: to, overwrite: true }] });
  else await call("coder::move", { files: [{ from: path, to }] });
}

function takeByProgram([does, path = "", to = ""]: readonly string[], base: string): void {
  const at = (name: string) => join(base, name);
  if (does === "write") writeFileSync(at(path), to);
  else rmSync(at(path), { recursive: true });
}

test.each(Object.entries(sessions))("%s", async (_, [steps, expected]) => {
  await using fixture = new SessionsFixture();
  const one = fixture.open({ session: "a" });
  for (const path of ["a", "d/a", "e/a"]) {
    mkdirSync(dirname(fixture.at(path)), { recursive: true });
    writeFileSync(fixture.at(path), `${path}\n`);
  }
  const { next: since, external } = await one.call("coder::changes");
  if (!external) return;
  for (const step of steps) {
    const [who, ...rest] = step.split(" ");
    if (who === "call") await takeByCall(rest, one);
    else takeByProgram(rest, fixture.base);
    await one.call("coder::changes");
  }
  const { net } = await one.call("coder::changes", { since, answer: "names" });
  const lines = (net as NetChange[]).map(({ kind, path, dir }) => `${kind} ${path}${dir ? "/" : ""}`);
  expect(lines).toEqual([...expected]);
});
