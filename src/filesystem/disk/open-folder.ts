import { constants, openSync } from "node:fs";
import type { Folder } from "../jail/folder.ts";

/** Opens a descriptor for reading, flushing and locking a held folder. Throws the errno error. */
export const openFolder = (folder: Folder): number =>
  folder.enter((at) => openSync(at("."), constants.O_RDONLY | constants.O_DIRECTORY));
