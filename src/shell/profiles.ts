import { autorunGlobs } from "../filesystem/jail/autorun.ts";
import { secretGlobs } from "../filesystem/jail/secret-globs.ts";
import type { ShellConfig } from "./config.ts";

/** Defaults that differ between the profiles. */
export const shellProfileTable = {
  /** Whether the kernel confines commands, unless configured. */
  os_sandbox: { contract: "off", agent: "best" },
  /** The network of confined commands, unless configured. */
  network: { contract: "none", agent: "loopback" },
  /**
   * Whether commands get, and callers set, only variables that are listed (`plain-variables.ts`) or that
   * `allowed_env` names.
   */
  listed_variables: { contract: false, agent: true },
  /** Whether HOME is a folder of their own, unless `allowed_env` names HOME. */
  private_home: { contract: false, agent: true },
  /** The kept output of `exec` and `exec_bg`. `undefined` keeps the beginning, as configured. */
  "exec.max_output_bytes": { contract: undefined, agent: 65_536 },
  /** Bytes shown of a longer output, unless the call has `max_output_bytes`. */
  "exec.cut_output_bytes": { contract: undefined, agent: 16_384 },
  /** The globs of files that neither `shell::fs::*` nor commands in the sandbox read, unless configured. */
  "fs.deny_globs": { contract: [], agent: secretGlobs },
  /** The globs of files that `shell::fs::*` may read but not change, unless configured. */
  "fs.write_deny_globs": { contract: [], agent: autorunGlobs },
  /** Whether `sed` refuses a replacement that names a group which the pattern lacks, unless configured. */
  "fs.refuse_undefined_groups": { contract: false, agent: true },
  /** Whether `mv` moves a link that dangles, or leads outside or to a denied entry. */
  "fs.links_lead_anywhere": { contract: false, agent: true },
  /** Whether `ls` answers pages even if the caller requests none. */
  "fs.ls.pages": { contract: false, agent: true },
  /** Whether `grep` searches the text after a byte order mark, in the encoding that the mark indicates. */
  "fs.grep.decodes": { contract: false, agent: true },
  /**
   * Whether `stat` answers the name that was sent and whether that is a link, besides the facts of the entry
   * that it leads to.
   */
  "fs.stat.names_links": { contract: false, agent: true },
  /** Whether `mv` compares both paths first, and answers `moved: false` for one entry. */
  "fs.mv.compares_ends": { contract: false, agent: true },
  /** Whether the error of an `rm` that stops halfway says what is gone, and how it comes back. */
  "fs.rm.progress": { contract: false, agent: true },
  /** Whether answers of `shell::fs::*` count the changes that the journal does not keep. */
  "fs.losses": { contract: false, agent: true },
  /** Whether `sed` matches lines without their ends, and keeps the ends. */
  "fs.keeps_line_ends": { contract: false, agent: true },
  /** Whether the whole output of a command stays readable like that of a job if the answer cuts it. */
  "exec.keeps_output": { contract: false, agent: true },
  /** Whether a line break outside of quotes in `command` is refused, unless `args` is sent. */
  "exec.one_line": { contract: false, agent: true },
  /** Whether a command with `snapshot` is refused if nothing can be held for it. */
  "exec.requires_snapshot": { contract: false, agent: true },
  /** Milliseconds that `exec_bg` waits for an early end. `undefined`: it answers at once. */
  "exec_bg.start_ms": { contract: undefined, agent: 300 },
  /**
   * Whether errors name the matching deny rule, the missing folder, the sent command, and the call
   * that works.
   */
  explained_errors: { contract: false, agent: true },
  /** Whether ids of jobs are `job-1`, `job-2` and so on, not `job-` and a UUID. */
  short_job_ids: { contract: false, agent: true },
  /** Whether answers have the output of a job by positions, command lines, and how a command ended. */
  followed_jobs: { contract: false, agent: true },
  /**
   * Whether relative paths start at the served folder, and commands run there unless `working_dir` is set.
   */
  relative_paths: { contract: false, agent: true },
  /** Whether answers say what a command changed, and which rules of the sandbox it seems to have met. */
  command_remarks: { contract: false, agent: true },
  /** Whether the sandbox replaces the default of `denylist_patterns` if it hides files from commands. */
  confined_denylist: { contract: false, agent: true },
  /** Whether `status` shows what a running job has written. */
  "status.running_output": { contract: false, agent: true },
  /** Whether the record of a job has no outputs if the call chooses a part of them, which is in `output`. */
  "status.sends_once": { contract: false, agent: true },
  /**
   * The default of `unknown_fields`: whether a field that the function does not have is ignored or refused.
   */
  unknown_fields: { contract: "ignore", agent: "refuse" },
  /** Whether answers in JSON name functions as the transport does: tools over MCP. */
  transport_names: { contract: false, agent: true },
  /** Whether names and types of other tool sets are understood. */
  forgiving_arguments: { contract: false, agent: true },
} as const;

type Table = typeof shellProfileTable;
type ProfileName = "contract" | "agent";

/** One column of the table. */
export type ShellProfile = { readonly [Key in keyof Table]: Table[Key][ProfileName] };

/** Returns the defaults of a configuration. `isAgent` says whether the worker serves MCP. */
export function shellProfileOf({ profile }: Pick<ShellConfig, "profile">, isAgent: boolean): ShellProfile {
  const byTransport = isAgent ? "agent" : "contract";
  const name = profile === "auto" ? byTransport : profile;
  return Object.fromEntries(
    Object.entries(shellProfileTable).map(([key, columns]) => [key, columns[name]]),
  ) as unknown as ShellProfile;
}
