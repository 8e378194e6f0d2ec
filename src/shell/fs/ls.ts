import { Type } from "@sinclair/typebox";
import { Named } from "../../wire.ts";
import { defineFsFunction } from "./define.ts";
import { entryFields, entryOf } from "./entry.ts";

/** `shell::fs::ls`: the entries of a folder, sorted by the bytes of their names (specification of shell, section 9.1). */
export const ls = defineFsFunction({
  op: "ls",
  description: "List directory contents on host or sandbox",
  effect: "reads",
  fields: { path: Type.String() },
  response: Type.Object({ entries: Type.Array(Named("FsEntry", entryFields)) }, { title: "LsResponse" }),
  examples: [{ title: "List a folder", request: { path: "/srv/data" } }],
  handle({ path }, { disk: { jail, files } }) {
    using folder = jail.admitFolder(path);
    const entries = [];
    for (const entry of files.list(folder)) {
      if (jail.deniesIn(folder, entry.name)) continue;
      const stats = files.lstat(folder, entry);
      if (stats !== undefined) entries.push(entryOf(entry.name, stats));
    }
    return { entries };
  },
});
