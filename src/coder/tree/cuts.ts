/** Why a tree does not show everything that is in a folder, and how to see it. */
import type { CoderContext } from "../define.ts";

/** The folder is not opened. */
export const cutByDepth = (maxDepth: number) => ({
  reason: "max_depth",
  shown: 0,
  hint: `Not opened: the limit is max_depth ${maxDepth}. Send a larger max_depth, or this folder as path.`,
});

/** The folder is not opened. */
export const cutByNodes = (maxNodes: number) => ({
  reason: "max_nodes",
  shown: 0,
  hint: `Not opened: the limit is max_nodes ${maxNodes}. Send a larger max_nodes, or this folder as path.`,
});

export const cutWithin = (maxNodes: number, shown: number, total: number) => ({
  reason: "max_nodes",
  shown,
  total,
  hint: `Shows ${shown} of ${total} entries: the limit is max_nodes ${maxNodes}. Send a larger max_nodes, or this folder as path.`,
});

/** The folder is not opened. */
export const cutByBytes = (maxBytes: number) => ({
  reason: "max_bytes",
  shown: 0,
  hint: `Not opened: the limit is max_bytes ${maxBytes}. Send a larger max_bytes, or this folder as path.`,
});

export const cutWithinBytes = (maxBytes: number, shown: number, total: number) => ({
  reason: "max_bytes",
  shown,
  total,
  hint: `Shows ${shown} of ${total} entries: the limit is max_bytes ${maxBytes}. Send a larger max_bytes, or this folder as path.`,
});

export const cutByWidth = (
  shown: number,
  total: number,
  { sentence = (text) => text }: Pick<CoderContext, "sentence">,
) => ({
  reason: "per_folder_limit",
  shown,
  total,
  hint: sentence(`Shows ${shown} of ${total} entries. Page through this folder with coder::list-folder.`),
});

export const excluded = {
  reason: "default_excludes",
  shown: 0,
  hint: "Not opened: the default excludes cover it. Send use_default_excludes false, or this folder as path.",
};

export const unreadable = {
  reason: "io_error",
  shown: 0,
  hint: "The operating system does not let the worker open this folder. Leave it out, or ask the user.",
};
