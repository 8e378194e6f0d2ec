import { createFile } from "./coder/create-file.ts";
import { deleteFile } from "./coder/delete-file.ts";
import { listFolder } from "./coder/list-folder.ts";
import { readFile } from "./coder/read-file.ts";
import { search } from "./coder/search.ts";
import { tree } from "./coder/tree.ts";
import { updateFile } from "./coder/update-file.ts";
import type { FunctionDefinition } from "./worker/define.ts";

/**
 * What `coder` offers, in the order of the published reference. Registration, `--print-schema`, the reference
 * pages, and the coverage of the conformance and escape suites derive from this list and nothing else.
 */
export const functions: readonly FunctionDefinition[] = [
  tree,
  listFolder,
  deleteFile,
  readFile,
  updateFile,
  search,
  createFile,
];
