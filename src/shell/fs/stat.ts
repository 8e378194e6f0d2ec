import { Type } from "@sinclair/typebox";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { splitPath } from "../../filesystem/jail/parse.ts";
import { defineFsFunction } from "./define.ts";
import { entryFields, entryOf } from "./entry.ts";

/** `shell::fs::stat`: one path, links followed (shell §9.2, shell §15). */
export const stat = defineFsFunction({
  op: "stat",
  description: "Stat a path on host or sandbox",
  effect: "reads",
  paths: [{ at: "/path", access: "read" }],
  fields: {
    path: Type.String({ description: "A link is followed." }),
  },
  response: Type.Object(entryFields, { title: "FsEntry" }),
  examples: [{ title: "Look at one file", request: { path: "/srv/data/notes.txt" } }],
  handle({ path }, { fs: { jail }, profile }) {
    using place = jail.admit(path);
    const name = place.name === "." ? jail.baseName || path : place.name;
    const entry = entryOf(name, place.stats!);
    return profile["fs.stat.names_links"] ? { ...entry, ...linkAt(jail, path) } : entry;
  },
});

/** Returns the fields that differ if the last name of a path is a link. */
function linkAt(jail: Jail, path: string): { name?: string; is_symlink?: boolean } {
  const sent = splitPath(path).names.at(-1);
  if (sent === undefined || sent === "..") return {};
  using place = jail.admit(path, { lastLink: "stay" });
  return place.stats!.isSymbolicLink() ? { name: sent, is_symlink: true } : {};
}
