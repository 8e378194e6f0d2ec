import { expect, test } from "bun:test";
import type { Folder, Jail, Name } from "../jail/folder.ts";
import { verbsOn } from "../operations/verbs.test-kit.ts";
import { PlannedFixture } from "./planned.test-kit.ts";
import { PlannedTree } from "./planned-tree.ts";

const deep = "d/".repeat(200);

/** Returns the jail, which counts the folders that are opened name by name. */
function counting(jail: Jail): { readonly jail: Jail; count: number } {
  const counted = { jail, count: 0 };
  const count = (folder: Folder): Folder =>
    new Proxy(folder, {
      get(target, key) {
        if (key === "child")
          return (name: Name) => {
            counted.count++;
            return count(target.child(name));
          };
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  counted.jail = { ...jail, reopenFolder: (path) => count(jail.reopenFolder(path)) };
  return counted;
}

test("a change in a deep folder opens no folder name by name, whatever is planned there", async () => {
  using fixture = new PlannedFixture("openat", { [`top/${deep}a`]: "a", [`top/${deep}b`]: "b" });
  const counted = counting(fixture.jailed);
  const tree = new PlannedTree(
    { jail: counted.jail, config: { max_write_bytes: 1000, fsync: false } },
    { maxBytes: 1000 },
  );
  const on = verbsOn(tree);
  const { call } = fixture;
  const [content, kept] = [Buffer.from("c"), { overwrite: false, parents: true }];
  await on.create(`top/${deep}c`, content, { mode: undefined, ...kept }, call);
  await on.move({ from: `top/${deep}a`, to: `top/${deep}e`, ...kept }, call);
  await on.remove(`top/${deep}b`, { recursive: false }, call);
  expect(tree.state(`top/${deep}c`).kind).toBe("file");
  expect(counted.count).toBe(0);
  await on.move({ from: "top", to: "moved", ...kept }, call);
  counted.count = 0;
  await on.create(`moved/${deep}f`, content, { mode: undefined, ...kept }, call);
  expect(tree.state(`moved/${deep}e`)).toMatchObject({ kind: "file", mode: 0o644 });
  expect(tree.state(`moved/${deep}b`).kind).toBe("absent");
  expect(counted.count).toBe(0);
  fixture.carryOut(tree);
  expect(Object.keys(fixture.tree()).filter((path) => path.length > `moved/${deep}`.length)).toEqual([
    `moved/${deep}c`,
    `moved/${deep}e`,
    `moved/${deep}f`,
  ]);
});
