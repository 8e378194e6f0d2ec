/** Tests the paths in requests of functions that compare them with recorded ones. */
import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { SessionsFixture } from "../sessions.test-kit.ts";
import { pathsChangedBy } from "./recorded-paths.ts";

const author = { client: "anna 1.0", session: "aaaaaaaa" };

/** The functions, with the request for one path. */
const requests = [
  ["coder::changes", (path: string) => ({ path })],
  ["coder::changes", (path: string) => ({ path, answer: "names" })],
  ["coder::checkpoints", (path: string) => ({ path })],
  ["coder::undo", (path: string) => ({ paths: [path], dry_run: true })],
] as const;

async function open(profile: "agent" | "contract") {
  const fixture = new SessionsFixture({ profile });
  mkdirSync(fixture.at("src"));
  const { call } = fixture.open(author);
  // From the first call on, changes by other programs are known.
  await call("coder::changes");
  const files = ["src/a", "b"].map((path) => ({ path, content: "text\n" }));
  for (const file of files) await call("coder::create-file", { files: [file] });
  const outcomeOf = (id: string, payload: object) =>
    call(id, payload).then(
      (answer) => answer as unknown,
      (error: Error) => JSON.parse(error.message) as unknown,
    );
  return { fixture, outcomeOf };
}

describe.each(requests)("%s", (id, requestFor) => {
  test.each(["../x", "src/../../x", "/etc/passwd"])(
    "refuses %s in the profile agent, as every other function does",
    async (path) => {
      const { fixture, outcomeOf } = await open("agent");
      await using _ = fixture;
      const refused = await outcomeOf(id, requestFor(path));
      expect(refused).toEqual(await outcomeOf("coder::list-folder", { path }));
      expect(refused).toMatchObject({ code: "C215" });
    },
  );

  test("resolves .. in a path that stays inside", async () => {
    const { fixture, outcomeOf } = await open("agent");
    await using _ = fixture;
    const straight = await outcomeOf(id, requestFor("src/a"));
    expect(straight).not.toHaveProperty("code");
    for (const path of ["src/../src/a", "gone/../src/a", fixture.at("src/a"), "./src//a"])
      expect(await outcomeOf(id, requestFor(path))).toEqual(straight);
  });

  test("starts from the root of a scope, and does not leave its boundary", async () => {
    const { fixture, outcomeOf } = await open("agent");
    await using _ = fixture;
    const within = (path: string, boundary: string) =>
      outcomeOf(id, { ...requestFor(path), fs_scope: { root: "src", boundary } });
    expect(await within("../b", "src")).toMatchObject({ code: "C220" });
    expect(await within("../b", ".")).toEqual(await outcomeOf(id, requestFor("b")));
  });

  test("takes a path that leads out for one without changes in the profile contract", async () => {
    const { fixture, outcomeOf } = await open("contract");
    await using _ = fixture;
    expect(await outcomeOf(id, requestFor("../x"))).toEqual(await outcomeOf(id, requestFor("nowhere")));
  });
});

test("a record is compared with thousands of paths in a lookup for each level, and a pause for each step", async () => {
  let [lookups, pauses] = [0, 0];
  class CountedPaths extends Set<string> {
    override has(path: string): boolean {
      lookups++;
      return super.has(path);
    }
  }
  const missing = Array.from({ length: 5000 }, (_, index) => `folder/missing${index}`);
  const steps = Array.from({ length: 1000 }, (_, index) => ({ path: `folder/file${index}` }));
  const changed = await pathsChangedBy({ steps }, new CountedPaths(["folder/file999", ...missing]), {
    jail: { denies: () => false, scope: undefined },
    pause: async () => void pauses++,
  });
  expect([...changed]).toEqual(["folder/file999"]);
  // The path, its folder and the base.
  expect([lookups, pauses]).toEqual([3 * steps.length, steps.length]);
});
