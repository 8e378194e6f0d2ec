/** What the MCP server of each worker says of itself besides its tools. */
import type { WorkerName } from "../about.ts";

interface Face {
  /** The instructions for a model, about the tools as a whole. */
  readonly instructions: string;
  /** Whether the files below the base are resources. */
  readonly hasResources: boolean;
}

export const serverInfo: Readonly<Record<WorkerName, Face>> = {
  coder: {
    instructions: [
      "Tools over the files of one folder, the base. Paths are relative to it, with / between names; nothing outside it can be reached.",
      'A failure is a line of JSON, {"code","message"}, whose message says which call would work. In a batch each entry stands alone.',
      "Texts name a tool by its function: coder::read-file is the tool coder_read_file.",
    ].join("\n"),
    hasResources: true,
  },
  shell: {
    instructions: [
      "Tools that run programs of the host and work on its files. Paths are absolute; a program runs without a shell, so pipes and globs mean nothing.",
      'A failure is a line of JSON, {"code","message"}, or a sentence; it says which call would work. A program that fails is an answer with its exit code.',
      "There are no channels here, so shell_fs_read and shell_fs_write do not work, and no sandboxes.",
      "Texts name a tool by its function: shell::exec_bg is the tool shell_exec_bg.",
    ].join("\n"),
    hasResources: false,
  },
};
