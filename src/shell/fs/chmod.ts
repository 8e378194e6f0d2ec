import { Type } from "@sinclair/typebox";
import { Refusal } from "../../base/errors.ts";
import { Nullable, UInt32, UInt64 } from "../../base/schema/fragments.ts";
import { changeMode } from "../../filesystem/operations/change-mode.ts";
import { defineFsFunction, requirePath, shortDeadline } from "./define.ts";
import { refuseFs } from "./fs-errors.ts";
import { parseMode } from "./mode.ts";

/** `shell::fs::chmod`: permission bits and owner of a file or a tree (shell §9.5). */
export const chmod = defineFsFunction({
  op: "chmod",
  description: "Change permissions on host or sandbox",
  effect: "writes",
  paths: [
    { at: "/path", access: "write", when: { recursive: false } },
    { at: "/path", access: "write-tree", when: { recursive: true } },
  ],
  isIdempotent: true,
  fields: {
    path: Type.String(),
    mode: Type.String(),
    uid: Nullable(UInt32(), { default: null }),
    gid: Nullable(UInt32(), { default: null }),
    recursive: Type.Boolean({ default: false }),
  },
  response: Type.Object({ updated: UInt64() }, { title: "ChmodResponse" }),
  examples: [{ title: "Make a script executable", request: { path: "/srv/data/run.sh", mode: "0755" } }],
  async handle({ path, mode, uid, gid, recursive }, context) {
    const { jail, tree } = context.fs;
    requirePath(jail, path);
    using deadline = shortDeadline(context);
    const owners = { uid: uid ?? undefined, gid: gid ?? undefined };
    const change = { path, mode: parseMode(mode), ...owners, recursive };
    try {
      return { updated: await changeMode(tree, change, { ...context, deadline }) };
    } catch (error) {
      const isOfLink = error instanceof Refusal && error.reason === "wrong-kind";
      throw isOfLink && context.profile.explained_errors ? refuseFs.recursiveLink(path) : error;
    }
  },
});
