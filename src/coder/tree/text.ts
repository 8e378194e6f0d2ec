/** Renders a tree for models. */

import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Kind } from "../../base/schema/fragments.ts";
import type { Wording } from "../../calls/contract/wording.ts";
import { renderEntry } from "../render/entry-text.ts";
import { joinLines } from "../render/lines.ts";
import { deepest } from "./cuts.ts";

interface RenderedNode {
  readonly name: string;
  readonly kind: Kind;
  readonly non_accessible: boolean;
  readonly children?: readonly RenderedNode[] | null;
  readonly truncated?: Cut | null;
}

interface Cut {
  readonly reason: string;
  readonly shown: number;
  readonly total?: number | null;
}

/** Nodes that are rendered in one step. */
const nodesPerStep = 512;

/** The reason of a cut by `max_depth` that no larger one avoids. */
const deepestReason = "deepest";

/**
 * The explanations of marks, and the ways to see left-out entries. Each is shown once, however many folders
 * have the mark.
 */
const legends: Readonly<Record<string, { readonly mark: string; readonly legend: string }>> = {
  max_depth: {
    mark: "…",
    legend: "… is not opened: send a larger max_depth, or that folder as path",
  },
  [deepestReason]: {
    mark: "…",
    legend: `… at depth ${deepest} is not opened, since max_depth is at most ${deepest}: send that folder as path`,
  },
  max_nodes: {
    mark: "…",
    legend: "… is left out: send a larger max_nodes, or that folder as path",
  },
  max_bytes: {
    mark: "…",
    legend: "… is left out: send a larger max_bytes, or that folder as path",
  },
  per_folder_limit: {
    mark: "…",
    legend: "… n of m: the other entries are left out; page through that folder with coder::list-folder",
  },
  default_excludes: {
    mark: "[excluded]",
    legend: "excluded: send use_default_excludes false, or that folder as path",
  },
  root_gone: {
    mark: "[gone]",
    legend: "gone: the folder of that root was removed or moved away; ask the user to restore it",
  },
  io_error: {
    mark: "[unreadable]",
    legend: "unreadable: the operating system does not let coder open that folder",
  },
};

/**
 * Renders a line for each node, indented below its folder. A folder that is not shown whole has a mark, which
 * is explained once at the end. `omitted` entries have no mark, and are mentioned only at the end.
 */
export function* renderTree(root: RenderedNode, omitted: number, wording: Wording): Steps<string> {
  const reasons = new Set<string>();
  const lines: string[] = [];
  yield* renderNode(root, 0, { lines, reasons });
  const notes = Object.keys(legends).filter((reason) => reasons.has(reason));
  for (const reason of notes) lines.push(`[${wording.sentence(legends[reason]!.legend)}]`);
  if (omitted > 0)
    lines.push(`[${omitted} left out by respect_gitignore, use_default_excludes or include_hidden]`);
  return yield* joinLines(lines);
}

/** The lines of the nodes so far, and the reasons for what they leave out. */
interface RenderedNodes {
  readonly lines: string[];
  readonly reasons: Set<string>;
}

function* renderNode(node: RenderedNode, depth: number, rendered: RenderedNodes): Steps<void> {
  const { lines, reasons } = rendered;
  const indent = "  ".repeat(depth);
  const { truncated, children } = node;
  const inside = `${indent}  `;
  const mark = truncated && (legends[truncated.reason]?.mark ?? "…");
  const notOpened = mark && children == null ? ` ${mark}` : "";
  if (lines.push(`${indent}${renderEntry(node)}${notOpened}`) % nodesPerStep === 0) yield;
  for (const child of children ?? []) yield* renderNode(child, depth + 1, rendered);
  if (truncated == null) return;
  reasons.add(truncated.reason === "max_depth" && depth >= deepest ? deepestReason : truncated.reason);
  if (children != null) lines.push(`${inside}${mark} ${truncated.shown} of ${truncated.total}`);
}
