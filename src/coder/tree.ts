import { type Static, Type } from "@sinclair/typebox";
import { Measured } from "../contract/definition.ts";
import { Refusal, refuse } from "../errors.ts";
import type { Entry, Page } from "../files/types.ts";
import type { Folder } from "../jail/folder.ts";
import type { TimeSlice } from "../scheduling/time-slice.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { Int64, Kind, Named, Nullable, UInt32, UInt64 } from "../schema/fragments.ts";
import { jsonBytes } from "../text/json-size.ts";
import { type CoderContext, defineCoderFunction, usualAnswerBytes } from "./define.ts";
import { renderEntry } from "./entry-text.ts";

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

/** `coder::tree`: a recursive snapshot, bounded in depth and width (coder §8). */
export const tree = defineCoderFunction({
  id: "coder::tree",
  publishedIn: "coder 0.2.0",
  description:
    "Recursive directory snapshot bounded by `max_depth` and a `per_folder_limit`. Folders that hit the limit are flagged `truncated` and the caller is pointed at coder::list-folder for pagination.",
  summary: "a recursive snapshot, bounded in depth and width",
  effect: "reads",
  paths: [{ at: "/path", access: "list" }],
  request,
  response,
  examples: [
    { title: "The whole base, four levels deep", request: {} },
    { title: "Two levels of one folder", request: { path: "src", max_depth: 2 } },
  ],
  answerBytes: () => usualAnswerBytes.ofTree,
  async handle(request, context) {
    const { config, jail } = context;
    using slice = createWalkSlice(context);
    const snapshot: Snapshot = {
      context,
      maxDepth: Math.min(request.max_depth ?? config.tree_default_depth, deepest),
      perFolder: Math.max(1, request.per_folder_limit ?? config.tree_per_folder_limit),
      bytes: jsonBytes({ root: "" }) - jsonBytes(""),
      slice,
    };
    using folder = jail.admitFolder(request.path);
    const itself: Entry = { name: folder.names.at(-1) ?? jail.baseName, raw: ".", kind: "dir" };
    const root = describe(snapshot, { parent: folder, path: folder.path, entry: itself });
    const inside =
      snapshot.maxDepth === 0 ? truncated(snapshot, cutByDepth(0)) : await readChildren(snapshot, folder, 0);
    return new Measured({ root: { ...root, ...inside } }, snapshot.bytes);
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
  /** JSON bytes of what there is so far: a tree too large to send is abandoned while it is built. */
  bytes: number;
  readonly slice: TimeSlice;
}

interface NodePosition {
  /** The folder that holds the entry; for the root, the root itself. */
  readonly parent: Folder;
  readonly path: string;
  readonly entry: Entry;
}

/** A node without what is inside it. */
function describe(snapshot: Snapshot, { parent, path, entry }: NodePosition): Node {
  const { context } = snapshot;
  context.deadline.check();
  const stats = context.files.stat(parent, entry);
  const node = {
    name: entry.name,
    path,
    kind: stats?.kind ?? entry.kind,
    size: stats?.size ?? 0,
    mtime: stats?.mtime ?? 0,
    non_accessible: path !== parent.path && context.jail.deniesIn(parent, entry.name),
  };
  return counted(snapshot, node);
}

/** Counts what becomes a part of the answer. Throws too-large when that cannot be sent. */
function counted<T>(snapshot: Snapshot, part: T): T {
  snapshot.bytes += jsonBytes(part);
  const { maxAnswerBytes } = snapshot.context;
  if (snapshot.bytes > maxAnswerBytes) throw refuse.answerTooLarge(snapshot.bytes, maxAnswerBytes, "reads");
  return part;
}

type Inside = Pick<Node, "children" | "truncated">;

/** What is inside a folder that is held open: its children, and how they were cut. */
async function readChildren(snapshot: Snapshot, folder: Folder, depth: number): Promise<Inside> {
  const page = await listOrNothing(snapshot, folder, depth);
  if (page === undefined) return truncated(snapshot, unreadable);
  const children: Node[] = [];
  for (const entry of page.entries) {
    if (snapshot.slice.isDue) await snapshot.slice.yieldIfDue();
    const path = pathIn(folder, entry);
    const node = describe(snapshot, { parent: folder, path, entry });
    const isEntered = node.kind === "dir" && !node.non_accessible;
    children.push(
      isEntered ? { ...node, ...(await enter(snapshot, { folder, entry, depth: depth + 1 })) } : node,
    );
  }
  snapshot.bytes += childrenBytes(children.length);
  if (children.length === page.total) return { children };
  return { children, ...truncated(snapshot, cutByWidth(children.length, page.total)) };
}

const pathIn = ({ path }: Folder, { name }: Entry): string => (path === "" ? name : `${path}/${name}`);

/** JSON bytes of a field `children` besides those of its nodes, by their count. */
const childrenBytes = (count: number): number => ',"children":[]'.length + Math.max(0, count - 1);

function truncated(snapshot: Snapshot, info: NonNullable<Node["truncated"]>): Inside {
  snapshot.bytes += ',"truncated":'.length;
  return { truncated: counted(snapshot, info) };
}

/** Undefined for a folder inside the tree that may not be listed; with the root of the tree the call fails. */
async function listOrNothing(
  { context, slice, perFolder }: Snapshot,
  folder: Folder,
  depth: number,
): Promise<Page | undefined> {
  const { files, deadline } = context;
  try {
    return await files.page(folder, [0, perFolder], { slice, deadline });
  } catch (error) {
    deadline.check();
    if (depth > 0 && error instanceof Refusal) return undefined;
    throw error;
  }
}

interface Inner {
  readonly folder: Folder;
  /** A folder in it. */
  readonly entry: Entry;
  /** The depth of that. */
  readonly depth: number;
}

/** A folder that cannot be opened becomes a truncated node, not a failed call. */
async function enter(snapshot: Snapshot, { folder, entry, depth }: Inner): Promise<Inside> {
  if (depth >= snapshot.maxDepth) return truncated(snapshot, cutByDepth(snapshot.maxDepth));
  using inside = tryOpen(folder, entry);
  return inside === undefined ? truncated(snapshot, unreadable) : await readChildren(snapshot, inside, depth);
}

function tryOpen(folder: Folder, entry: Entry): Folder | undefined {
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
