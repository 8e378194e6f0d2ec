/** The functions of the worker, and the types of their answers. */
import type { Author } from "../../base/author.ts";
import { currentLink } from "./link.ts";

/** An image before and after a change. */
export interface ImageSides {
  readonly before?: SideOfImage;
  readonly after?: SideOfImage;
}

interface SideOfImage {
  readonly data: string;
  readonly mime_type: string;
}

/** A file of a checkpoint, or of a comparison. */
export interface ChangedFile {
  readonly path: string;
  readonly from?: string;
  readonly kind: "created" | "modified" | "deleted" | "moved" | "mode";
  readonly isFolder?: boolean;
  readonly added?: number;
  readonly removed?: number;
  readonly diff?: string;
  readonly isTruncated?: boolean;
  readonly note?: string;
  readonly images?: ImageSides;
  readonly by?: readonly string[];
}

export interface Checkpoint {
  readonly seq: number;
  readonly time: Date;
  readonly functionId: string;
  readonly author: Author | undefined;
  readonly label: string | undefined;
  readonly files: readonly ChangedFile[];
  readonly moreFiles: number;
}

interface WireFile extends Omit<ChangedFile, "kind" | "isTruncated" | "isFolder"> {
  readonly change?: ChangedFile["kind"];
  readonly kind?: ChangedFile["kind"];
  readonly dir?: boolean;
  readonly diff_truncated?: boolean;
  readonly checkpoints?: readonly number[];
}

interface WireCheckpoint {
  readonly seq: number;
  readonly ts: string;
  readonly function_id?: string;
  readonly author?: Author;
  readonly caller?: string;
  readonly label?: string;
  readonly files: readonly WireFile[];
  readonly more_files?: number;
}

export interface Undone {
  readonly undone: readonly {
    readonly seq: number;
    readonly restored: readonly string[];
    readonly removed: readonly string[];
    readonly skipped: readonly { readonly path: string; readonly reason: string }[];
    readonly more?: number;
    readonly undone_by?: number;
  }[];
  readonly conflicts: readonly {
    readonly path: string;
    readonly seq: number;
    readonly by?: number;
    readonly expected: string;
    readonly found: string;
  }[];
}

/** The fields of `coder::undo` that choose what to undo. */
export interface UndoChoice {
  readonly seq?: number;
  readonly steps?: number;
  readonly author?: string;
  readonly paths?: readonly string[];
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: "file" | "dir" | "symlink" | "other";
  readonly size: number;
  readonly non_accessible: boolean;
}

export interface OutsideChange {
  readonly path: string;
  readonly kind: "created" | "modified" | "deleted" | "moved";
}

const call = <T>(id: string, payload: object): Promise<T> => currentLink().send(id, payload) as Promise<T>;

/** Maximum bytes of the diffs or images in one answer: enough for 100,000 lines of a usual length. */
const maxDiffBytes = 4 * 1024 * 1024;

const toFile = ({ change, kind, dir, diff_truncated, ...file }: WireFile): ChangedFile => ({
  ...file,
  kind: change ?? kind ?? "modified",
  ...(dir === true && { isFolder: true }),
  ...(diff_truncated === true && { isTruncated: true }),
});

const toCheckpoint = (one: WireCheckpoint): Checkpoint => ({
  seq: one.seq,
  time: new Date(one.ts),
  functionId: one.function_id ?? "",
  author: one.author ?? (one.caller === undefined ? undefined : { worker: one.caller }),
  label: one.label,
  files: one.files.map(toFile),
  moreFiles: one.more_files ?? 0,
});

export interface CheckpointPage {
  readonly checkpoints: readonly Checkpoint[];
  /** The start of the next page, if older checkpoints are left. */
  readonly next: number | undefined;
}

interface PageQuery {
  readonly before?: number | undefined;
  readonly path?: string | undefined;
  readonly limit: number;
  readonly answer: "names" | "stat";
}

export async function readCheckpoints({ before, path, limit, answer }: PageQuery): Promise<CheckpointPage> {
  const { checkpoints, next_before_seq: next } = await call<{
    readonly checkpoints: readonly WireCheckpoint[];
    readonly next_before_seq?: number;
  }>("coder::checkpoints", {
    limit,
    answer,
    ...(before !== undefined && { before_seq: before }),
    ...(path !== undefined && path !== "" && { path }),
  });
  return { checkpoints: checkpoints.map(toCheckpoint), next };
}

/** Reads one checkpoint with its diffs; of one path if that is given. */
export async function readCheckpoint(seq: number, path?: string): Promise<Checkpoint> {
  const { checkpoints } = await call<{ readonly checkpoints: readonly WireCheckpoint[] }>(
    "coder::checkpoints",
    { seq, limit: 1, answer: "diff", max_diff_bytes: maxDiffBytes, ...(path !== undefined && { path }) },
  );
  return toCheckpoint(checkpoints[0]!);
}

/** Reads a file of a checkpoint with its images. */
export async function readCheckpointImages(seq: number, path: string): Promise<ChangedFile | undefined> {
  const { checkpoints } = await call<{ readonly checkpoints: readonly WireCheckpoint[] }>(
    "coder::checkpoints",
    { seq, limit: 1, path, answer: "diff", images: true, max_diff_bytes: maxDiffBytes },
  );
  return toCheckpoint(checkpoints[0]!).files.find((file) => file.path === path);
}

/** A path that differs, with the checkpoints that made it so. */
export interface NetFile extends ChangedFile {
  readonly checkpoints: readonly number[];
}

/** Reads how the tree differs from the one after checkpoint `seq`, page by page. */
export async function readNet(seq: number, path?: string, withImages = false): Promise<readonly NetFile[]> {
  const found: NetFile[] = [];
  let cursor: string | undefined;
  do {
    const page = await call<{
      readonly net?: readonly WireFile[];
      readonly next_cursor?: string;
    }>("coder::changes", {
      // Checkpoint 0 is before the first one, and the number of a checkpoint is at least 1.
      ...(seq > 0 && { checkpoint: seq }),
      net: true,
      answer: "diff",
      max_diff_bytes: maxDiffBytes,
      ...(path !== undefined && { path }),
      ...(withImages && { images: true }),
      ...(cursor !== undefined && { cursor }),
    });
    for (const one of page.net ?? []) found.push({ ...toFile(one), checkpoints: one.checkpoints ?? [] });
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return found;
}

/** Reads a file with its images now and after checkpoint `seq`. */
export const readNetImages = async (seq: number, path: string): Promise<ChangedFile | undefined> =>
  (await readNet(seq, path, true)).find((file) => file.path === path);

export const sendUndo = (choice: UndoChoice, how: { dry_run?: true; force?: true }): Promise<Undone> =>
  call<Undone>("coder::undo", { ...choice, ...how });

export interface Info {
  readonly version: string;
  readonly profile: string;
  readonly journal: { readonly enabled: boolean; readonly reason?: string };
  readonly roots: readonly { readonly name: string }[];
  readonly functions: readonly string[];
}

export const readInfo = (): Promise<Info> => call<Info>("coder::info", {});

/** Lists all entries of a folder, page by page. */
export async function readFolder(path: string): Promise<readonly FolderEntry[]> {
  const found: FolderEntry[] = [];
  for (let page = 1; ; page++) {
    const { entries, has_more } = await call<{ entries: FolderEntry[]; has_more: boolean }>(
      "coder::list-folder",
      {
        path: path === "" ? "." : path,
        page,
        page_size: 1000,
      },
    );
    found.push(...entries);
    if (!has_more) return found;
  }
}

export interface ShownContent {
  readonly content?: string;
  readonly size?: number;
  readonly total_lines?: number;
  readonly more_lines?: boolean;
  readonly kind?: string;
}

export const readContent = (path: string, encoding?: "base64"): Promise<ShownContent> =>
  call<ShownContent>("coder::read-file", {
    path,
    ...(encoding === undefined ? { max_output_bytes: 8 * 1024 * 1024 } : { encoding }),
  });

/** A line that a search found, or a path without a line. */
export interface FoundLine {
  readonly path: string;
  readonly line?: number;
  readonly text?: string;
}

/** Searches contents and paths for a text, whatever its case. */
export async function searchFor(
  query: string,
): Promise<{ readonly found: readonly FoundLine[]; readonly isCut: boolean }> {
  const {
    content_matches: lines,
    path_matches: paths,
    ...page
  } = await call<{
    readonly content_matches: readonly FoundLine[];
    readonly path_matches: readonly { readonly path: string }[];
    readonly truncated: boolean;
    readonly next_cursor?: string;
  }>("coder::search", { query, ignore_case: true, max_matches: maxFound });
  const found = [...paths.map(({ path }) => ({ path })), ...lines];
  return { found, isCut: page.truncated || page.next_cursor !== undefined };
}

/** Maximum results that a search shows. */
const maxFound = 500;

/**
 * Reads a file that changed, as the changes after checkpoint `seq` left it. Resolves to `undefined` if it has
 * changed since.
 */
export async function readAfter(seq: number, path: string): Promise<string | undefined> {
  if ((await readNet(seq, path)).length > 0) return undefined;
  return (await readContent(path)).content;
}

/** Reads what other programs have changed since a place in the feed. Without one, it only resolves to it. */
export async function readOutside(
  since: string | undefined,
): Promise<{ readonly changes: readonly OutsideChange[]; readonly next: string }> {
  const { changes, next } = await call<{
    changes: (OutsideChange & { readonly cause: { readonly by: string }; readonly ignored: boolean })[];
    next: string;
  }>("coder::changes", since === undefined ? { limit: 0 } : { since });
  return { changes: changes.filter(({ cause, ignored }) => cause.by === "external" && !ignored), next };
}
