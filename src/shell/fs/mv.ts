import { Type } from "@sinclair/typebox";
import { Refusal } from "../../base/errors.ts";
import { renamePath } from "../../filesystem/operations/rename.ts";
import { defineFsFunction, shortDeadline } from "./define.ts";
import { refuseFs } from "./fs-errors.ts";

/** `shell::fs::mv`: renames a path (shell §9.6). */
export const mv = defineFsFunction({
  op: "mv",
  description: "Move/rename a path on host or sandbox",
  effect: "writes",
  paths: [
    { at: "/src", access: "move" },
    { at: "/dst", access: "create", when: { overwrite: false } },
    { at: "/dst", access: "replace", when: { overwrite: true } },
  ],
  fields: { src: Type.String(), dst: Type.String(), overwrite: Type.Boolean({ default: false }) },
  response: Type.Object({ moved: Type.Boolean() }, { title: "MvResponse" }),
  examples: [{ title: "Rename a file", request: { src: "/srv/data/a.txt", dst: "/srv/data/b.txt" } }],
  async handle({ src, dst, overwrite }, context) {
    using deadline = shortDeadline(context);
    try {
      const linkMayLeadAnywhere = context.profile["fs.links_lead_anywhere"];
      const paths = { from: src, to: dst, overwrite, linkMayLeadAnywhere };
      await renamePath(context.fs.tree, paths, { ...context, deadline });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.reason === "missing" && !error.isBelowFile && error.path === src)
        throw refuseFs.sourceMissing(src);
      if (error.reason === "exists") throw refuseFs.destinationExists(dst);
      throw error;
    }
    return { moved: true };
  },
});
