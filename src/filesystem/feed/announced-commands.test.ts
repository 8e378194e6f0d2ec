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
const causes = (reader: AnnouncedCommands) => reader.running().map(({ name }) => reader.read(name));

test("a command is known to other workers while it runs, and its file says when it has ended", () => {
  expect(other.running()).toEqual([]);
  const announced = { ...cause, author: { client: "anna", session: "aaaa" } };
  const end = one.begin(announced);
  const [id] = other.running().map((file) => file.id);
  expect([causes(other), causes(one)]).toEqual([[announced], []]);
  const began = Date.now();
  end();
  expect(other.running()).toEqual([]);
  const [ended] = files().map((name) => other.parse(name));
  expect(ended).toMatchObject({ id: id!, isRunning: false });
  expect(ended?.ended).toBeGreaterThanOrEqual(began);
  expect(one.parse(ended!.name)).toBeUndefined();
});

test("files of killed workers and damaged ones say nothing, and old ones are removed", () => {
  // No process has this number.
  put("running-4194305-aa-0", JSON.stringify(cause));
  put(`running-${process.pid}-bb-0`, "{");
  put(`ended-1-cc-0-${Date.now() - 3_600_000}`, JSON.stringify(cause));
  put("other", JSON.stringify(cause));
  expect(causes(other)).toEqual([undefined]);
  expect(other.parse("other")).toBeUndefined();
  rmSync(state.path("commands", `running-${process.pid}-bb-0`));
  new AnnouncedCommands(state).begin(cause)();
  expect(files().filter((name) => /-(?:aa|cc)-|other/.test(name))).toEqual(["other"]);
});

test("names that others wrote are cut", () => {
  const end = one.begin({ ...cause, program: "x".repeat(10_000), author: { client: "y".repeat(10_000) } });
  const [found] = causes(other);
  expect(found).toMatchObject({ program: "x".repeat(200), author: { client: "y".repeat(200) } });
  end();
});

test("commands that end in a row list the files of earlier ones once, and remove some each", () => {
  let now = 1;
  const worker = new AnnouncedCommands(state, () => now);
  const old = Array.from({ length: 40 }, (_, index) => `ended-1-dd-${index}-${Date.now() - 3_600_000}`);
  const left = () => files().filter((name) => old.includes(name)).length;
  worker.begin(cause)();
  for (const name of old) put(name, JSON.stringify(cause));
  worker.begin(cause)();
  expect(left()).toBe(40);
  now += 10_000;
  const counts = old.map(() => {
    worker.begin(cause)();
    return left();
  });
  expect(counts.slice(0, 4)).toEqual([24, 8, 0, 0]);
});
