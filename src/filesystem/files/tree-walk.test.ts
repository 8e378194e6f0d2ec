import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { backends, countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import { FilesFixture, reasonOf } from "./files.test-kit.ts";
import { type TreeVisitor, walkTree } from "./tree-walk.ts";

const tree = { "b/c/d": "", "b/a": "", a: "", "z/": null, l: { link: "b" } };

describe.each(backends)("%s", (backend) => {
  const fixture = () => new FilesFixture(backend, tree);

  test("entries are visited before and after what is in them, in the order of their names", async () => {
    using bench = fixture();
    using base = bench.jailed.admitFolder(".");
    const order: string[] = [];
    const visitor: TreeVisitor = {
      onEnter: ({ path }) => void order.push(`enter ${path}`),
      preorder: ({ folder, entry, level }) => void order.push(`${level} ${folder.path}/${entry.name}`),
      postorder: ({ entry }) => void order.push(entry.name),
    };
    await walkTree({ ...bench.pace, visitor }, base);
    expect(order).toEqual([
      ...["enter ", "1 /a", "a"],
      ...["1 /b", "enter b", "2 b/a", "a", "2 b/c", "enter b/c", "3 b/c/d", "d", "c", "b"],
      ...["1 /l", "l", "1 /z", "enter z", "z"],
    ]);
  });

  test("what a preorder visit holds is there below it, and disposed of after the postorder visit", async () => {
    using bench = fixture();
    using base = bench.jailed.admitFolder("b");
    const order: string[] = [];
    const hold = (path: string) => ({ path, [Symbol.dispose]: () => void order.push(`dispose ${path}`) });
    const visitor: TreeVisitor<ReturnType<typeof hold>> = {
      preorder: async ({ entry, parent }) => hold(`${parent?.path}/${entry.name}`),
      postorder: async (_, held) => void order.push(`${held?.path}`),
    };
    await walkTree({ ...bench.pace, visitor }, base, hold("top"));
    const visited = ["top/a", "top/c/d", "top/c"];
    expect(order).toEqual(visited.flatMap((path) => [path, `dispose ${path}`]));
  });

  test("a visit that throws ends the walk, and nothing stays open", async () => {
    using bench = fixture();
    using base = bench.jailed.admitFolder(".");
    const before = countDescriptorsBelow(bench.root);
    let disposed = 0;
    const visitor: TreeVisitor = {
      preorder: () => ({ [Symbol.dispose]: () => void disposed++ }),
      postorder({ entry }) {
        if (entry.name === "d") throw new Error("no further");
      },
    };
    await expect(walkTree({ ...bench.pace, visitor }, base)).rejects.toThrow("no further");
    // One for each of a; b, b/a, b/c and b/c/d.
    expect(disposed).toBe(5);
    expect(countDescriptorsBelow(bench.root)).toBe(before);
  });

  test("only the folders that a visitor opens are entered", async () => {
    using bench = fixture();
    using base = bench.jailed.admitFolder(".");
    const entered: string[] = [];
    const visitor: TreeVisitor = {
      onEnter: ({ path }) => void entered.push(path),
      open: ({ folder, entry }) => (entry.name === "b" ? folder.child(entry.raw) : undefined),
    };
    await walkTree({ ...bench.pace, visitor }, base);
    expect(entered).toEqual(["", "b"]);
  });

  test("a folder that is gone ends the walk, or is empty when the visitor lets that pass", async () => {
    for (const onUnreadable of [undefined, () => {}]) {
      using bench = fixture();
      using base = bench.jailed.admitFolder(".");
      const visited: string[] = [];
      const visitor: TreeVisitor = {
        preorder({ entry }) {
          visited.push(entry.name);
          if (entry.name === "b") rmSync(bench.at("b"), { recursive: true });
          return undefined;
        },
        ...(onUnreadable && { onUnreadable }),
      };
      const walk = walkTree({ ...bench.pace, visitor }, base);
      if (onUnreadable === undefined) await expect(walk).rejects.toThrow("ENOENT");
      else await walk;
      expect(visited).toEqual(onUnreadable === undefined ? ["a", "b"] : ["a", "b", "l", "z"]);
    }
  });

  test("folders are entered as deep as the walk may go", async () => {
    using bench = fixture();
    using base = bench.jailed.admitFolder(".");
    const entered: string[] = [];
    let tooDeep = 0;
    const visitor = {
      onEnter: ({ path }: { path: string }) => void entered.push(path),
      onTooDeep: () => void tooDeep++,
    };
    await walkTree({ ...bench.pace, visitor, maxDepth: 2 }, base);
    expect(entered).toEqual(["", "b", "z"]);
    expect(tooDeep).toBe(1);
  });
});

test("a walk lets others go on, and ends when its time is up", async () => {
  using bench = new FilesFixture(backends[0]!);
  for (let i = 0; i < 300; i++) bench.add({ [i]: "" });
  using base = bench.jailed.admitFolder(".");
  let visited = 0;
  let isOthersTurn = false;
  setImmediate(() => {
    isOthersTurn = true;
  });
  const visitor: TreeVisitor = { postorder: () => void visited++ };
  const walk = walkTree({ slice: createTimeSlice(0), deadline: deadlineIn(0), visitor }, base);
  expect(await reasonOf(() => walk)).toBe("timeout");
  expect(visited).toBe(255);
  expect(isOthersTurn).toBe(true);
});

test("a walk lets others go on between two of nested folders that it leaves", async () => {
  using bench = new FilesFixture(backends[0]!);
  bench.add({ "1/2/3/4/5/": null });
  using base = bench.jailed.admitFolder(".");
  const left: string[] = [];
  const visitor: TreeVisitor = { postorder: ({ entry }) => void left.push(entry.name) };
  const slice = {
    isDue: true,
    yieldIfDue: async () => void left.push("yield"),
  };
  await walkTree({ slice, visitor }, base);
  expect(left.slice(left.indexOf("5")).join(" ")).toBe("5 yield 4 yield 3 yield 2 yield 1");
});
