import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStateFolder } from "../state/state-folder.ts";
import { AnnouncedCommands } from "./announced-commands.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
mkdirSync(join(root, "base"));
afterAll(() => rmSync(root, { recursive: true }));
const state = openStateFolder({
  dir: join(root, "state"),
  roots: [{ name: ".", hostPath: join(root, "base") }],
});
const [one, other] = [new AnnouncedCommands(state), new AnnouncedCommands(state)];
const cause = { by: "call", function_id: "shell::exec", program: "make" } as const;
const files = () => readdirSync(state.find("commands")!);
const put = (name: string, text: string) => writeFileSync(state.path("commands", name), text);

test("a command is known to other workers while it runs, and to those that look for earlier changes", () => {
  expect(other.since(0)).toEqual([]);
  const began = Date.now();
  const end = one.begin({ ...cause, author: { client: "anna", session: "aaaa" } });
  const announced = [{ ...cause, author: { client: "anna", session: "aaaa" } }];
  expect([other.since(began), one.since(began)]).toEqual([announced, []]);
  end();
  expect([other.since(began), other.since(Date.now() + 1000)]).toEqual([announced, []]);
});

test("files of killed workers and damaged ones say nothing, and old ones are removed", () => {
  // No process has this number.
  put("running-4194305-aa-0", JSON.stringify(cause));
  put(`running-${process.pid}-bb-0`, "{");
  put(`ended-1-cc-0-${Date.now() - 3_600_000}`, JSON.stringify(cause));
  put("other", JSON.stringify(cause));
  expect(other.since(Date.now() + 1000)).toEqual([]);
  new AnnouncedCommands(state).begin(cause)();
  expect(files().filter((name) => /-(?:aa|cc)-|other/.test(name))).toEqual(["other"]);
});

test("names that others wrote are cut", () => {
  const end = one.begin({ ...cause, program: "x".repeat(10_000), author: { client: "y".repeat(10_000) } });
  const [found] = other.since(Date.now() + 1000);
  expect(found).toMatchObject({ program: "x".repeat(200), author: { client: "y".repeat(200) } });
  end();
});
