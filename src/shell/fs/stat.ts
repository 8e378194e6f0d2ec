import { Type } from "@sinclair/typebox";
import { defineFsFunction } from "./define.ts";
import { entryFields, entryOf } from "./entry.ts";

/** `shell::fs::stat`: one path, links followed (shell §9.2). */
export const stat = defineFsFunction({
  op: "stat",
  description: "Stat a path on host or sandbox",
  effect: "reads",
  paths: [{ at: "/path", access: "read" }],
  fields: { path: Type.String() },
  response: Type.Object(entryFields, { title: "FsEntry" }),
  examples: [{ title: "Look at one file", request: { path: "/srv/data/notes.txt" } }],
  handle({ path }, { fs: { jail } }) {
    using place = jail.admit(path);
    const name = place.name === "." ? jail.baseName || path : place.name;
    return entryOf(name, place.stats!);
  },
});
