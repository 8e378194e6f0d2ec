import { type Static, Type } from "@sinclair/typebox";
import { Refusal, refuse } from "../errors.ts";
import type { Entry, Page } from "../files/files.ts";
import type { Folder } from "../jail/folder.ts";
import { Int64, Kind, maxAnswerBytes, Named, Nullable, renderEntry, UInt32, UInt64 } from "../wire.ts";
import { type CoderContext, defineFunction } from "./define.ts";

const request = Type.Object(
  {
    max_depth: Nullable(UInt32(), {
      default: null,
      description: "Maximum depth to descend; the root node is depth 0.",
    }),
    path: Type.String({
      default: ".",
      description: "Base folder relative to `base_path`. Defaults to `.`.",
    }),
    per_folder_limit: Nullable(UInt32(), {
      default: null,
      description:
        "Maximum children listed per folder. When more exist, the folder is flagged `truncated` and callers should switch to `coder::list-folder`.",
    }),
  },
  { title: "TreeInput" },
);

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

const TreeNode = Type.Recursive(
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

const response = Type.Object({ root: TreeNode }, { title: "TreeOutput" });

type Node = Static<typeof TreeNode>;

/** Deepest folder that is opened. The bus decodes at most 127 levels of JSON, and a folder takes two of them. */
const deepest = 60;

/** Least JSON bytes a node takes, so that a tree too large to send is given up on while it is built. */
const leastNodeBytes = 80;

/** `coder::tree`: a recursive snapshot, bounded in depth and width (specification, section 8). */
export const tree = defineFunction({
  id: "coder::tree",
  description:
    "Recursive directory snapshot bounded by `max_depth` and a `per_folder_limit`. Folders that hit the limit are flagged `truncated` and the caller is pointed at coder::list-folder for pagination.",
  effect: "reads",
  request,
  response,
  examples: [
    { title: "The whole base, four levels deep", request: {} },
    { title: "Two levels of one folder", request: { path: "src", max_depth: 2 } },
  ],
  handle(request, context) {
    const { config, jail } = context;
    const snapshot: Snapshot = {
      context,
      maxDepth: Math.min(request.max_depth ?? config.tree_default_depth, deepest),
      perFolder: Math.max(1, request.per_folder_limit ?? config.tree_per_folder_limit),
      bytes: 0,
    };
    using folder = jail.admitFolder(request.path);
    const itself: Entry = { name: folder.names.at(-1) ?? jail.baseName, raw: ".", kind: "dir" };
    const root = describe(snapshot, { parent: folder, path: folder.path, entry: itself });
    return { root: { ...root, ...look(snapshot, folder, 0) } };
  },
  render: ({ root }) => renderNode(root, "").join("\n"),
});

/** One line for a node and, indented below it, those of its children. */
function renderNode(node: Node, indent: string): string[] {
  const inside = `${indent}  `;
  return [
    indent + renderEntry(node),
    ...(node.children ?? []).flatMap((child) => renderNode(child, inside)),
    ...(node.truncated ? [`${inside}[${node.truncated.hint}]`] : []),
  ];
}

interface Snapshot {
  readonly context: CoderContext;
  readonly maxDepth: number;
  readonly perFolder: number;
  /** JSON bytes of the nodes so far, at least. */
  bytes: number;
}

interface Spot {
  /** The folder that holds the entry; for the root, the root itself. */
  readonly parent: Folder;
  readonly path: string;
  readonly entry: Entry;
}

/** A node without what is inside it. */
function describe(snapshot: Snapshot, { parent, path, entry }: Spot): Node {
  const { context } = snapshot;
  context.deadline.check();
  const stats = context.files.stat(parent, entry);
  snapshot.bytes += leastNodeBytes + path.length;
  if (snapshot.bytes > maxAnswerBytes) throw refuse.answerTooLarge(snapshot.bytes, maxAnswerBytes, "reads");
  return {
    name: entry.name,
    path,
    kind: stats?.kind ?? entry.kind,
    size: stats?.size ?? 0,
    mtime: stats?.mtime ?? 0,
    non_accessible: path !== parent.path && context.jail.deniesIn(parent, entry.name),
  };
}

/** What is inside a folder that is held open: its children, and how they were cut. */
function look(snapshot: Snapshot, folder: Folder, depth: number): Pick<Node, "children" | "truncated"> {
  if (depth >= snapshot.maxDepth) return { truncated: cutByDepth(snapshot.maxDepth) };
  const page = listOrNothing(snapshot, folder, depth);
  if (page === undefined) return { truncated: unreadable };
  const children = page.entries.map((entry) => child(snapshot, { folder, entry, depth: depth + 1 }));
  if (children.length === page.total) return { children };
  return { children, truncated: cutByWidth(children.length, page.total) };
}

/** Undefined for a folder inside the tree that may not be listed; with the root of the tree the call fails. */
function listOrNothing({ context, perFolder }: Snapshot, folder: Folder, depth: number): Page | undefined {
  try {
    return context.files.page(folder, [0, perFolder]);
  } catch (error) {
    if (depth > 0 && error instanceof Refusal) return undefined;
    throw error;
  }
}

function child(snapshot: Snapshot, at: { folder: Folder; entry: Entry; depth: number }): Node {
  const { folder, entry, depth } = at;
  const path = folder.path === "" ? entry.name : `${folder.path}/${entry.name}`;
  const node = describe(snapshot, { parent: folder, path, entry });
  if (node.kind !== "dir" || node.non_accessible) return node;
  if (depth >= snapshot.maxDepth) return { ...node, truncated: cutByDepth(snapshot.maxDepth) };
  return { ...node, ...lookBelow(snapshot, at) };
}

/** A folder that cannot be opened is a node that says so, not a failed call. */
function lookBelow(
  snapshot: Snapshot,
  { folder, entry, depth }: { folder: Folder; entry: Entry; depth: number },
) {
  const inside = openOrNothing(folder, entry);
  if (inside === undefined) return { truncated: unreadable };
  using held = inside;
  return look(snapshot, held, depth);
}

function openOrNothing(folder: Folder, entry: Entry): Folder | undefined {
  try {
    return folder.child(entry.raw);
  } catch {
    return undefined;
  }
}

const cutByDepth = (maxDepth: number) => ({
  reason: "max_depth",
  shown: 0,
  hint: `Not opened: the limit is max_depth ${maxDepth}. Send a larger max_depth, or this folder as path.`,
});

const cutByWidth = (shown: number, total: number) => ({
  reason: "per_folder_limit",
  shown,
  total,
  hint: `Shows ${shown} of ${total} entries. Page through this folder with coder::list-folder.`,
});

const unreadable = {
  reason: "io_error",
  shown: 0,
  hint: "The operating system does not let the worker open this folder. Leave it out, or ask the operator.",
};
