/** Has calls that change the tree wait for approval, if the configuration says so. */
import { refuseApproval } from "../../calls/approval/approval-errors.ts";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import { Measured, WrittenAnswer } from "../../calls/contract/prepared-answer.ts";
import { memoryBytes } from "../../text/sizes/memory-size.ts";
import type { CoderContext } from "../define.ts";
import { runTransaction } from "../transact/run-transaction.ts";
import { refuseTransacting } from "../transact/transact-errors.ts";
import { approvingTransactions, NoApprover } from "./approving-transactions.ts";

/**
 * The functions that make their changes one by one, with the name of the change in the results of
 * coder::commit. With approval, such a call is one transaction, so that exactly the changes are made that the
 * person has seen.
 */
const singleChanges: Readonly<Record<string, string>> = {
  "coder::create-file": "create",
  "coder::update-file": "update",
  "coder::delete-file": "delete",
  "coder::move": "move",
  "coder::copy": "copy",
  "coder::make-folder": "make-folder",
};

/** The functions of these whose changes are never destructive. */
const harmless = ["coder::update-file", "coder::make-folder"];

/** Returns the definition whose calls wait for approval, if they change the tree. */
export function withApproval(definition: FunctionDefinition): FunctionDefinition {
  if (definition.effect !== "writes") return definition;
  return {
    ...definition,
    handle(request, context) {
      const { approvals } = context;
      const { dry_run: isTrial = false } = request as Sent;
      const isFree = approvals?.mode === "destructive" && harmless.includes(definition.id);
      return approvals === undefined || isTrial || isFree
        ? definition.handle(request, context)
        : handle(definition, request as Sent, context as CoderContext);
    },
  };
}

interface Sent {
  readonly dry_run?: boolean;
  /** The name of the plan, in calls of coder::commit. */
  readonly plan?: string;
}

async function handle(definition: FunctionDefinition, request: Sent, context: CoderContext) {
  const { approvals, transactions, plans } = context;
  if (transactions === undefined) throw refuseTransacting.unavailable();
  const plan = definition.id === "coder::commit" ? request.plan : undefined;
  const approving = approvingTransactions(transactions, { approvals: approvals!, context, plan });
  try {
    return await run(definition, request, { ...context, transactions: approving });
  } catch (error) {
    if (!(error instanceof NoApprover)) throw error;
    if (plans === undefined) throw refuseApproval.unplanned();
    const { proposal } = error;
    const { jail, files, tree, caller } = context;
    const bytes = memoryBytes(request);
    // The paths, and the files that may be changed, stay those of this call.
    const carryOut = async (_: string, later: CoderContext) =>
      committed(definition, await run(definition, request, { ...later, jail, files, tree }));
    const name = plan ?? plans.add({ caller, carryOut, bytes }).plan;
    approvals!.shelve(name, proposal, { ...context, expires: Date.now() + plans.lifetimeMilliseconds });
    throw refuseApproval.planned(name);
  }
}

/** Makes the changes of a call, single ones as a transaction. */
async function run(definition: FunctionDefinition, request: unknown, context: CoderContext) {
  if (singleChanges[definition.id] === undefined) return await definition.handle(request, context);
  const make = async (inner: CoderContext) => await definition.handle(request, inner);
  const named = { noun: "Change", paths: [] } as const;
  const { value } = await runTransaction({ make, request, named }, context);
  return value;
}

/** Returns the answer of a call in the form of coder::commit. */
function committed({ id }: FunctionDefinition, handled: unknown): unknown {
  const answer = handled instanceof Measured || handled instanceof WrittenAnswer ? handled.answer : handled;
  const op = singleChanges[id];
  const { results } = answer as { readonly results?: readonly object[] };
  if (op !== undefined) return { committed: true, results: results!.map((one) => ({ op, ...one })) };
  return id === "coder::undo" ? { committed: true, results: undonePaths(answer as Undone) } : answer;
}

interface Undone {
  readonly undone: readonly { readonly restored: readonly string[]; readonly removed: readonly string[] }[];
}

const undonePaths = ({ undone }: Undone) =>
  undone.flatMap(({ restored, removed }) => [
    ...restored.map((path) => ({ op: "undo", path, removed: false })),
    ...removed.map((path) => ({ op: "undo", path, removed: true })),
  ]);
