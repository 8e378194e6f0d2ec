/** Commands in a sandbox (shell §10.1). */
import { type Static, Type } from "@sinclair/typebox";
import type { Argv } from "../processes/words.ts";
import { Int32, Nullable, UInt64 } from "../schema/fragments.ts";
import type { ShellContext } from "./define.ts";
import { ForwardedRefusal, sandboxFailure } from "./errors.ts";
import { forward } from "./sandbox.ts";
import type { SandboxTarget } from "./target.ts";

const response = Type.Object({
  duration_ms: UInt64(),
  exit_code: Nullable(Int32()),
  stderr: Type.String(),
  stdout: Type.String(),
  timed_out: Type.Boolean(),
});

export interface SandboxCommand {
  readonly target: SandboxTarget;
  readonly argv: Argv;
  /** How long the command may run, in milliseconds. */
  readonly timeoutMs: number;
}

/** How much longer than the command its answer may take, in milliseconds: otherwise the two limits race. */
const answerMs = 5000;

/** Runs a command in a sandbox. Its time being up is a result, as it is on the host. Throws what `forward` throws. */
export async function execInSandbox(
  { target, argv: [cmd, ...args], timeoutMs }: SandboxCommand,
  context: ShellContext,
): Promise<Static<typeof response>> {
  try {
    return await forward(
      {
        functionId: "sandbox::exec",
        target,
        fields: { cmd, args, timeout_ms: timeoutMs },
        response,
        codes: "exec",
        milliseconds: timeoutMs + answerMs,
      },
      context,
    );
  } catch (error) {
    if (!isTimeout(error)) throw error;
    return { stdout: "", stderr: "", exit_code: null, duration_ms: timeoutMs, timed_out: true };
  }
}

/** Both the code and the words: an image that takes too long to fetch has not run the command. */
const isTimeout = (error: unknown) =>
  error instanceof ForwardedRefusal && error.code === sandboxFailure && error.message.includes("timed out");
