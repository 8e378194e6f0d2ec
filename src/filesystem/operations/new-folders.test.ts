import { expect, spyOn, test } from "bun:test";
import { Mutations } from "../disk/mutations.ts";
import { FilesFixture } from "../files/files.test-kit.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { NewFolders } from "./new-folders.ts";

const levels = 128;

test.each(backends)(
  "the folders of a failed change are reached again in few steps, over %s",
  async (backend) => {
    using fixture = new FilesFixture(backend);
    const options = { changes: "entry", mayBeMissing: true, parents: true } as const;
    using place = fixture.jailed.admit(`${"n/".repeat(levels)}f`, options);
    const opened = spyOn(Object.getPrototypeOf(place.folder), "child");
    try {
      const scope = { mutations: new Mutations(), requester: fixture.call };
      {
        using folders = new NewFolders(place, scope);
        expect((await folders.make()).path).toBe("n/".repeat(levels).slice(0, -1));
      }
      expect(fixture.tree()).toEqual({});
      expect(opened.mock.calls.length).toBeGreaterThanOrEqual(levels);
      expect(opened.mock.calls.length).toBeLessThan(10 * levels);
    } finally {
      opened.mockRestore();
    }
  },
);

test.each(backends)(
  "a folder that another program has filled stays, with those above it, over %s",
  async (backend) => {
    using fixture = new FilesFixture(backend);
    const options = { changes: "entry", mayBeMissing: true, parents: true } as const;
    using place = fixture.jailed.admit(`${"n/".repeat(levels)}f`, options);
    const filled = `${"n/".repeat(40)}theirs`;
    {
      using folders = new NewFolders(place, { mutations: new Mutations(), requester: fixture.call });
      await folders.make();
      fixture.add({ [filled]: "x" });
    }
    expect(Object.keys(fixture.tree()).filter((path) => !path.endsWith("/"))).toEqual([filled]);
    expect(Object.keys(fixture.tree())).toHaveLength(41);
  },
);

test.each(backends)("folders are made in slices, over %s", async (backend) => {
  using fixture = new FilesFixture(backend);
  const options = { changes: "entry", mayBeMissing: true, parents: true } as const;
  using place = fixture.jailed.admit(`${"n/".repeat(8)}f`, options);
  let milliseconds = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => 10 * milliseconds++);
  try {
    using folders = new NewFolders(place, { mutations: new Mutations(), requester: fixture.call });
    const made = folders.make();
    expect(fixture.tree()).toEqual({});
    await made;
    folders.keep();
  } finally {
    clock.mockRestore();
  }
  expect(Object.keys(fixture.tree())).toHaveLength(8);
});
