import { Type } from "@sinclair/typebox";
import { Measured } from "../contract/definition.ts";
import { Refusal, refuse } from "../errors.ts";
import type { Entry, Page } from "../files/types.ts";
import type { IgnoreRules } from "../ignore/ignore-rules.ts";
import type { Folder } from "../jail/folder.ts";
import type { TimeSlice } from "../scheduling/time-slice.ts";
import { createWalkSlice } from "../scheduling/walk-slice.ts";
import { Nullable, UInt32, UInt64 } from "../schema/fragments.ts";
import { commaBytes, JsonBudget } from "../text/json-budget.ts";
import { jsonBytes } from "../text/json-size.ts";
import { type CoderContext, defineCoderFunction, usualAnswerBytes } from "./define.ts";
import { FolderFilterFields, folderFilterOf } from "./folder-filter.ts";
import { cutByDepth, cutByNodes, cutByWidth, cutWithin, excluded, unreadable } from "./tree/cuts.ts";
import { TreeFilter } from "./tree/filter.ts";
import { type Cut, type Node, nodeBytes, prefixBytesIn, TreeNode } from "./tree/node.ts";
import { NodeQuota } from "./tree/node-quota.ts";
import { renderTree } from "./tree/text.ts";

const request = Type.Object(
  {
    include_hidden: Type.Optional(
      Type.Boolean({ since: "0.4.0", description: "Names that begin with a dot." }),
    ),
    max_depth: Nullable(UInt32(), {
      default: null,
      description: "Maximum depth to descend; the root node is depth 0.",
    }),
    max_nodes: Type.Optional(
      UInt32({ since: "0.4.0", description: "Most nodes, nearest to the root first." }),
    ),
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

const response = Type.Object(
  {
    omitted: Type.Optional(
      UInt64({
        since: "0.4.0",
        description: "Entries that ignore files, excludes or include_hidden left out.",
      }),
    ),
    root: TreeNode,
  },
  { title: "TreeOutput" },
);

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
  isLong: true,
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
    const { max_nodes: maxNodes } = request;
    const snapshot: Snapshot = {
      context,
      maxDepth: Math.min(request.max_depth ?? config.tree_default_depth, deepest),
      perFolder: Math.max(1, request.per_folder_limit ?? config.tree_per_folder_limit),
      quota: maxNodes === undefined ? undefined : new NodeQuota(maxNodes),
      budget: new JsonBudget(context.maxAnswerBytes, jsonBytes({ root: "" }) - jsonBytes("")),
      slice,
      filter,
      visited: 0,
    };
    const level = { depth: 0, rules: filter.rulesAtStart(folder) };
    if (snapshot.quota !== undefined) await countNodes(snapshot, snapshot.quota, { folder, level });
    filter.omitted = 0;
    const itself: Entry = { name: folder.names.at(-1) ?? jail.baseName, raw: ".", kind: "dir" };
    const root = describe(snapshot, { parent: folder, path: folder.path, entry: itself });
    count(snapshot, jsonBytes(root));
    const cut = cutBefore(snapshot, 0);
    const inside = cut === undefined ? await readChildren(snapshot, folder, level) : truncated(snapshot, cut);
    const whole = { root: { ...root, ...inside } };
    if (filter.omitsNothing) return new Measured(whole, snapshot.budget.bytes);
    const { omitted } = filter;
    return new Measured({ ...whole, omitted }, snapshot.budget.bytes + jsonBytes({ omitted }) - 1);
  },
  render: ({ root, omitted = 0 }, wording) => renderTree(root, omitted, wording),
});

interface Snapshot {
  readonly context: CoderContext;
  readonly maxDepth: number;
  readonly perFolder: number;
  readonly quota: NodeQuota | undefined;
  /** A tree too large to send is abandoned while it is built. */
  readonly budget: JsonBudget;
  readonly slice: TimeSlice;
  readonly filter: TreeFilter;
  /** Entries that it has come to. */
  visited: number;
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
function describe({ context }: Snapshot, { parent, path, entry }: NodePosition): Node {
  const stats = context.files.stat(parent, entry);
  return {
    name: entry.name,
    path,
    kind: stats?.kind ?? entry.kind,
    size: stats?.size ?? 0,
    mtime: stats?.mtime ?? 0,
    non_accessible: path !== parent.path && context.jail.deniesIn(parent, entry.name),
  };
}

/** Counts bytes of the answer. Throws too-large when that cannot be sent. */
function count({ budget }: Snapshot, bytes: number): void {
  budget.add(bytes);
  if (budget.bytesLeft < 0) throw refuse.answerTooLarge(budget.bytes, budget.maxBytes, "reads");
}

/** Entries between two looks at the clock. */
const entriesPerClockCheck = 32;

/** Counts an entry. Returns whether to yield before it; most entries must not cost a promise. */
function isDue(snapshot: Snapshot): boolean {
  if (snapshot.visited++ % entriesPerClockCheck !== 0) return false;
  snapshot.context.deadline.check();
  return snapshot.slice.isDue;
}

async function yieldNow({ slice, context }: Snapshot): Promise<void> {
  await slice.yieldIfDue();
  context.deadline.check();
}

type Inside = Pick<Node, "children" | "truncated">;

/** A folder that is held open. */
interface Opened {
  readonly folder: Folder;
  readonly level: Level;
}

/** Counts the nodes of each depth that may be in the tree. */
async function countNodes(snapshot: Snapshot, quota: NodeQuota, { folder, level }: Opened): Promise<void> {
  const depth = level.depth + 1;
  if (cutBefore(snapshot, level.depth) !== undefined) return;
  const page = await listOrNothing(snapshot, folder, level);
  if (page === undefined) return;
  quota.count(depth, page.entries.length);
  for (const entry of page.entries) {
    if (entry.kind !== "dir") continue;
    if (isDue(snapshot)) await yieldNow(snapshot);
    if (snapshot.context.jail.deniesIn(folder, entry.name)) continue;
    using inside = open(snapshot, { folder, entry, above: level }).folder;
    if (inside === undefined) continue;
    const rules = snapshot.filter.rulesIn(inside, entry.name, level.rules);
    await countNodes(snapshot, quota, { folder: inside, level: { depth, rules } });
  }
}

/** What is inside a folder that is held open: its children, and how they were cut. */
async function readChildren(snapshot: Snapshot, folder: Folder, level: Level): Promise<Inside> {
  const page = await listOrNothing(snapshot, folder, level);
  if (page === undefined) return truncated(snapshot, unreadable);
  const { length } = page.entries;
  const shown = snapshot.quota?.take(level.depth + 1, length) ?? length;
  const prefixBytes = prefixBytesIn(folder);
  const children: Node[] = [];
  for (const entry of shown === length ? page.entries : page.entries.slice(0, shown)) {
    if (isDue(snapshot)) await yieldNow(snapshot);
    const node = describe(snapshot, { parent: folder, path: pathIn(folder, entry), entry });
    count(snapshot, nodeBytes(node, prefixBytes));
    const isEntered = node.kind === "dir" && !node.non_accessible;
    if (isEntered) Object.assign(node, await enter(snapshot, { folder, entry, above: level }));
    children.push(node);
  }
  snapshot.budget.add(',"children":[]'.length + commaBytes(0, children.length));
  if (shown === page.total) return { children };
  const cut =
    shown < length ? cutWithin(snapshot.quota!.maxNodes, shown, page.total) : cutByWidth(shown, page.total);
  return { children, ...truncated(snapshot, cut) };
}

const pathIn = ({ path }: Folder, { name }: Entry): string => (path === "" ? name : `${path}/${name}`);

function truncated(snapshot: Snapshot, info: Cut): Inside {
  count(snapshot, ',"truncated":'.length + jsonBytes(info));
  return { truncated: info };
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
async function enter(snapshot: Snapshot, inner: Inner): Promise<Inside> {
  const opened = open(snapshot, inner);
  if (opened.folder === undefined) return truncated(snapshot, opened.cut);
  using folder = opened.folder;
  const rules = snapshot.filter.rulesIn(folder, inner.entry.name, inner.above.rules);
  return await readChildren(snapshot, folder, { depth: inner.above.depth + 1, rules });
}

/** The folder, held open, or why it is not. */
function open(
  snapshot: Snapshot,
  { folder, entry, above }: Inner,
): { readonly folder: Folder } | { readonly folder?: undefined; readonly cut: Cut } {
  if (snapshot.filter.excludesFolder(folder, entry.name)) return { cut: excluded };
  const cut = cutBefore(snapshot, above.depth + 1);
  if (cut !== undefined) return { cut };
  const inside = tryOpen(folder, entry);
  return inside === undefined ? { cut: unreadable } : { folder: inside };
}

/** Why no folder of this depth is opened; undefined where they are. */
function cutBefore({ maxDepth, quota }: Snapshot, depth: number): Cut | undefined {
  if (depth >= maxDepth) return cutByDepth(maxDepth);
  return quota?.admits(depth + 1) === false ? cutByNodes(quota.maxNodes) : undefined;
}

function tryOpen(folder: Folder, entry: Entry): Folder | undefined {
  try {
    return folder.child(entry.raw);
  } catch {
    return undefined;
  }
}
