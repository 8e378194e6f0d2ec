/**
 * A job of an agent as data: what is served, and the calls of one session in order. Arguments may name what an earlier
 * answer held by its placeholder, such as `<plan 1>`.
 */
import type { Changes, Tree } from "../../harness/tree.ts";

export interface AgentJob {
  readonly title: string;
  /** The job in a sentence. */
  readonly about: string;
  readonly tree: Tree;
  /** `coder` by default. The shell worker runs its commands in the folder, and its own files are those in it. */
  readonly worker?: "shell";
  /** Flags beside `coder mcp`. */
  readonly args?: readonly string[];
  /** Keys of the configuration; `<base>` is the folder that is served. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Whether the transcript begins with the instructions of the server. */
  readonly showsInstructions?: boolean;
  readonly steps: readonly JobStep[];
}

export type JobStep = ToolCall | CallsAtOnce | ChangesOfOthers;

export interface ToolCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The name of the client that makes it, if it is another one, which connects with its first call. */
  readonly by?: string;
  /** The call is repeated until its answer matches; only that answer is shown. */
  readonly until?: RegExp;
}

/** Calls that a client sends in one turn, without waiting for an answer in between. */
export interface CallsAtOnce {
  readonly together: readonly ToolCall[];
}

/** What another program does to the tree. */
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

/** Every call of a job. */
export const callsOf = ({ steps }: AgentJob): ToolCall[] =>
  steps.flatMap((step) => ("together" in step ? step.together : "tool" in step ? [step] : []));
