/** Renders several changes that were made as one, or would be, for a model. */

import type { Steps } from "../../base/scheduling/time-slice.ts";
import { type PatchedFileResult, renderPatched } from "../apply-patch/text.ts";
import { renderWritten } from "../create-file.ts";
import { renderRemoval } from "../delete-file.ts";
import { renderTransfer } from "../fields/two-paths.ts";
import { renderPath } from "../render/entry-text.ts";
import { renderEdit } from "../update-file/text.ts";
import type { ChangeResult } from "./changes.ts";

interface Transacted {
  readonly committed: boolean;
  readonly results: readonly unknown[];
  readonly transaction?: string;
  readonly plan?: string;
  /** The number of the checkpoint, which coder::undo takes and which is shown after the changes. */
  readonly checkpoint?: number;
}

type SentOps = Parameters<typeof renderEdit>[1];

/** The part of a sent change that its text depends on. */
interface SentChange {
  readonly ops?: SentOps;
  readonly overwrite?: unknown;
  readonly encoding?: unknown;
}

/**
 * Renders a line for each change, with the changed lines of a file below it. `sent` are the changes of the
 * call, if it has them.
 */
export function* renderTransacted(
  { committed, results, transaction, plan, checkpoint }: Transacted,
  sent: readonly object[] = [],
): Steps<string> {
  const lines: string[] = [];
  for (const [index, result] of results.entries()) {
    lines.push(yield* renderResult(result as CommittedResult, sent[index]));
    yield;
  }
  if (transaction !== undefined && checkpoint === undefined) lines.push(`transaction ${transaction}`);
  if (transaction === undefined && committed) lines.push("nothing had to be changed");
  if (plan !== undefined) lines.push(`plan ${plan}`);
  return lines.join("\n");
}

/** The result of one change in a plan of a function that makes its changes one by one. */
type ApprovedResult =
  | (ChangeResult & { readonly success: boolean; readonly error?: unknown })
  | { readonly op: "undo"; readonly path: string; readonly removed: boolean };

type CommittedResult = ChangeResult | PatchedFileResult | ApprovedResult;

function* renderResult(result: CommittedResult, sent?: SentChange): Steps<string> {
  if (!("op" in result)) return renderPatched(result);
  if (result.op === "undo") return `${renderPath(result.path)}: ${result.removed ? "removed" : "restored"}`;
  if ("error" in result && result.error !== undefined)
    return `${renderPath(result.path ?? result.from ?? "")}: not changed: ${messageOf(result.error)}`;
  const { op, path = "", from, to, applied = 0, new_line_count = 0 } = result;
  switch (op) {
    case "create":
      return renderWritten({ bytes_written: 0, ...result, path }, sent);
    case "update":
      return yield* renderEdit(
        { ...result, path, applied, new_line_count } as Parameters<typeof renderEdit>[0],
        sent?.ops,
      );
    case "delete":
      return renderRemoval({ ...result, path, removed: result.removed === true });
    case "move":
      return renderTransfer({ ...result, from: from!, to: to! }, result.moved === true && "moved");
    case "copy":
      return renderTransfer({ ...result, from: from!, to: to! }, result.copied === true && "copied");
    case "make-folder":
      return `${renderPath(path)}: ${result.created ? "created" : "was there already"}`;
    case "chmod":
      return `${renderPath(path)}: mode ${result.mode} ${result.unchanged ? "is set already" : "set"}`;
  }
}

/** Returns the sentence of an entry's error, which is text in functions of the published reference. */
function messageOf(error: unknown): string {
  const { message } = (typeof error === "string" ? JSON.parse(error) : error) as { readonly message: string };
  return message;
}
