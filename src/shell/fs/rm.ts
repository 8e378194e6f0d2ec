import { Type } from "@sinclair/typebox";
import { unlinkPath } from "../../filesystem/operations/remove.ts";
import { defineFsFunction, shortDeadline } from "./define.ts";

/** `shell::fs::rm`: removes a file, a link or a folder (shell §9.4). */
export const rm = defineFsFunction({
  op: "rm",
  description: "Remove a path on host or sandbox",
  effect: "writes",
  paths: [
    { at: "/path", access: "remove", when: { recursive: false } },
    { at: "/path", access: "remove-tree", when: { recursive: true } },
  ],
  fields: { path: Type.String(), recursive: Type.Boolean({ default: false }) },
  response: Type.Object({ removed: Type.Boolean() }, { title: "RmResponse" }),
  examples: [
    { title: "A folder with everything in it", request: { path: "/srv/data/old", recursive: true } },
  ],
  async handle({ path, recursive }, context) {
    using deadline = shortDeadline(context);
    await unlinkPath(context.fs.tree, { path, recursive }, { ...context, deadline });
    return { removed: true };
  },
});
