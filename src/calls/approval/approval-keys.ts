/** The configuration keys about approval. */
import { Type } from "@sinclair/typebox";
import { type ApprovalMode, Approvals } from "./approvals.ts";

/** The values of the key, and of the flag of the same name. */
export const approvalModes = ["none", "destructive", "all"] as const;

export const ApprovalKey = (code: string) =>
  Type.Union(
    approvalModes.map((mode) => Type.Literal(mode)),
    {
      default: "none",
      description: `Which calls wait until a person approves them: destructive are those that delete, replace a file as a whole, undo or run a command; all are those that change anything. The user of a client of MCP is asked through that client (elicitation). Declined or unanswered calls are ${code} (a command: S215), and change nothing. Where nobody can be asked, the answer of a call other than a command names a plan, about which coder::commit asks again. Needs a folder for the records of transactions.`,
    },
  );

export const ApprovalTimeoutKey = Type.Integer({
  minimum: 100,
  maximum: 86_400_000,
  default: 300_000,
  description: "Milliseconds that a call waits for approval. They do not count towards the call's own time.",
});

interface ApprovalConfig {
  readonly approval: "none" | ApprovalMode;
  readonly approval_timeout_ms: number;
}

/** Opens the approvals, if calls wait for any. */
export const openApprovals = ({ approval, approval_timeout_ms }: ApprovalConfig): Approvals | undefined =>
  approval === "none"
    ? undefined
    : new Approvals({ mode: approval, timeoutMilliseconds: approval_timeout_ms });
