import { type Static, Type } from "@sinclair/typebox";
import { createWalkSlice, yieldIfDue } from "../base/scheduling/walk-slice.ts";
import { Int64, Kind, Named, Nullable, UInt32, UInt64 } from "../base/schema/fragments.ts";
import type { Entry } from "../filesystem/files/types.ts";
import type { Folder } from "../filesystem/jail/folder.ts";
import type { EntryKind } from "../filesystem/jail/kind.ts";
import type { Config } from "./config.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { renderEntry } from "./render/entry-text.ts";
import { joinLines, renderEach } from "./render/lines.ts";

const request = Type.Object(
  {
    page: UInt32({ default: 1 }),
    page_size: Nullable(UInt32(), {
      default: null,
      description:
        "Capped by `config.list_max_page_size`; falls back to `config.list_default_page_size` when omitted.",
    }),
    path: Type.String({
      default: ".",
      description: "Folder, relative to `base_path`. Defaults to `.` (the base itself).",
    }),
  },
  { title: "ListFolderInput" },
);

const DirEntry = Named("DirEntry", {
  gone: Type.Optional(
    Type.Boolean({
      since: "0.4.0",
      description: "true for a root whose folder was removed or moved away, in the profile `agent`.",
    }),
  ),
  kind: Kind("EntryKind"),
  mode: Type.Optional(UInt32({ since: "0.4.0", description: "Permission bits, in the profile `agent`." })),
  mtime: Int64(),
  name: Type.String(),
  non_accessible: Type.Boolean({
    description:
      "True if this entry matches `non_accessible_globs` — caller cannot read/write/delete it via `coder::*` even though it shows up here.",
  }),
  size: UInt64(),
});

const response = Type.Object(
  {
    entries: Type.Array(DirEntry),
    has_more: Type.Boolean(),
    page: UInt32(),
    page_size: UInt32(),
    path: Type.String(),
    total: UInt64(),
  },
  { title: "ListFolderOutput" },
);

/** `coder::list-folder`: one folder, in pages, sorted by the bytes of the names (coder §8). */
export const listFolder = defineCoderFunction({
  id: "coder::list-folder",
  publishedIn: "coder 0.2.0",
  description:
    "Paginated single-folder listing, sorted by name. Non-accessible entries are still listed with a `non_accessible: true` flag.",
  summary: "one folder, in pages",
  brief: "One folder, sorted by name, in pages. Modes are shown unless 0644, or 0755 of a folder.",
  effect: "reads",
  paths: [{ at: "/path", access: "list" }],
  request,
  response,
  examples: [
    { title: "The base folder", request: {} },
    { title: "The second page of a large folder", request: { path: "src", page: 2, page_size: 50 } },
  ],
  answerBytes: (request, { config }) => pageSizeOf(request, config) * defaultEntryBytes,
  async handle(request, context) {
    const { config, files, jail, deadline } = context;
    const page = Math.max(1, request.page);
    const pageSize = pageSizeOf(request, config);
    using folder = jail.admitFolder(request.path);
    const start = (page - 1) * pageSize;
    using slice = createWalkSlice(context);
    const pace = { slice, deadline };
    const { entries, total } = await files.page(folder, { from: start, to: start + pageSize }, pace);
    const gone = context.profile.marks_gone_roots && folder.path === "" ? jail.goneRoots() : [];
    const described = [];
    for (const entry of entries) {
      if (slice.isDue) await yieldIfDue(pace);
      const isGone = gone.includes(entry.name);
      described.push({ ...(isGone && { gone: true }), ...describe(folder, entry, context) });
    }
    return {
      path: request.path,
      entries: described,
      page,
      page_size: pageSize,
      total,
      has_more: start + pageSize < total,
    };
  },
  *render({ entries, page, page_size: pageSize, total, has_more }, _, { page_size: sent }) {
    const lines = yield* renderEach(entries, (entry) => {
      if (entry.gone) return `${renderEntry(entry)} [gone]`;
      const size = entry.kind === "file" ? `  ${entry.size}` : "";
      return renderEntry(entry) + size + renderMode(entry);
    });
    if (total === 0) return "[the folder is empty]";
    if (entries.some(({ gone }) => gone)) lines.push(goneLegend);
    if (page === 1 && !has_more) return yield* joinLines(lines);
    const last = Math.ceil(total / pageSize);
    const more = has_more
      ? `; send page ${page + 1} for more`
      : page > last
        ? `; the last page is ${last}`
        : "";
    const limit = sent != null && sent > pageSize ? `; page_size is at most ${pageSize}` : "";
    lines.push(`[page ${page}: ${entries.length} of ${total} entries${limit}${more}]`);
    return yield* joinLines(lines);
  },
});

const goneLegend = "[gone: the folder of that root was removed or moved away; ask the user to restore it]";

const defaultModes: Readonly<Partial<Record<EntryKind, number>>> = { file: 0o644, dir: 0o755 };

/** Renders a mode if it is unusual for the kind of entry. The mode of a link has no meaning. */
const renderMode = ({ kind, mode }: Static<typeof DirEntry>): string =>
  mode === undefined || kind === "symlink" || mode === defaultModes[kind]
    ? ""
    : `  ${mode.toString(8).padStart(4, "0")}`;

/** The estimated bytes of an entry with a rather long name. */
const defaultEntryBytes = 160;

const pageSizeOf = ({ page_size: requested }: Static<typeof request>, config: Config): number =>
  Math.max(1, Math.min(requested ?? config.list_default_page_size, config.list_max_page_size));

/**
 * Returns the entry as on the wire. If it has vanished since the folder was read, it has only its name and
 * kind.
 */
function describe(folder: Folder, entry: Entry, { files, jail, profile }: CoderContext) {
  const stats = files.stat(folder, entry);
  return {
    name: entry.name,
    kind: stats?.kind ?? entry.kind,
    size: stats?.size ?? 0,
    mtime: stats?.mtime ?? 0,
    ...(profile["list-folder.mode"] && stats !== undefined && { mode: stats.mode }),
    non_accessible: jail.deniesIn(folder, entry.name),
  };
}
