/** The description of each worker's MCP server besides its tools. */
import type { WorkerName } from "../../base/about.ts";
import type { ApprovalMode } from "../../calls/approval/approvals.ts";

interface ServerInfo {
  /** The instructions for a model, about the tools as a whole: how to work well. */
  readonly instructions: readonly Instruction[];
  /** Whether the files below the base are resources. */
  readonly hasResources: boolean;
}

interface Instruction {
  readonly text: string;
  /** Returns the text that replaces it if there are several roots, given their list. */
  readonly overRoots?: (roots: string) => string;
  /** Whether it is about tools that write, which `--read-only` leaves out. */
  readonly isAboutWriting?: boolean;
  /**
   * The sentences that follow the text if changes are recorded, for clients with and without a session, and
   * if they are not.
   */
  readonly ofJournal?: {
    readonly kept: string;
    readonly keptWithoutSession: string;
    readonly missing: string;
  };
}

const always = (text: string): Instruction => ({ text });
const whenWriting = (text: string): Instruction => ({ text, isAboutWriting: true });

/**
 * Returns the instructions for commands that are offered beside tools on files. `startRoot` is the root
 * that they start in, if there are several.
 */
const besideFiles = (startRoot: string | undefined): readonly Instruction[] => [
  always(
    `Commands run in ${startRoot === undefined ? "the base too, or in cwd, a path below it" : `the root ${JSON.stringify(startRoot)}, or in cwd, a path that begins with the name of a root, and find relative paths from there`}: shell_exec for those that end soon, shell_exec_bg for servers, watchers and long builds. shell_status shows them, and waits for a line with wait_for, or for the end with wait_ms, so do not poll. Programs run without a shell, so pipes, redirections and globs mean nothing. Files are read, searched and edited with the tools named coder_.`,
  ),
];

export const serverInfo: Readonly<Record<WorkerName, ServerInfo>> = {
  coder: {
    instructions: [
      {
        text: "Tools over the files of one folder, the base. Paths are relative to it, with / between names; these tools reach nothing outside it.",
        overRoots: (roots) =>
          `Tools over the files of several folders, the roots: ${roots}. The top level holds only them, so each path begins with the name of a root, with / between names; these tools reach nothing outside them.`,
      },
      always(
        "Find first: coder_search finds text in files, and paths with search_content false; its field fuzzy_paths finds a file by some letters of its path. coder_tree shows where things are. A line in brackets at the end says what was left out, and how to see it.",
      ),
      always(
        "Read what you need: coder_read_file has the fields line_from and line_to for a part of a file, tail for its end, and paths for several files in one call.",
      ),
      whenWriting(
        "One file, or several that may succeed or fail independently: coder_update_file. Several that must change together, all or none, with creations, moves and deletions among them: coder_transact. The same text in many files: coder_replace. A patch you already have, as a unified diff or *** Begin Patch: coder_apply_patch, all or none too.",
      ),
      whenWriting(
        "Edit with the op str_replace, its old_str copied exactly and occurring exactly once (or send replace_all); by line numbers only with numbers you have just read (numbered). All ops of a call count lines as they were before it.",
      ),
      whenWriting(
        "If old_str is not found, the error shows the lines that come closest and what they differ in: correct it from them, without reading again.",
      ),
      {
        text: "An edit returns the lines as they now are, so do not read them again. With the field dry_run nothing is written.",
        isAboutWriting: true,
        ofJournal: {
          kept: "The last line of a change, such as #7, is the number of its checkpoint; each takes the field label for it, listed or not. coder_undo takes back your newest one, or that of seq, and coder_checkpoints lists them.",
          keptWithoutSession:
            "The last line of a change, such as #7, is the number of its checkpoint; each takes the field label for it, listed or not. coder_undo takes back that of seq. You have no session here, so your changes cannot be distinguished from those of other clients: keep the numbers of yours. coder_checkpoints lists all.",
          missing: "Changes are not recorded here, so nothing can be undone.",
        },
      },
      whenWriting(
        "Where others may write too, send the field expected_revision, which a read with revision answers: the error then shows what the file holds now.",
      ),
      always("An error says which call would work; make that one instead of repeating yours."),
    ],
    hasResources: true,
  },
  shell: {
    instructions: [
      always(
        "Programs of the host, run in one folder, the base, or in cwd, a path below it. There is no shell, so pipes, redirections and globs mean nothing.",
      ),
      whenWriting(
        "shell_exec for commands that end soon, shell_exec_bg for servers, watchers and long builds, which shell_kill ends. shell_status shows them, and waits for a line with wait_for, or for the end with wait_ms, so do not poll. A program that fails is an answer with its exit code.",
      ),
      always("An error says which call would work."),
    ],
    hasResources: false,
  },
};

export interface OfferedTools {
  /** Whether any of the tools writes. */
  readonly writes: boolean;
  /** Whether commands are offered beside tools on files. */
  readonly hasCommands: boolean;
  /** The root that commands start in, if there are several. */
  readonly startRoot?: string | undefined;
  /** Whether changes are recorded, so that they can be undone. */
  readonly keepsJournal: boolean;
  /** Whether the client has a session, which distinguishes its changes from those of others. */
  readonly hasSession: boolean;
  /** The calls that wait for approval; `undefined` if none does. */
  readonly approval?: ApprovalMode | undefined;
  /** The list of the roots, if there are several. */
  readonly roots?: string | undefined;
}

const aboutApproval: Readonly<Record<ApprovalMode, string>> = {
  destructive:
    "The user is asked to approve each call that deletes, replaces a file as a whole, undoes or runs a command. Such a call waits for the answer.",
  all: "The user is asked to approve each call that changes something. Such a call waits for the answer.",
};

/** Renders the instructions of a server. */
export const renderInstructions = (
  worker: WorkerName,
  { writes, hasCommands, startRoot, approval, roots, ...recording }: OfferedTools,
): string =>
  [
    ...serverInfo[worker].instructions,
    ...(hasCommands ? besideFiles(startRoot) : []),
    ...(approval === undefined ? [] : [whenWriting(aboutApproval[approval])]),
  ]
    .filter(({ isAboutWriting = false }) => writes || !isAboutWriting)
    .map(({ text: ofOne, overRoots, ofJournal }) => {
      const text = roots === undefined ? ofOne : (overRoots?.(roots) ?? ofOne);
      return ofJournal === undefined ? text : `${text} ${ofJournal[journalFor(recording)]}`;
    })
    .join("\n");

const journalFor = ({
  keepsJournal,
  hasSession,
}: Pick<OfferedTools, "hasSession" | "keepsJournal">): keyof Required<Instruction>["ofJournal"] => {
  if (!keepsJournal) return "missing";
  return hasSession ? "kept" : "keptWithoutSession";
};
