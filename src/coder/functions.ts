import type { FunctionDefinition } from "../calls/contract/definition.ts";
import { withFsScope } from "../calls/contract/fs-scope.ts";
import { applyPatch } from "./apply-patch.ts";
import { withApproval } from "./approval/with-approval.ts";
import { changes } from "./changes.ts";
import { withCheckpoint } from "./checkpoints/with-checkpoint.ts";
import { checkpoints } from "./checkpoints.ts";
import { commit } from "./commit.ts";
import { configStatus } from "./config-status.ts";
import { copy } from "./copy.ts";
import { createFile } from "./create-file.ts";
import { deleteFile } from "./delete-file.ts";
import { info } from "./info.ts";
import { listFolder } from "./list-folder.ts";
import { makeFolder } from "./make-folder.ts";
import { move } from "./move.ts";
import { readFile } from "./read-file.ts";
import { replace } from "./replace.ts";
import { search } from "./search.ts";
import { transact } from "./transact.ts";
import { tree } from "./tree.ts";
import { undo } from "./undo.ts";
import { updateFile } from "./update-file.ts";

/**
 * The functions of `coder`: those of the published reference in its order, then the newer ones. Registration,
 * `--print-schema`, the reference pages, and the coverage of the conformance and escape suites derive from
 * this list and nothing else.
 */
export const functions: readonly FunctionDefinition[] = [
  tree,
  listFolder,
  deleteFile,
  readFile,
  updateFile,
  search,
  createFile,
  move,
  copy,
  makeFolder,
  transact,
  applyPatch,
  replace,
  commit,
  checkpoints,
  undo,
  info,
  changes,
  configStatus,
].map((definition) => withFsScope(withCheckpoint(withApproval(definition))));
