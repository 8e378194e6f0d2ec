/**
 * The defaults of fields that came after the published reference. A profile is a column of this table and
 * nothing else: it never changes the meaning of a field, or the effect of a call that has all fields (coder
 * §13).
 */

import { autorunGlobs } from "../filesystem/jail/autorun.ts";

/**
 * The defaults by function and field, without a function if no field controls them. `undefined` means no
 * limit.
 */
export const profileTable = {
  /** Whether absolute paths inside the base are accepted. */
  absolute_paths: { contract: false, agent: true },
  /** Whether `{path, ops}` and `{path, content}` are accepted for `{files: [{…}]}`. */
  flat_envelope: { contract: false, agent: true },
  /**
   * Whether errors name the matching deny rule, the fate of a missing path, and that a failed transaction
   * changed nothing.
   */
  explained_errors: { contract: false, agent: true },
  /**
   * The default of `unknown_fields`: whether a field that the function does not have is ignored or refused.
   */
  unknown_fields: { contract: "ignore", agent: "refuse" },
  /**
   * Whether edits match any line end as `\n`, write that of the line before, and count lines that end in CR
   * in a file without other line ends.
   */
  keeps_line_ends: { contract: false, agent: true },
  /**
   * Whether a link that dangles, or leads outside or to a denied entry, is deleted, moved and copied itself.
   */
  links_lead_anywhere: { contract: false, agent: true },
  /** Whether trees and listings say that the folder of a root is gone. */
  marks_gone_roots: { contract: false, agent: true },
  /** Whether edits answer where a link led, and moves and copies that a link has lost its target. */
  names_links: { contract: false, agent: true },
  /** Whether moves and copies answer that they replaced a file. */
  names_replaced: { contract: false, agent: true },
  /**
   * Whether a write of the content and mode that a file has already leaves it alone, and answers
   * `unchanged`.
   */
  skips_equal_writes: { contract: false, agent: true },
  /** Whether answers in JSON name functions as the transport does: tools over MCP. */
  transport_names: { contract: false, agent: true },
  /** Whether names and types of other tool sets are understood. */
  forgiving_arguments: { contract: false, agent: true },
  /**
   * Whether every write answers the revision of the new content, even without a later field in the request.
   */
  revisions_of_writes: { contract: false, agent: true },
  /** The globs of files that callers may read but not change, unless configured. */
  write_deny_globs: { contract: [], agent: autorunGlobs },
  /** The dialect of the globs of calls: of Rust's `globset`, or of `rg -g`. */
  globs: { contract: "globset", agent: "ripgrep" },
  /** Whether a journal is kept, unless configured. */
  journal: { contract: false, agent: true },
  /** Whether answers name the authors of checkpoints and changes, and the checkpoint of a call. */
  authors: { contract: false, agent: true },
  /** Whether an undo without a number undoes the newest checkpoint of its author, not of all. */
  "undo.own": { contract: false, agent: true },
  /** The use of an index of contents by searches, unless configured. */
  index: { contract: "off", agent: "watched" },
  /** Whether the index is kept for the next process, unless configured. */
  index_saved: { contract: "off", agent: "on" },
  "read-file.revision": { contract: false, agent: true },
  /**
   * The modes of new files and folders without `mode`. `undefined` means that of the replaced file, or the
   * one that the umask leaves.
   */
  "create-file.mode": { contract: "0644", agent: undefined },
  "make-folder.mode": { contract: "0755", agent: undefined },
  /** Whether an `encoding` that 0.2.0 ignores in the entries of create-file and update-file is refused. */
  "encodings.are_checked": { contract: false, agent: true },
  /** Whether a file that is not text is answered as its kind, not its content. */
  "read-file.binary_kinds": { contract: false, agent: true },
  /** Whether a text in UTF-16, or in an encoding that the configuration gives it, is decoded. */
  "read-file.decodes": { contract: false, agent: true },
  /** Whether `stat` also accepts the path of a folder. */
  "read-file.stat_folders": { contract: false, agent: true },
  /** Whether listings have the permission bits of each entry. */
  "list-folder.mode": { contract: false, agent: true },
  /** Whether an answer says how a text differs from UTF-8 with LF and a line end at its end. */
  "read-file.text_notes": { contract: false, agent: true },
  "read-file.max_output_bytes": { contract: undefined, agent: 131_072 },
  /** Whether a folder that is removed is answered with the number of its files. */
  "delete-file.counts": { contract: false, agent: true },
  /** Whether an edit by line numbers says that the file has changed since its author last saw the lines. */
  "update-file.stale_lines": { contract: false, agent: true },
  /** Whether an edit says which line ends a file has other than LF. */
  "update-file.line_ends": { contract: false, agent: true },
  /** Whether a replacement in the syntax of other languages is refused, and one that matches nothing. */
  "update-file.explains_replacements": { contract: false, agent: true },
  "update-file.answer": { contract: "bodies", agent: "echo" },
  /** Whether a replacement without a match, which changes nothing, answers `committed: true`. */
  "replace.commits_nothing": { contract: true, agent: false },
  /** Whether an undo that changes nothing answers why, in `note`. */
  "undo.note": { contract: false, agent: true },
  /** Whether an answer says which hunks were not applied as written, and which line ends a file has. */
  "apply-patch.notes": { contract: false, agent: true },
  "search.use_default_excludes": { contract: false, agent: true },
  "search.respect_gitignore": { contract: false, agent: true },
  /** Whether `path` may be a file. */
  "search.takes_files": { contract: false, agent: true },
  /** Whether an empty `query` lists paths if `search_content` is false. */
  "search.lists_paths": { contract: false, agent: true },
  "search.search_paths": { contract: true, agent: "if search_content is false or fuzzy_paths true" },
  /**
   * Whether files are searched as text: a byte order mark is skipped and may select UTF-16, lone CRs end
   * lines in files without other line ends, and matches across lines treat CRLF as LF.
   */
  "search.decodes": { contract: false, agent: true },
  /** Whether files with a NUL byte never count as searched, and the answer has `not_searched`. */
  "search.not_searched": { contract: false, agent: true },
  /** Whether an answer without matches names fields that would widen the query. */
  "search.hints": { contract: false, agent: true },
  /** Whether mode `counts` counts lines in `count`, and matches in `matches`. */
  "search.counts_matches": { contract: false, agent: true },
  /** Whether lines are searched whole and shown around their matches, at most `max_line_bytes` of each. */
  "search.excerpts": { contract: false, agent: true },
  /** Whether the lines around matches are each shown once, and never a line of another match. */
  "search.disjoint_context": { contract: false, agent: true },
  "search.max_line_bytes": { contract: undefined, agent: 256 },
  "search.max_bytes": { contract: undefined, agent: 262_144 },
  /** Whether a trigger without `include_ignored` gets changes of paths that an ignore file names. */
  "changed.include_ignored": { contract: true, agent: false },
  /** Whether changes without `since` are those of the session, if the call has one. */
  "changes.from_session": { contract: false, agent: true },
  /** Whether a tree of the maximum depth does not advise a larger `max_depth`. */
  "tree.names_deepest": { contract: false, agent: true },
  "tree.max_bytes": { contract: undefined, agent: 32_768 },
  "tree.use_default_excludes": { contract: false, agent: true },
  "tree.respect_gitignore": { contract: false, agent: true },
} as const;

export const profileNames = ["contract", "agent"] as const;
export type ProfileName = (typeof profileNames)[number];

type Table = typeof profileTable;

/** One column of the table. */
export type ProfileDefaults = { readonly [Key in keyof Table]: Table[Key][ProfileName] };

export const profileOf = (name: ProfileName): ProfileDefaults =>
  Object.fromEntries(
    Object.entries(profileTable).map(([key, columns]) => [key, columns[name]]),
  ) as unknown as ProfileDefaults;

/**
 * Converts `{path, …}` to `{files: [{path, …}]}` if the profile accepts that form. `field` is the other
 * required field of an entry.
 */
export function wrapFlatEnvelope(payload: unknown, field: string, profile: ProfileDefaults): unknown {
  if (!profile.flat_envelope || typeof payload !== "object" || payload === null) return payload;
  if (Object.hasOwn(payload, "files") || !Object.hasOwn(payload, "path") || !Object.hasOwn(payload, field))
    return payload;
  return { ...payload, files: [payload] };
}
