import { openerBelow } from "../files/file-buffer.ts";
import type { Name } from "../jail/folder.ts";
import type { FilesOfFolder } from "./files.ts";
import { prefixOf, type Run } from "./walk.ts";

/** Files as they are posted to a thread: in long strings, which cost a tenth of posting objects. */
export interface PostedFiles {
  /** Of each folder its descriptor, in this process and held while the job is under way, and names: "7/a/b//9/c". */
  readonly folders: string;
  /** The names that are not UTF-8, in order; a "." stands in their places. */
  readonly bytes: readonly Uint8Array[];
  /** The paths of the folders with a "/" behind each, or "" for the base, and a NUL between them; "" if not wanted. */
  readonly prefixes: string;
}

/** The files of folders that have descriptors. A run without files is left out. */
export function postFiles(runs: readonly Run[], wantsPrefixes: boolean): PostedFiles {
  const bytes: Uint8Array[] = [];
  const text = (name: Name) => {
    if (typeof name === "string") return name;
    bytes.push(name);
    return ".";
  };
  const withFiles = runs.filter(({ names }) => names.length > 0);
  const folders = withFiles
    .map(({ folder: { folder }, names }) => `${folder.descriptor}/${names.map(text).join("/")}`)
    .join("//");
  const prefixes = wantsPrefixes ? withFiles.map(({ folder }) => prefixOf(folder)).join("\0") : "";
  return { folders, bytes, prefixes };
}

export function readFiles({ folders, bytes, prefixes }: PostedFiles): FilesOfFolder[] {
  const places = prefixes.split("\0");
  let next = 0;
  const name = (text: string): Name => (text === "." ? Buffer.from(bytes[next++]!) : text);
  return folders.split("//").map((folder, index) => {
    const [descriptor, ...names] = folder.split("/");
    return { open: openerBelow(Number(descriptor)), prefix: places[index] ?? "", names: names.map(name) };
  });
}
