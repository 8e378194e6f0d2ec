import type { Case } from "./case.ts";
import { cases as createFile } from "./cases/create-file.ts";
import { cases as deleteFile } from "./cases/delete-file.ts";
import { cases as listFolder } from "./cases/list-folder.ts";
import { cases as readFile } from "./cases/read-file.ts";
import { cases as search } from "./cases/search.ts";
import { cases as tree } from "./cases/tree.ts";
import { cases as updateFile } from "./cases/update-file.ts";

/** All cases, by the function they call. */
export const catalogue: Readonly<Record<string, readonly Case[]>> = {
  "coder::create-file": createFile,
  "coder::delete-file": deleteFile,
  "coder::list-folder": listFolder,
  "coder::read-file": readFile,
  "coder::search": search,
  "coder::tree": tree,
  "coder::update-file": updateFile,
};
