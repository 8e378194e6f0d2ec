import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { jsonBytes } from "../../text/sizes/json-size.ts";
import { type Cut, type Node, nodeBytes } from "./node.ts";
import { NodeWriter, prefixOf } from "./node-writer.ts";
import { parseWrittenTree } from "./parse-tree.ts";

const name = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 40 }),
  fc.constantFrom("a", 'quote " and \\', "line\nbreak\u0001\u007f", "é", "😀\u2028", "x".repeat(255)),
  fc.constantFrom('{"children":[', '],"kind":"', "],", "{", "},{", '},{"kind":"'),
);
const leaf = fc.record({
  name,
  kind: fc.constantFrom("file" as const, "dir" as const, "symlink" as const, "other" as const),
  size: fc.oneof(fc.nat(), fc.constantFrom(2 ** 31 - 1, 2 ** 31, 2 ** 40)),
  mtime: fc.oneof(fc.nat(), fc.integer(), fc.constantFrom(2 ** 31, 4e9)),
  non_accessible: fc.boolean(),
});
const cut: fc.Arbitrary<Cut> = fc.record(
  {
    reason: fc.constantFrom("max_depth", "per_folder_limit"),
    shown: fc.nat(),
    total: fc.nat(),
    hint: fc.constant("See."),
  },
  { requiredKeys: ["reason", "shown", "hint"] },
);

type Plan = Omit<Node, "path" | "children" | "truncated"> & { children?: Plan[]; truncated?: Cut };

const { folder: tree } = fc.letrec<{ folder: Plan; child: Plan }>((tie) => ({
  folder: fc
    .tuple(leaf, fc.array(tie("child"), { maxLength: 4 }), fc.option(cut, { nil: undefined }))
    .map(([node, children, truncated]) => ({
      ...node,
      kind: "dir" as const,
      children,
      ...(truncated && { truncated }),
    })),
  child: fc.oneof({ maxDepth: 4 }, leaf, tie("folder")),
}));

/** Writes a node in this folder, and returns it. */
function write(writer: NodeWriter, plan: Plan, folder: string | undefined): Node {
  const { children, truncated, ...node } = plan;
  const path = folder === undefined ? "" : folder === "" ? node.name : `${folder}/${node.name}`;
  const prefix = folder === undefined ? undefined : prefixOf(folder);
  if (children === undefined) writer.add(node, prefix, truncated);
  else writer.open();
  const inside = children?.map((child) => write(writer, child, path));
  if (children !== undefined) writer.close(node, prefix, truncated);
  return { ...node, path, ...(inside && { children: inside }), ...(truncated && { truncated }) } as Node;
}

const isSorted = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  expect(Object.keys(value)).toEqual(Object.keys(value).sort());
  return value;
};

test("what is written is the JSON of the tree with sorted keys, and as long as is said", () => {
  fc.assert(
    fc.property(tree, fc.option(fc.nat(), { nil: undefined }), (plan, omitted) => {
      const writer = new NodeWriter();
      const root = write(writer, plan, undefined);
      const { text, bytes } = writer.answer(omitted);
      const parsed = JSON.parse(text, isSorted);
      expect(parsed).toEqual(omitted === undefined ? { root } : { omitted, root });
      expect(JSON.stringify(parsed)).toBe(text);
      expect(bytes).toBe(Buffer.byteLength(text));
      expect(bytes).toBe(jsonBytes(parsed));
      expect(runAtOnce(parseWrittenTree(text))).toEqual(parsed);
    }),
  );
});

test("a node takes the bytes that are counted before it is written", () => {
  fc.assert(
    fc.property(leaf, name, (node, folder) => {
      const [one, two] = [new NodeWriter(), new NodeWriter()];
      for (const writer of [one, two]) writer.add(node, prefixOf(folder));
      two.add(node, prefixOf(folder));
      const added = two.answer(undefined).bytes - one.answer(undefined).bytes - ",".length;
      expect(added).toBe(nodeBytes(node, prefixOf(folder).length));
    }),
  );
});

test("a tree of megabytes is written like a small one", () => {
  const writer = new NodeWriter();
  const child = { name: "é".repeat(100), kind: "file", size: 1, mtime: 2, non_accessible: false } as const;
  const children = Array.from({ length: 10_000 }, (_, number) => ({
    ...child,
    name: `${child.name}${number}`,
  }));
  const root = write(writer, { ...child, kind: "dir", children: [...children, child] }, undefined);
  const { text } = writer.answer(0);
  expect(JSON.parse(text)).toEqual({ omitted: 0, root });
  const reading = parseWrittenTree(text);
  let steps = 0;
  while (!reading.next().done) steps++;
  expect(steps).toBeGreaterThan(30);
  expect(runAtOnce(parseWrittenTree(text))).toEqual({ omitted: 0, root });
});

test("fields are shown in another order", () => {
  const node = { name: "a", path: "b/a", kind: "dir", size: 1, mtime: 2, non_accessible: false } as const;
  const shown = { ...node, children: [node], truncated: { reason: "r", shown: 1, total: 2, hint: "h" } };
  const sorted = JSON.stringify(shown, Object.keys({ ...shown, ...shown.truncated }).sort());
  const read = runAtOnce(parseWrittenTree(`{"root":${sorted}}`));
  expect(JSON.stringify(read)).toBe(JSON.stringify({ root: shown }));
});
