import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { FilesFixture, reasonOf } from "../files/files.test-kit.ts";
import { revisionOfBytes } from "../files/revision.ts";
import { backends } from "../jail/jail.test-kit.ts";

const revision = (text: string) => revisionOfBytes([Buffer.from(text)]);

/**
 * Creates a fixture in which another program writes `a` after the call has checked it, right before it acts.
 */
function racing(backend: (typeof backends)[number], text: string): FilesFixture {
  const fixture: FilesFixture = new FilesFixture(
    backend,
    { a: "old" },
    { listeners: [{ before: () => writeFileSync(fixture.at("a"), text) }] },
  );
  return fixture;
}

describe.each(backends)("%s: a file that is changed at the last moment", (backend) => {
  test("is not removed", async () => {
    using fixture = racing(backend, "newer");
    const options = { recursive: false, expectedRevision: revision("old") };
    expect(await reasonOf(() => fixture.files.remove("a", options, fixture.call))).toBe("revision-mismatch");
    expect(fixture.tree()).toEqual({ a: "newer" });
  });

  test("is not replaced", async () => {
    using fixture = racing(backend, "newer");
    const options = { mode: 0o644, overwrite: true, parents: false, expectedRevision: revision("old") };
    const create = () => fixture.files.create("a", Buffer.from("ours"), options, fixture.call);
    expect(await reasonOf(create)).toBe("revision-mismatch");
    expect(fixture.tree()).toEqual({ a: "newer" });
  });

  test("is removed and replaced when it was written with the same bytes", async () => {
    using fixture = racing(backend, "old");
    const expectedRevision = revision("old");
    const options = { mode: 0o644, overwrite: true, parents: false, expectedRevision };
    await fixture.files.create("a", Buffer.from("ours"), options, fixture.call);
    expect(fixture.tree()).toEqual({ a: "ours" });
    writeFileSync(fixture.at("a"), "old");
    expect(await fixture.files.remove("a", { recursive: false, expectedRevision }, fixture.call)).toBe(true);
    expect(fixture.tree()).toEqual({});
  });
});

/** Hashing all of it would block every other call. */
test("no call hashes a file over max_write_bytes, whatever is expected of it", async () => {
  const text = "x".repeat(1001);
  using fixture = new FilesFixture("descriptors", { a: text });
  const { files, call } = fixture;
  const expectedRevision = revision(text);
  const paths = { from: "a", to: "b", overwrite: false, parents: false, expectedRevision };
  const creation = { mode: 0o644, overwrite: true, parents: false, expectedRevision };
  const verbs = {
    remove: () => files.remove("a", { recursive: false, expectedRevision }, call),
    move: () => files.move(paths, call),
    copy: () => files.copy(paths, call),
    create: () => files.create("a", Buffer.from("ours"), creation, call),
  };
  for (const verb of Object.values(verbs)) expect(await reasonOf(verb)).toBe("too-large");
  expect(fixture.tree()).toEqual({ a: text });
});
