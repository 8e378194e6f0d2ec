/** Commands in a sandbox (shell §10.1). */
import { type Static, Type } from "@sinclair/typebox";
import { Int32, Nullable, UInt64 } from "../base/schema/fragments.ts";
import type { ShellContext } from "./define.ts";
import { sandboxFailure } from "./error-codes.ts";
import type { Argv } from "./programs/words.ts";
import { forward } from "./sandbox.ts";
import { ForwardedRefusal } from "./shell-errors.ts";
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
  /** Milliseconds that the command may run. */
  readonly timeoutMs: number;
}

/** The milliseconds that the answer may take beyond the command. Without them, the two limits would race. */
const answerMs = 5000;

/** Runs a command in a sandbox. A timeout is a result, as on the host. Throws what `forward` throws. */
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

/** Checks code and words: when the download of an image times out, the command has not run. */
const isTimeout = (error: unknown) =>
  error instanceof ForwardedRefusal && error.code === sandboxFailure && error.message.includes("timed out");
