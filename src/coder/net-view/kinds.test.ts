/**
 * The kinds of net changes are true if calls and other programs take turns: a created entry was not there
 * before, a deleted one was, and no file that differs is left out.
 */
import { expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { addToTree } from "../../../tests/harness/tree.ts";
import { type AuthorCalls, SessionsFixture } from "../sessions.test-kit.ts";
import type { NetChange } from "./answer.ts";

const inPlace = "put it in place of another one, so every file in it may differ";

/** Steps by calls and by other programs, and the net changes of all of them. `now` has no poll after it. */
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
  "a folder that a call moves, and another program makes again": [
    ["call move d f", "program write d/b 1"],
    ["moved d/a to f/a", "created d/b", "created f/"],
  ],
  "a folder that another program moves away and makes again before the feed looks": [
    ["program now move e d/n", "program write e/b 1"],
    ["created d/n/", `modified e/ [another program ${inPlace}]`],
  ],
  "a folder that another program removes and makes again": [
    ["program now remove e", "program write e/b 1"],
    ["deleted e/a", "created e/b"],
  ],
  "a folder that another program removes and makes again with a file of before": [
    ["program now remove e", "program write e/a 1"],
    ["modified e/a"],
  ],
  "a folder that another program removes, and makes again later": [
    ["program remove e", "program now write e/a 1", "program write e/b 1"],
    ["modified e/a", "created e/b"],
  ],
  "a folder that another program makes again, and in which a call changes a file": [
    ["program now remove e", "program write e/a 1", "call write e/a 2"],
    ["modified e/a"],
  ],
  "a folder that another program moves away and back before the feed looks": [
    ["program now move e f", "program move f e"],
    [],
  ],
  "a file that another program moves away and back before the feed looks": [
    ["program now move a b", "program move b a"],
    [],
  ],
  "a folder that another program moves out of the tree and back, and in which a call changes a file": [
    ["program move e ../e", "program move ../e e", "call write e/a 2"],
    [`modified e/ [another program ${inPlace}]`, "modified e/a"],
  ],
  "a folder that another program moves away, and removes": [
    ["program now move e f", "program now remove f", "program write e/b 1"],
    [`modified e/ [another program ${inPlace}]`],
  ],
  "a file that another program moves, and a call changes": [
    ["program move a b", "call write b 1"],
    ["moved a to b"],
  ],
  "a file that another program changes and moves, and a call removes": [
    ["program write a 1", "program move a b", "call remove b"],
    ["deleted a"],
  ],
  "a file in a folder that another program moves through a call's new folder": [
    ["call write n/a 1", "program move e n/e", "call move n m"],
    ["moved e to m/e/", "created m/"],
  ],
};

async function takeByCall([does, path, to]: readonly string[], { call }: AuthorCalls): Promise<void> {
  if (does === "write")
    await call("coder::create-file", { files: [{ path, content: to, overwrite: true, parents: true }] });
  else if (does === "remove") await call("coder::delete-file", { paths: [path], recursive: true });
  else await call("coder::move", { files: [{ from: path, to }] });
}

function takeByProgram([does, path = "", to = ""]: readonly string[], base: string): void {
  const at = (name: string) => join(base, name);
  if (does !== "remove") mkdirSync(dirname(at(does === "write" ? path : to)), { recursive: true });
  if (does === "write") writeFileSync(at(path), to);
  else if (does === "move") renameSync(at(path), at(to));
  else rmSync(at(path), { recursive: true });
}

test.each(Object.entries(sessions))("%s", async (_, [steps, expected]) => {
  await using fixture = new SessionsFixture();
  const one = fixture.open({ session: "a" });
  addToTree(fixture.base, { a: "a\n", "d/a": "d/a\n", "e/a": "e/a\n" });
  const { next: since, external } = await one.call("coder::changes");
  if (!external) return;
  for (const step of steps) {
    const [who, ...rest] = step.replace(" now", "").split(" ");
    if (who === "call") await takeByCall(rest, one);
    else takeByProgram(rest, fixture.base);
    if (!step.includes(" now")) await one.call("coder::changes");
  }
  const { net } = await one.call("coder::changes", { since, answer: "names" });
  const lines = (net as NetChange[]).map(({ kind, path, from, dir, note }) => {
    const was = from === undefined ? "" : `${from} to `;
    return `${kind} ${was}${path}${dir ? "/" : ""}${note === undefined ? "" : ` [${note}]`}`;
  });
  expect(lines).toEqual([...expected]);
});
