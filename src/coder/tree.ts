import { type Static, Type } from "@sinclair/typebox";
import { Measured } from "../contract/definition.ts";
import type { Wording } from "../contract/wording.ts";
import { Refusal, refuse } from "../errors.ts";
import type { Entry, Page } from "../files/types.ts";
import type { IgnoreRules } from "../ignore/ignore-rules.ts";
import type { Folder } from "../jail/folder.ts";
import type { TimeSlice } from "../scheduling/time-slice.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { Int64, Kind, Named, Nullable, UInt32, UInt64 } from "../schema/fragments.ts";
import { commaBytes, JsonBudget } from "../text/json-budget.ts";
import { jsonBytes } from "../text/json-size.ts";
import { type CoderContext, defineCoderFunction, usualAnswerBytes } from "./define.ts";
import { renderEntry } from "./entry-text.ts";
import { FolderFilterFields, folderFilterOf } from "./folder-filter.ts";
import { TreeFilter } from "./tree-filter.ts";

const request = Type.Object(
  {
    include_hidden: Type.Optional(
      Type.Boolean({ since: "0.4.0", description: "False leaves out names that begin with a dot." }),
    ),
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
    ...FolderFilterFields,
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
  brief: "A folder and what is below it, as an indented list.",
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
    using folder = jail.admitFolder(request.path);
    const options = {
      ...folderFilterOf("tree", request, context),
      includesHidden: request.include_hidden ?? true,
    };
    const filter = new TreeFilter(options, folder);
    const snapshot: Snapshot = {
      context,
      maxDepth: Math.min(request.max_depth ?? config.tree_default_depth, deepest),
      perFolder: Math.max(1, request.per_folder_limit ?? config.tree_per_folder_limit),
      budget: new JsonBudget(context.maxAnswerBytes, jsonBytes({ root: "" }) - jsonBytes("")),
      slice,
      filter,
    };
    const itself: Entry = { name: folder.names.at(-1) ?? jail.baseName, raw: ".", kind: "dir" };
    const root = describe(snapshot, { parent: folder, path: folder.path, entry: itself });
    const inside =
      snapshot.maxDepth === 0
        ? truncated(snapshot, cutByDepth(0))
        : await readChildren(snapshot, folder, { depth: 0, rules: filter.rulesAtStart(folder) });
    return new Measured({ root: { ...root, ...inside } }, snapshot.budget.bytes);
  },
  render: ({ root }, wording) => renderNode(root, "", wording).join("\n"),
});

/** One line for a node and, indented below it, those of its children. */
function renderNode(node: Node, indent: string, wording: Wording): string[] {
  const inside = `${indent}  `;
  return [
    indent + renderEntry(node),
    ...(node.children ?? []).flatMap((child) => renderNode(child, inside, wording)),
    ...(node.truncated ? [`${inside}[${wording.sentence(node.truncated.hint)}]`] : []),
  ];
}

interface Snapshot {
  readonly context: CoderContext;
  readonly maxDepth: number;
  readonly perFolder: number;
  /** A tree too large to send is abandoned while it is built. */
  readonly budget: JsonBudget;
  readonly slice: TimeSlice;
  readonly filter: TreeFilter;
}

/** Where in the tree a folder is. */
interface Level {
  readonly depth: number;
  /** Those of its ignore files, and of the folders above it. */
  readonly rules: IgnoreRules;
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
function counted<T>({ budget }: Snapshot, part: T): T {
  budget.add(jsonBytes(part));
  if (budget.bytesLeft < 0) throw refuse.answerTooLarge(budget.bytes, budget.maxBytes, "reads");
  return part;
}

type Inside = Pick<Node, "children" | "truncated">;

/** What is inside a folder that is held open: its children, and how they were cut. */
async function readChildren(snapshot: Snapshot, folder: Folder, level: Level): Promise<Inside> {
  const page = await listOrNothing(snapshot, folder, level);
  if (page === undefined) return truncated(snapshot, unreadable);
  const children: Node[] = [];
  for (const entry of page.entries) {
    if (snapshot.slice.isDue) await snapshot.slice.yieldIfDue();
    const path = pathIn(folder, entry);
    const node = describe(snapshot, { parent: folder, path, entry });
    const isEntered = node.kind === "dir" && !node.non_accessible;
    children.push(
      isEntered ? { ...node, ...(await enter(snapshot, { folder, entry, above: level })) } : node,
    );
  }
  snapshot.budget.add(',"children":[]'.length + commaBytes(0, children.length));
  if (children.length === page.total) return { children };
  return { children, ...truncated(snapshot, cutByWidth(children.length, page.total)) };
}

const pathIn = ({ path }: Folder, { name }: Entry): string => (path === "" ? name : `${path}/${name}`);

function truncated(snapshot: Snapshot, info: NonNullable<Node["truncated"]>): Inside {
  snapshot.budget.add(',"truncated":'.length);
  return { truncated: counted(snapshot, info) };
}

/** Undefined for a folder inside the tree that may not be listed; with the root of the tree the call fails. */
async function listOrNothing(
  { context, slice, perFolder, filter }: Snapshot,
  folder: Folder,
  { depth, rules }: Level,
): Promise<Page | undefined> {
  const { files, deadline } = context;
  try {
    return await files.page(
      folder,
      { from: 0, to: perFolder, omits: filter.omittedIn(folder, rules) },
      { slice, deadline },
    );
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
  readonly above: Level;
}

/** A folder that cannot be opened becomes a truncated node, not a failed call. */
async function enter(snapshot: Snapshot, { folder, entry, above }: Inner): Promise<Inside> {
  const { filter, maxDepth } = snapshot;
  const depth = above.depth + 1;
  if (filter.excludesFolder(folder, entry.name)) return truncated(snapshot, excluded);
  if (depth >= maxDepth) return truncated(snapshot, cutByDepth(maxDepth));
  using inside = tryOpen(folder, entry);
  if (inside === undefined) return truncated(snapshot, unreadable);
  const rules = filter.rulesIn(inside, entry.name, above.rules);
  return await readChildren(snapshot, inside, { depth, rules });
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

const excluded = {
  reason: "default_excludes",
  shown: 0,
  hint: "Not opened: the default excludes cover it. Send use_default_excludes false, or this folder as path.",
};

const unreadable = {
  reason: "io_error",
  shown: 0,
  hint: "The operating system does not let the worker open this folder. Leave it out, or ask the operator.",
};
