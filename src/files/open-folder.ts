import { constants, openSync } from "node:fs";
import type { Folder } from "../jail/folder.ts";

/** A descriptor that a held folder can be read, flushed and locked by. Throws the errno error. */
export const openFolder = (folder: Folder): number =>
  folder.enter((at) => openSync(at("."), constants.O_RDONLY | constants.O_DIRECTORY));
