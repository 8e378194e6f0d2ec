/** Renders a tree for models. */

import type { Kind } from "../../base/schema/fragments.ts";
import type { Wording } from "../../calls/contract/wording.ts";
import { renderEntry } from "../render/entry-text.ts";

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

/**
 * The explanations of marks, and the ways to see left-out entries. Each is shown once, however many folders
 * have the mark.
 */
const legends: Readonly<Record<string, { readonly mark: string; readonly legend: string }>> = {
  max_depth: {
    mark: "…",
    legend: "… is not opened: send a larger max_depth, or that folder as path",
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
export function renderTree(root: RenderedNode, omitted: number, wording: Wording): string {
  const reasons = new Set<string>();
  const lines = renderNode(root, "", reasons);
  const notes = Object.keys(legends).filter((reason) => reasons.has(reason));
  return [
    ...lines,
    ...notes.map((reason) => `[${wording.sentence(legends[reason]!.legend)}]`),
    ...(omitted > 0
      ? [`[${omitted} left out by respect_gitignore, use_default_excludes or include_hidden]`]
      : []),
  ].join("\n");
}

function renderNode(node: RenderedNode, indent: string, reasons: Set<string>): string[] {
  const { truncated, children } = node;
  const line = indent + renderEntry(node);
  const inside = `${indent}  `;
  const below = (children ?? []).flatMap((child) => renderNode(child, inside, reasons));
  if (truncated == null) return [line, ...below];
  reasons.add(truncated.reason);
  const mark = legends[truncated.reason]?.mark ?? "…";
  if (children == null) return [`${line} ${mark}`];
  return [line, ...below, `${inside}${mark} ${truncated.shown} of ${truncated.total}`];
}
