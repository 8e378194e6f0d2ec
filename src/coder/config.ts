/**
 * Every configuration key, once: its type, bounds, default and meaning. Reading the file, the example file
 * and the reference page all come from `configSchema`.
 *
 * The deny globs live in the configuration, so nothing falls back silently: whatever is wrong is a
 * `ConfigError` with file, key and reason.
 */
import { type Static, Type } from "@sinclair/typebox";
import { maxAnswerBytes } from "../base/schema/message-size.ts";
import { UnknownFieldsKey } from "../base/schema/unknown-fields-key.ts";
import { validate } from "../base/schema/validate.ts";
import { ApprovalKey, ApprovalTimeoutKey } from "../calls/approval/approval-keys.ts";
import { AuditKey } from "../calls/audit/audit-config.ts";
import { QuotasKey } from "../calls/quotas/quotas-config.ts";
import { parseConfigText } from "../config/file.ts";
import { secretGlobs } from "../filesystem/jail/secret-globs.ts";
import { JournalKey } from "../filesystem/journal/journal-config.ts";
import { CommandsKey } from "../shell/commands.ts";
import { EncodingsKey } from "./config/encodings-config.ts";
import { RootsKey } from "./config/roots-config.ts";
import { coderCodes } from "./error-codes.ts";

/**
 * The keys that a reload cannot change: calls of both configurations would disagree about the tree, and about
 * locks and records.
 */
export const fixedKeys = ["base_path", "roots", "journal", "call_timeout_ms", "review"] as const;

const mebibyte = 1024 * 1024;

const Bytes = (byDefault: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 1024 * mebibyte, default: byDefault, description });

const Count = (byDefault: number, maximum: number, description: string) =>
  Type.Integer({ minimum: 1, maximum, default: byDefault, description });

/** The keys of the configuration file (coder §3). */
export const configSchema = Type.Object({
  base_path: Type.String({
    minLength: 1,
    default: "./",
    description:
      "The folder that calls are confined to. A relative path starts at the worker's current directory. Must exist. null is the default.",
  }),
  roots: RootsKey,
  non_accessible_globs: Type.Array(Type.String(), {
    default: [...secretGlobs],
    description:
      "Paths that stay visible in listings but are never read, written, created, deleted or searched. Globs relative to base_path.",
  }),
  write_deny_globs: Type.Union([Type.Array(Type.String()), Type.Null()], {
    default: null,
    description:
      "Paths that calls may read, and never create, write, move or delete. Globs relative to base_path. null is the list of the profile: in agent, files that make other programs run commands; in contract, none.",
  }),
  write_allow_globs: Type.Array(Type.String(), {
    default: [],
    description:
      "Paths that calls may change although write_deny_globs, or its default, covers them. Globs relative to base_path; each covers what is below as well.",
  }),
  fold_deny: Type.Union([Type.Literal("auto"), Type.Literal("always")], {
    default: "auto",
    description:
      "Where a deny glob also covers other spellings of a name, in case, in Unicode form and with invisible characters: auto is wherever the file system may take them for the same name, always is everywhere.",
  }),
  max_read_bytes: Bytes(10 * mebibyte, "Largest file, in bytes, that is read, and that a search opens."),
  max_write_bytes: Bytes(
    10 * mebibyte,
    "Largest file, in bytes, that is created, updated or copied, before and after the change.",
  ),
  max_transaction_bytes: Bytes(
    64 * mebibyte,
    "Most bytes that the files have together which one coder::transact or coder::apply-patch makes and edits. Copies do not count.",
  ),
  tree_default_depth: Count(4, 60, "Depth of coder::tree when the call gives no max_depth."),
  tree_per_folder_limit: Count(
    50,
    100_000,
    "Children shown per folder in coder::tree when the call gives no per_folder_limit.",
  ),
  list_default_page_size: Count(
    100,
    100_000,
    "Entries per page of coder::list-folder when the call gives no page_size.",
  ),
  list_max_page_size: Count(
    1000,
    100_000,
    "Most entries per page of coder::list-folder, whatever the call asks for.",
  ),
  search_default_max_matches: Count(
    1000,
    1_000_000,
    "Cap of each match list of coder::search when the call gives no max_matches.",
  ),
  search_default_max_line_bytes: Bytes(
    4096,
    "Bytes of a line that coder::search looks at and returns when the call gives no max_line_bytes.",
  ),
  profile: Type.Union([Type.Literal("auto"), Type.Literal("contract"), Type.Literal("agent")], {
    default: "auto",
    description:
      "Defaults of the request fields that came after coder 0.2.0: contract keeps those of 0.2.0, agent has those that suit models, auto is agent over MCP and contract elsewhere. The table is on the reference page of profiles.",
  }),
  unknown_fields: UnknownFieldsKey(),
  default_exclude_globs: Type.Array(Type.String(), {
    default: [
      "**/.git/**",
      "**/node_modules/**",
      "**/target/**",
      "**/dist/**",
      "**/.venv/**",
      "**/__pycache__/**",
    ],
    description:
      "Paths that coder::search and coder::tree leave out with use_default_excludes. Globs relative to base_path; a glob that ends in `/**` shows the folder itself, and nothing in it is read.",
  }),
  encodings: EncodingsKey,
  index: Type.Union(
    [Type.Literal("auto"), Type.Literal("off"), Type.Literal("verified"), Type.Literal("watched")],
    {
      default: "auto",
      description:
        "Whether coder::search keeps an index of contents in memory. With off it reads each file; with verified it does not read those that cannot match and are unchanged by size, inode and times. Answers are the same. watched asks the kernel for what has changed instead of each file, and sees late, or when the mapping ends, a store through a mapping made after the file was read (coder §22). auto is off in the profile contract, and watched in agent.",
    },
  ),
  index_max_bytes: Type.Integer({
    minimum: mebibyte,
    maximum: 16 * 1024 * mebibyte,
    default: 128 * mebibyte,
    description:
      "Maximum bytes of memory for the index. With index_saved, at most eight times as much of it is on the disk, and twice that while it is saved again. Files that do not fit are read by each search.",
  }),
  index_saved: Type.Union([Type.Literal("auto"), Type.Literal("on"), Type.Literal("off")], {
    default: "auto",
    description:
      "Whether the index of contents is kept in the folder of the journal, for the first search of the next worker: with on, also by the profile contract; auto is on in the profile agent. It reveals which sequences of characters occur in a file, and is not used after a restart of the machine.",
  }),
  refuse_undefined_groups: Type.Boolean({
    default: true,
    description:
      "Refuse a replacement of coder::update-file that names a group which its pattern does not have, such as `$1x` for `${1}x`, before anything is written. With false the group is empty, as in 0.2.0, and what it was meant to keep is deleted.",
  }),
  fsync: Type.Boolean({
    default: true,
    description:
      "Flush a written file, and the folder in which a name was made or removed, to the disk before a call is answered, so that the change survives a power cut.",
  }),
  commands: CommandsKey,
  journal: JournalKey("null is a journal with these defaults in the profile agent, and none in contract."),
  review: Type.Union(
    [Type.Null(), Type.Object({ port: Type.Integer({ minimum: 0, maximum: 65_535, default: 0 }) })],
    {
      default: null,
      description:
        "A page on 127.0.0.1 that shows what calls changed, and takes it back: as coder review serves it, beside this worker. The log has its address, whose token admits everyone who has it, and is another one at each start. A mapping of port (0), where 0 is any free one. null serves none.",
    },
  ),
  audit: AuditKey("coder::info has the hash of the newest."),
  approval: ApprovalKey(coderCodes.declined),
  approval_timeout_ms: ApprovalTimeoutKey,
  quotas: QuotasKey(coderCodes["over-quota"]),
  call_timeout_ms: Type.Integer({
    minimum: 100,
    maximum: 3_600_000,
    default: 25_000,
    description:
      "Milliseconds a call may take before it is stopped. Clients of the bus give up after 30 seconds.",
  }),
  max_answer_bytes: Type.Integer({
    minimum: 64 * 1024,
    maximum: maxAnswerBytes,
    default: maxAnswerBytes,
    description:
      "Maximum bytes of JSON in an answer; larger answers are refused with C213. The default is what one message on the bus carries. Python SDKs before 0.24.6 take less than 1 MiB, and lose all pending calls on a larger message: use 1000000 for them.",
  }),
});

export type Config = Static<typeof configSchema>;

/** Returns the configuration of a worker without a configuration file. */
export function defaultConfig(): Config {
  return validate(configSchema, {}, { unknownKeys: "refuse" });
}

/** Parses a configuration in YAML. `path` is for error sentences. Throws a `ConfigError`. */
export async function parseConfig(
  text: string,
  path: string,
  environment: NodeJS.ProcessEnv,
): Promise<Config> {
  return parseConfigText(text, { schema: configSchema, source: path, environment });
}
