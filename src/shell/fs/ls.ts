import { Type } from "@sinclair/typebox";
import { createWalkSlice, yieldIfDue } from "../../base/scheduling/walk-slice.ts";
import { Named, UInt32, UInt64 } from "../../base/schema/fragments.ts";
import { defineFsFunction, shortDeadline } from "./define.ts";
import { entryFields, entryOf } from "./entry.ts";

const since = "0.4.0";

/** The number of entries of a page if the caller does not set it. */
const defaultPageSize = 500;
const maxPageSize = 2000;

/** `shell::fs::ls`: the entries of a folder, sorted by the bytes of their names (shell §9.1). */
export const ls = defineFsFunction({
  op: "ls",
  description: "List directory contents on host or sandbox",
  effect: "reads",
  paths: [{ at: "/path", access: "list" }],
  answerBytes: 1024 * 1024,
  fields: {
    path: Type.String(),
    page: Type.Optional(UInt32({ since, description: "Page to answer, from 1. Default: all entries." })),
    page_size: Type.Optional(
      UInt32({
        since,
        description: `Entries of a page, at most ${maxPageSize}. Default: ${defaultPageSize}.`,
      }),
    ),
  },
  response: Type.Object(
    {
      entries: Type.Array(Named("FsEntry", entryFields)),
      total: Type.Optional(UInt64({ since, description: "Entries of the folder, if the answer is a page." })),
      page: Type.Optional(UInt32({ since })),
      page_size: Type.Optional(UInt32({ since })),
      has_more: Type.Optional(Type.Boolean({ since })),
    },
    { title: "LsResponse" },
  ),
  examples: [
    { title: "List a folder", request: { path: "/srv/data" } },
    { title: "The second page of a large folder", request: { path: "/srv/data", page: 2, page_size: 100 } },
  ],
  async handle({ path, page, page_size: size }, context) {
    const { jail, files } = context.fs;
    const isPaged = page !== undefined || size !== undefined || context.profile["fs.ls.pages"];
    using folder = jail.admitFolder(path);
    using deadline = shortDeadline(context);
    using slice = createWalkSlice({ deadline, caller: context.caller });
    const pace = { slice, deadline };
    const reachable = [];
    for (const entry of await files.list(folder, pace)) {
      if (slice.isDue) await yieldIfDue(pace);
      if (!jail.deniesIn(folder, entry.name)) reachable.push(entry);
    }
    const number = Math.max(1, page ?? 1);
    const pageSize = Math.max(1, Math.min(size ?? defaultPageSize, maxPageSize));
    const end = number * pageSize;
    const entries = [];
    for (const entry of isPaged ? reachable.slice(end - pageSize, end) : reachable) {
      if (slice.isDue) await yieldIfDue(pace);
      const stats = files.lstat(folder, entry);
      if (stats !== undefined) entries.push(entryOf(entry.name, stats));
    }
    if (!isPaged) return { entries };
    const total = reachable.length;
    return { entries, total, page: number, page_size: pageSize, has_more: end < total };
  },
});
