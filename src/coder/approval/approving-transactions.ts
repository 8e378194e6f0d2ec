import { createTimeSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import { refuseApproval } from "../../calls/approval/approval-errors.ts";
import type { Approvals, Proposal } from "../../calls/approval/approvals.ts";
import type { Plan, Step } from "../../filesystem/disk/steps.ts";
import type { Transactions } from "../../filesystem/transactions/transactions.ts";
import type { CoderContext } from "../define.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { propose } from "./propose.ts";

/** Thrown if no person can approve the call, which then becomes a plan. */
export class NoApprover extends Error {
  readonly proposal: Proposal;

  constructor(proposal: Proposal) {
    super("there is no approver");
    this.proposal = proposal;
  }
}

/** Thrown instead of a commit whose steps now need approval. */
class NeedsApproval extends Error {}

/**
 * Returns transactions that wait for the approval of their steps before they take their turn, and commit only
 * approved steps. `plan` is the name of the plan that is carried out, if any.
 */
export function approvingTransactions(
  inner: Transactions,
  { approvals, context, plan: name }: Approving,
): Transactions {
  const fingerprint = (steps: readonly Step[]) =>
    runInSlices(fingerprintOf(steps), createTimeSlice(), () => context.deadline.check());
  const requires = (steps: readonly Step[]) => needsApproval(steps, context.functionId, approvals.mode);
  const ask = async (proposal: Proposal) => {
    if (name !== undefined && approvals.takeShelved(name, proposal, context)) return;
    if (!approvals.hasApprover(context)) throw new NoApprover(proposal);
    await approvals.request(proposal, context);
  };
  return {
    async run(plan, committing) {
      for (;;) {
        const approved = await approve(plan);
        const checked = async () => {
          const now = await plan();
          if (!requires(now.steps)) return now;
          if (approved === undefined) throw new NeedsApproval();
          if ((await fingerprint(now.steps)) !== approved) throw refuseApproval.stale();
          return now;
        };
        const whenChanged = approved === undefined ? committing.whenChanged : () => refuseApproval.stale();
        try {
          return await inner.run(checked, { ...committing, whenChanged });
        } catch (error) {
          if (!(error instanceof NeedsApproval)) throw error;
        }
      }
    },
    get unresolved() {
      return inner.unresolved;
    },
    async resolve(id, options) {
      const summary = [`resolve the unfinished transaction ${id}`];
      await ask({ summary, diff: "", isDiffCut: false, fingerprint: `resolve ${id}` });
      return await inner.resolve(id, options);
    },
  };

  /** Waits for approval if the steps need it, and returns their fingerprint then. */
  async function approve<T>(plan: () => Promise<Plan<T>>): Promise<string | undefined> {
    const { steps } = await plan();
    if (!requires(steps)) return undefined;
    const proposal = await propose(steps, context);
    await ask(proposal);
    return proposal.fingerprint;
  }
}

interface Approving {
  readonly approvals: Approvals;
  readonly context: CoderContext;
  readonly plan: string | undefined;
}

/** Returns whether the steps of a call to the function need approval. */
function needsApproval(steps: readonly Step[], functionId: string, mode: Approvals["mode"]): boolean {
  if (steps.length === 0) return false;
  return mode === "all" || functionId === "coder::undo" || steps.some(isDestructive);
}

/** Returns whether a step removes or replaces an entry. An edit of a part of a file does not. */
const isDestructive = (step: Step): boolean =>
  step.kind === "set-aside" || (step.kind === "exchange" && step.isEdit !== true);
