import { Type } from "@sinclair/typebox";
import { createWalkSlice, yieldIfDue } from "../../base/scheduling/walk-slice.ts";
import { Named } from "../../base/schema/fragments.ts";
import { defineFsFunction, shortDeadline } from "./define.ts";
import { entryFields, entryOf } from "./entry.ts";

/** `shell::fs::ls`: the entries of a folder, sorted by the bytes of their names (shell §9.1). */
export const ls = defineFsFunction({
  op: "ls",
  description: "List directory contents on host or sandbox",
  effect: "reads",
  paths: [{ at: "/path", access: "list" }],
  answerBytes: 1024 * 1024,
  fields: { path: Type.String() },
  response: Type.Object({ entries: Type.Array(Named("FsEntry", entryFields)) }, { title: "LsResponse" }),
  examples: [{ title: "List a folder", request: { path: "/srv/data" } }],
  async handle({ path }, context) {
    const { jail, files } = context.fs;
    using folder = jail.admitFolder(path);
    using deadline = shortDeadline(context);
    using slice = createWalkSlice({ deadline, caller: context.caller });
    const pace = { slice, deadline };
    const entries = [];
    for (const entry of await files.list(folder, pace)) {
      if (slice.isDue) await yieldIfDue(pace);
      if (jail.deniesIn(folder, entry.name)) continue;
      const stats = files.lstat(folder, entry);
      if (stats !== undefined) entries.push(entryOf(entry.name, stats));
    }
    return { entries };
  },
});
