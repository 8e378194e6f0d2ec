/**
 * A job of an agent as data: the served tree, and the calls of one session in order. Arguments may refer to a
 * value of an earlier answer by its placeholder, such as `<plan 1>`.
 */
import type { Changes, Tree } from "../../harness/tree.ts";

export interface AgentJob {
  readonly title: string;
  /** A description of the job in one sentence. */
  readonly about: string;
  readonly tree: Tree;
  /**
   * The worker, `coder` by default. The shell worker runs its commands in the folder and serves its files.
   */
  readonly worker?: "shell";
  /** Additional flags for `coder mcp`. */
  readonly args?: readonly string[];
  /** Keys of the configuration. `<base>` stands for the served folder. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Whether the transcript begins with the instructions of the server. */
  readonly showsInstructions?: boolean;
  readonly steps: readonly JobStep[];
}

export type JobStep = ToolCall | CallsAtOnce | ChangesOfOthers;

export interface ToolCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The name of the calling client, if it is not the first one. A client connects with its first call. */
  readonly by?: string;
  /** Repeats the call until its answer matches. Only that answer is shown. */
  readonly until?: RegExp;
}

/** Calls that a client sends in one turn, without waiting for answers in between. */
export interface CallsAtOnce {
  readonly together: readonly ToolCall[];
}

/** Changes that another program makes in the tree. */
export interface ChangesOfOthers {
  readonly others: Changes;
}

export const callTool = (
  tool: string,
  args: ToolCall["args"] = {},
  more: Pick<ToolCall, "until" | "by"> = {},
): ToolCall => ({ tool, args, ...more });

export const atOnce = (...calls: readonly ToolCall[]): CallsAtOnce => ({ together: calls });

export const others = (changes: Changes): ChangesOfOthers => ({ others: changes });

/** Returns all calls of a job. */
export const callsOf = ({ steps }: AgentJob): ToolCall[] =>
  steps.flatMap((step) => ("together" in step ? step.together : "tool" in step ? [step] : []));
