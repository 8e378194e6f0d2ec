import { Type } from "@sinclair/typebox";
import { Refusal } from "../../base/errors.ts";
import { makeFolderAt } from "../../filesystem/operations/make-folder.ts";
import { defineFsFunction, requirePath } from "./define.ts";
import { explainedMissing, refuseFs } from "./fs-errors.ts";
import { parseMode } from "./mode.ts";

/** `shell::fs::mkdir`: makes a folder (shell §9.3). */
export const mkdir = defineFsFunction({
  op: "mkdir",
  description: "Create a directory on host or sandbox",
  effect: "writes",
  paths: [{ at: "/path", access: "create", when: { parents: true } }],
  isAdditive: true,
  fields: {
    path: Type.String(),
    mode: Type.String({ default: "0755" }),
    parents: Type.Boolean({ default: false }),
  },
  response: Type.Object({ created: Type.Boolean() }, { title: "MkdirResponse" }),
  examples: [{ title: "A folder and those above it", request: { path: "/srv/data/2026/11", parents: true } }],
  async handle({ path, mode, parents }, context) {
    const { jail, tree } = context.fs;
    requirePath(jail, path);
    const options = { mode: parseMode(mode, { isFolder: true }), parents };
    try {
      return { created: await makeFolderAt(tree, { path, ...options }, context) };
    } catch (error) {
      if (!context.profile.explained_errors || !(error instanceof Refusal)) throw error;
      if (error.reason === "exists") throw parents ? refuseFs.nameIsTaken(path) : refuseFs.folderExists(path);
      throw parents ? error : explainedMissing(error, path);
    }
  },
});
