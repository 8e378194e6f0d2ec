import { Type } from "@sinclair/typebox";
import { Refusal } from "../../base/errors.ts";
import { createWalkSlice } from "../../base/scheduling/walk-slice.ts";
import { pathIn } from "../../filesystem/jail/backend.ts";
import { renamePath } from "../../filesystem/operations/rename.ts";
import type { ShellContext } from "../define.ts";
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
      const { profile } = context;
      const linkMayLeadAnywhere = profile["fs.links_lead_anywhere"];
      const comparesEnds = profile["fs.mv.compares_ends"];
      const paths = { from: src, to: dst, overwrite, linkMayLeadAnywhere, comparesEnds };
      return { moved: await renamePath(context.fs.tree, paths, { ...context, deadline }) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const isMissing = error.reason === "missing" && !error.isBelowFile;
      if (isMissing && error.path === src) throw refuseFs.sourceMissing(src);
      if (context.profile.explained_errors) {
        if (isMissing) throw refuseFs.folderMissing(dst, makeFirst);
        if (error.reason === "exists" || error.reason === "io")
          await requireReplaceable({ src, dst, overwrite }, { ...context, deadline });
      }
      if (error.reason === "exists") throw refuseFs.destinationExists(dst);
      throw error;
    }
  },
});

const makeFirst = 'Make it with shell::fs::mkdir and "parents": true, then repeat the call';

interface Sent {
  readonly src: string;
  readonly dst: string;
  readonly overwrite: boolean;
}

/** Throws if `dst` cannot be replaced, or not by what is at `src`. */
async function requireReplaceable(
  { src, dst, overwrite }: Sent,
  { fs: { jail, files }, deadline }: Pick<ShellContext, "fs" | "deadline">,
): Promise<void> {
  const options = { lastLink: "bare", mayBeMissing: true } as const;
  using source = jail.admit(src, options);
  using target = jail.admit(dst, { ...options, parents: true });
  if (source.stats === undefined) return;
  const isFolder = source.stats.isDirectory();
  if (target.stats === undefined) {
    if (isFolder && target.path.startsWith(`${source.path}/`)) throw refuseFs.intoItself(src);
    return;
  }
  if (!target.stats.isDirectory()) {
    if (isFolder) throw refuseFs.noFolderOverFile(dst);
    return;
  }
  const isInside =
    target.path.startsWith(`${source.path}/`) || pathIn(target.path, source.name) === source.path;
  const into = isInside ? undefined : `${dst.replace(/\/+$/, "")}/${source.name}`;
  if (!isFolder || !overwrite) throw refuseFs.destinationIsFolder(dst, into);
  using inside = target.folder.child(target.name);
  using slice = createWalkSlice({ deadline });
  const { length } = await files.list(inside, { slice, deadline });
  if (length > 0) throw refuseFs.destinationNotEmpty(dst, into);
}
