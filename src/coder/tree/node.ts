/** The form of a tree's node in the answer (coder §8). */
import { type Static, Type } from "@sinclair/typebox";
import { Int64, Kind, Named, Nullable, UInt32, UInt64 } from "../../base/schema/fragments.ts";
import { jsonBytes } from "../../text/sizes/json-size.ts";

const TruncationInfo = Named("TruncationInfo", {
  hint: Type.String(),
  reason: Type.String({
    description: "Reason this folder was truncated: hit `per_folder_limit` or `max_depth`.",
  }),
  shown: UInt32({ description: "Number of children actually returned." }),
  total: Type.Optional(
    Nullable(UInt32(), {
      description:
        'Total number of children in the folder (only populated when `reason == "per_folder_limit"`; for depth truncation we don\'t peek into the folder).',
    }),
  ),
});

export const TreeNode = Type.Recursive(
  (Node) =>
    Type.Object({
      children: Type.Optional(Nullable(Type.Array(Node))),
      kind: Kind("NodeKind"),
      mtime: Int64(),
      name: Type.String(),
      non_accessible: Type.Boolean(),
      path: Type.String(),
      size: UInt64(),
      truncated: Type.Optional(
        Nullable(TruncationInfo, {
          description:
            "Set on directories whose `children` was capped at `per_folder_limit` or whose subtree was cut off by `max_depth`.",
        }),
      ),
    }),
  { $id: "TreeNode" },
);

export type Node = Static<typeof TreeNode>;

/** The limit that cut a folder's contents. */
export type Cut = NonNullable<Node["truncated"]>;

/**
 * Returns the `jsonBytes` of a node without children. Its path consists of a prefix of `prefixBytes` and its
 * name.
 */
export function nodeBytes(
  { name, kind, size, mtime, non_accessible }: Omit<Node, "path">,
  prefixBytes: number,
): number {
  const values = 2 * jsonBytes(name) + prefixBytes + kind.length + jsonBytes(size) + jsonBytes(mtime);
  return emptyNodeBytes + values + jsonBytes(non_accessible);
}

/** Bytes of a node without its values, but with the quotes around its kind. */
const emptyNodeBytes =
  jsonBytes({ name: 0, path: 0, kind: "", size: 0, mtime: 0, non_accessible: 0 }) - 5 * jsonBytes(0);

/** Returns the node with its fields in the order of the schema's examples. */
export function inShownOrder({
  name,
  path,
  kind,
  size,
  mtime,
  non_accessible,
  children,
  truncated,
}: Node): Node {
  return {
    ...{ name, path, kind, size, mtime, non_accessible },
    ...(children != null && { children }),
    ...(truncated != null && { truncated: cutInShownOrder(truncated) }),
  };
}

const cutInShownOrder = ({ reason, shown, total, hint }: Cut): Cut =>
  total == null ? { reason, shown, hint } : { reason, shown, total, hint };
