import { expect, test } from "bun:test";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { type ApprovalRequest, Approvals, type PendingApproval, type PromptUser } from "./approvals.ts";

const proposal = { summary: ["delete a"], diff: "", isDiffCut: false, fingerprint: "f" };

function open(timeoutMilliseconds = 600_000) {
  const approvals = new Approvals({ mode: "all", timeoutMilliseconds });
  const cancelling = new AbortController();
  const call = (promptUser?: PromptUser): ApprovalRequest & { readonly call: object } => ({
    functionId: "coder::delete-file",
    author: { client: "tests 1", session: "s" },
    deadline: deadlineIn(1000, cancelling.signal),
    call: {},
    promptUser,
  });
  return { approvals, call, cancel: () => cancelling.abort() };
}

/** Returns a user who answers once `answer` is called, and the questions so far. */
function userOf() {
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<PromptUser>>>();
  const asked: { readonly question: PendingApproval; readonly signal: AbortSignal }[] = [];
  const promptUser: PromptUser = (question, signal) => {
    asked.push({ question, signal });
    return promise;
  };
  return { promptUser, asked, answer: resolve };
}

test("the user of the client approves, or declines", async () => {
  const { approvals, call } = open();
  for (const answer of ["yes", "no"] as const) {
    const asking = call(async () => answer);
    const requested = approvals.request(proposal, asking);
    if (answer === "yes") await requested;
    else await expect(requested).rejects.toThrow("The user declined this call. Nothing was changed.");
    expect(approvals.outcomeOf(asking.call)).toEqual({
      verdict: answer === "yes" ? "approved" : "declined",
      by: "the user of tests 1 (session s)",
    });
  }
  expect(approvals.pending()).toEqual([]);
});

test("a person who makes the call at the page approves it", async () => {
  const { approvals, call } = open();
  const asking = { ...call(async () => "yes" as const), author: { user: "ann" } };
  await approvals.request(proposal, asking);
  expect(approvals.outcomeOf(asking.call)).toEqual({ verdict: "approved", by: "user ann" });
});

test("someone else may answer first, which withdraws the question to the user", async () => {
  const { approvals, call } = open();
  const user = userOf();
  const asking = call(user.promptUser);
  const requested = approvals.request(proposal, asking);
  const [pending] = approvals.pending();
  expect(pending).toMatchObject({
    function: "coder::delete-file",
    author: "tests 1 (session s)",
    summary: ["delete a"],
  });
  expect(user.asked[0]!.question).toEqual(pending!);
  expect(approvals.answer(pending!.id, "yes", "ann")).toBe("taken");
  expect(approvals.answer(pending!.id, "no", "bob")).toBe("gone");
  user.answer("no");
  await requested;
  expect(user.asked[0]!.signal.aborted).toBe(true);
  expect(approvals.outcomeOf(asking.call)).toEqual({ verdict: "approved", by: "ann" });
  expect(approvals.answer(pending!.id, "no", "bob")).toBe("gone");
});

test("without an answer, the refusal says why", async () => {
  const late = open(1);
  await expect(late.approvals.request(proposal, late.call(userOf().promptUser))).rejects.toThrow(
    "Nobody answered the question about this call within 0.001 s",
  );
  const dismissing = open();
  await expect(
    dismissing.approvals.request(
      proposal,
      dismissing.call(async () => "dismissed"),
    ),
  ).rejects.toThrow("The user closed the question about this call without an answer.");
  const leaving = open();
  await expect(
    leaving.approvals.request(
      proposal,
      leaving.call(async () => "gone"),
    ),
  ).rejects.toThrow("The client could not ask the user about this call.");
  const cancelled = open();
  const requested = cancelled.approvals.request(proposal, cancelled.call(userOf().promptUser));
  cancelled.cancel();
  await expect(requested).rejects.toThrow("cancelled");
  const stopping = open();
  const asking = stopping.call(userOf().promptUser);
  const stopped = stopping.approvals.request(proposal, asking);
  stopping.approvals.close();
  await expect(stopped).rejects.toThrow("The server stopped before the user answered");
  expect(stopping.approvals.outcomeOf(asking.call)).toEqual({ verdict: "unanswered" });
});

test("a call waits for an open page where its client cannot ask, or no longer can", async () => {
  const { approvals, call } = open();
  expect(approvals.hasApprover({ promptUser: undefined })).toBe(false);
  const page = approvals.openPlace();
  expect(approvals.hasApprover({ promptUser: undefined })).toBe(true);
  for (const promptUser of [undefined, (async () => "gone") as PromptUser]) {
    const requested = approvals.request(proposal, call(promptUser));
    await Promise.resolve();
    approvals.answer(approvals.pending()[0]!.id, "yes", "ann");
    await requested;
  }
  page[Symbol.dispose]();
  expect(approvals.hasApprover({ promptUser: undefined })).toBe(false);
});

test("the time of a call stands still while it waits", async () => {
  const { approvals, call } = open();
  const user = userOf();
  const asking = call(user.promptUser);
  const requested = approvals.request(proposal, asking);
  expect(asking.deadline.left).toBe(Number.POSITIVE_INFINITY);
  user.answer("yes");
  await requested;
  expect(asking.deadline.left).toBeLessThanOrEqual(1000);
  asking.deadline.check();
});

test("a plan is approved before it is carried out, once, and for exactly what was shown", () => {
  const { approvals, call } = open();
  const shelve = (expires = Date.now() + 60_000) => approvals.shelve("p", proposal, { ...call(), expires });
  shelve();
  expect(approvals.takeShelved("p", proposal, call())).toBe(false);
  expect(approvals.pending().map(({ id }) => id)).toEqual(["p"]);
  expect(approvals.answer("p", "yes", "ann")).toBe("taken");
  expect(approvals.answer("p", "no", "bob")).toBe("gone");
  expect(approvals.pending()).toEqual([]);
  const asking = call();
  expect(approvals.takeShelved("p", proposal, asking)).toBe(true);
  expect(approvals.outcomeOf(asking.call)).toEqual({ verdict: "approved", by: "ann" });
  expect(approvals.takeShelved("p", proposal, call())).toBe(false);
  shelve();
  approvals.answer("p", "yes", "ann");
  const other = { ...proposal, fingerprint: "other" };
  expect(() => approvals.takeShelved("p", other, call())).toThrow("Files changed after the user was shown");
  shelve();
  approvals.answer("p", "no", "ann");
  expect(() => approvals.takeShelved("p", proposal, call())).toThrow("The user declined this call");
  shelve(Date.now() - 1);
  expect(approvals.pending()).toEqual([]);
  expect(approvals.answer("p", "yes", "ann")).toBe("gone");
});

test("listeners hear of every change of the list, and too many calls are refused", async () => {
  const { approvals, call } = open();
  let notified = 0;
  const listening = approvals.onChange(() => notified++);
  const requests = Array.from({ length: 64 }, () => approvals.request(proposal, call(userOf().promptUser)));
  expect(notified).toBe(64);
  await expect(approvals.request(proposal, call(userOf().promptUser))).rejects.toThrow(
    "64 calls wait for approval",
  );
  for (const { id } of approvals.pending()) approvals.answer(id, "yes", "ann");
  await Promise.all(requests);
  expect(notified).toBe(128);
  listening[Symbol.dispose]();
  approvals.shelve("p", proposal, { ...call(), expires: Date.now() + 60_000 });
  expect(notified).toBe(128);
});
