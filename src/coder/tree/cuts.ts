/** Why a tree does not show everything that is in a folder, and how to see it. */
import type { CoderContext } from "../define.ts";

type LimitKey = "max_depth" | "max_nodes" | "max_bytes";

const remedy = (key: LimitKey, limit: number) =>
  `the limit is ${key} ${limit}. Send a larger ${key}, or this folder as path.`;

/** Returns the cut of a folder that is not opened because of a limit. */
const notOpened = (key: LimitKey, limit: number) => ({
  reason: key,
  shown: 0,
  hint: `Not opened: ${remedy(key, limit)}`,
});

/** Returns the cut of a folder that is shown in part because of a limit. */
const shownInPart = (key: LimitKey, limit: number, { shown, total }: { shown: number; total: number }) => ({
  reason: key,
  shown,
  total,
  hint: `Shows ${shown} of ${total} entries: ${remedy(key, limit)}`,
});

export const cutByDepth = (maxDepth: number) => notOpened("max_depth", maxDepth);

/** Maximum depth of an opened folder. The bus decodes at most 127 levels of JSON, and a folder takes two. */
export const deepest = 60;

/** The cut of a folder that no `max_depth` opens. */
export const cutAtDeepest = {
  ...notOpened("max_depth", deepest),
  hint: `Not opened: max_depth is at most ${deepest}. Send this folder as path.`,
};

export const cutByNodes = (maxNodes: number) => notOpened("max_nodes", maxNodes);

export const cutByBytes = (maxBytes: number) => notOpened("max_bytes", maxBytes);

export const cutWithin = (maxNodes: number, shown: number, total: number) =>
  shownInPart("max_nodes", maxNodes, { shown, total });

export const cutWithinBytes = (maxBytes: number, shown: number, total: number) =>
  shownInPart("max_bytes", maxBytes, { shown, total });

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

export const goneRoot = {
  reason: "root_gone",
  shown: 0,
  hint: "The folder of this root was removed or moved away. Work in another root, or ask the user to restore it.",
};

export const unreadable = {
  reason: "io_error",
  shown: 0,
  hint: "The operating system does not let coder open this folder. Leave it out, or ask the user.",
};
