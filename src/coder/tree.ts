import { Type } from "@sinclair/typebox";
import { beginAtOnce } from "../base/scheduling/time-slice.ts";
import { createWalkSlice } from "../base/scheduling/walk-slice.ts";
import { Nullable, UInt32, UInt64 } from "../base/schema/fragments.ts";
import { WrittenAnswer } from "../calls/contract/prepared-answer.ts";
import type { Folder } from "../filesystem/jail/folder.ts";
import { JsonBudget } from "../text/sizes/json-budget.ts";
import { jsonBytes } from "../text/sizes/json-size.ts";
import { defaultAnswerBytes, defineCoderFunction } from "./define.ts";
import { FolderFilterFields, folderFilterOf } from "./fields/folder-filter.ts";
import { BytePlan } from "./tree/byte-plan.ts";
import { deepest } from "./tree/cuts.ts";
import { TreeFilter } from "./tree/filter.ts";
import { TreeNode } from "./tree/node.ts";
import { NodeQuota } from "./tree/node-quota.ts";
import { parseWrittenTree } from "./tree/parse-tree.ts";
import {
  cutBefore,
  isDue,
  type Level,
  listOrNothing,
  open,
  type TreeSnapshot,
  yieldNow,
} from "./tree/snapshot.ts";
import { renderTree } from "./tree/text.ts";
import { TreeWriter } from "./tree/write-tree.ts";

const request = Type.Object(
  {
    include_hidden: Type.Optional(
      Type.Boolean({
        since: "0.4.0",
        isRare: true,
        description: "Names that begin with a dot (default true).",
      }),
    ),
    max_bytes: Type.Optional(
      UInt32({ since: "0.4.0", isRare: true, description: "Bytes of all lines, shared by the folders." }),
    ),
    max_depth: Nullable(UInt32(), {
      default: null,
      description: "Maximum depth to descend; the root node is depth 0.",
    }),
    max_nodes: Type.Optional(UInt32({ since: "0.4.0", description: "Those nearest to the root first." })),
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
  answerBytes: () => defaultAnswerBytes.ofTree,
  async handle(request, context) {
    const { config, jail, profile } = context;
    using slice = createWalkSlice(context);
    using folder = jail.admitFolder(request.path);
    const options = {
      ...folderFilterOf("tree", request, context),
      includesHidden: request.include_hidden ?? true,
    };
    const filter = new TreeFilter(options, folder);
    const { max_nodes: maxNodes, max_bytes: maxBytes = profile["tree.max_bytes"] } = request;
    const snapshot: TreeSnapshot = {
      context,
      maxDepth: Math.min(request.max_depth ?? config.tree_default_depth, deepest),
      perFolder: Math.max(1, request.per_folder_limit ?? config.tree_per_folder_limit),
      quota: maxNodes === undefined ? undefined : new NodeQuota(maxNodes),
      budget: new JsonBudget(context.maxAnswerBytes, jsonBytes({ root: "" }) - jsonBytes("")),
      slice,
      filter,
      goneRoots: profile.marks_gone_roots ? jail.goneRoots() : [],
      visited: 0,
    };
    const level = { depth: 0, rules: await beginAtOnce(filter.rulesAtStart(folder), slice) };
    if (snapshot.quota !== undefined) await countNodes(snapshot, folder, level);
    if (maxBytes !== undefined) {
      const plan = new BytePlan(snapshot, folder, maxBytes);
      await plan.make(level);
      snapshot.plan = plan;
    }
    filter.omitted = 0;
    const writer = await new TreeWriter(snapshot).write(folder, level);
    const { text, bytes } = writer.answer(filter.omitsNothing ? undefined : filter.omitted);
    return new WrittenAnswer(text, bytes, parseWrittenTree);
  },
  render: ({ root, omitted = 0 }, wording) => renderTree(root, omitted, wording),
});

/** Counts, for each depth, the nodes that the tree may have. */
async function countNodes(snapshot: TreeSnapshot, folder: Folder, level: Level): Promise<void> {
  const depth = level.depth + 1;
  if (cutBefore(snapshot, level.depth) !== undefined) return;
  const page = await listOrNothing(snapshot, folder, level);
  if (page === undefined) return;
  snapshot.quota?.count(depth, page.entries.length);
  for (const entry of page.entries) {
    if (entry.kind !== "dir") continue;
    if (isDue(snapshot)) await yieldNow(snapshot);
    if (snapshot.context.jail.deniesIn(folder, entry.name)) continue;
    using inside = open(snapshot, { folder, entry, above: level }).folder;
    if (inside === undefined) continue;
    const rules = snapshot.filter.rulesIn(inside, level.rules);
    await countNodes(snapshot, inside, { depth, rules });
  }
}
