/**
 * The approvals that calls wait for. A call describes its changes; the user of its client and everyone at the
 * review page can answer, and the first answer counts. This file knows neither how changes are made nor how a
 * person is prompted.
 */
import { randomBytes } from "node:crypto";
import { type Author, renderAuthor } from "../../base/author.ts";
import { refuse } from "../../base/errors.ts";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import { refuseApproval } from "./approval-errors.ts";

/** The calls that wait for approval: those that delete or replace, or all that change something. */
export type ApprovalMode = "destructive" | "all";

/** The effect of a call, for the person who decides about it. */
export interface Proposal {
  /** A line for each change. */
  readonly summary: readonly string[];
  /** The changes of files in git's format, which may be cut or empty. */
  readonly diff: string;
  readonly isDiffCut: boolean;
  /** A digest of everything that the call would do. An approval holds for exactly this. */
  readonly fingerprint: string;
}

/** A call that waits, or a plan that can be approved before it is carried out. */
export interface PendingApproval extends Omit<Proposal, "fingerprint"> {
  readonly id: string;
  /** The id of the called function. */
  readonly function: string;
  /** The author of the call, for people. */
  readonly author: string;
  /** The beginning of the wait, in milliseconds since 1970. */
  readonly since: number;
  /** The end of the wait, or of the plan, in milliseconds since 1970. */
  readonly expires: number;
}

/**
 * Prompts the user of a client. `dismissed`: the user closed the question; `gone`: the client can no longer
 * prompt. The question is withdrawn when the signal aborts.
 */
export type PromptUser = (
  question: PendingApproval,
  signal: AbortSignal,
) => Promise<"yes" | "no" | "dismissed" | "gone">;

/** The outcome of a question, for the audit trail. */
export interface ApprovalOutcome {
  readonly verdict: "approved" | "declined" | "unanswered";
  /** The person who answered, if any. */
  readonly by?: string;
}

/** A call that needs approval. */
export interface ApprovalRequest {
  readonly functionId: string;
  readonly author?: Author | undefined;
  readonly deadline: Deadline;
  /** Identifies the call in the audit trail. */
  readonly call?: object;
  readonly promptUser?: PromptUser | undefined;
}

export interface ApprovalsOptions {
  readonly mode: ApprovalMode;
  readonly timeoutMilliseconds: number;
}

/** Maximum calls that wait at once. */
const maxPending = 64;

interface Waiting {
  readonly shown: PendingApproval;
  readonly settle: (verdict: "yes" | "no", by: string) => void;
}

/** A plan that no person could approve when it was made. */
interface Shelved {
  readonly shown: PendingApproval;
  readonly fingerprint: string;
  answer?: { readonly verdict: "yes" | "no"; readonly by: string };
}

export class Approvals {
  readonly mode: ApprovalMode;
  readonly #timeout: number;
  readonly #waiting = new Map<string, Waiting>();
  readonly #shelved = new Map<string, Shelved>();
  /** The open places other than clients where calls can be approved, such as the review page. */
  #places = 0;
  readonly #listeners = new Set<() => void>();
  readonly #outcomes = new WeakMap<object, ApprovalOutcome>();
  readonly #closing = new AbortController();

  constructor({ mode, timeoutMilliseconds }: ApprovalsOptions) {
    this.mode = mode;
    this.#timeout = timeoutMilliseconds;
  }

  /** Returns the calls and plans that can be approved now, oldest first. */
  pending(): readonly PendingApproval[] {
    this.#dropExpired();
    const open = [...this.#shelved.values()].filter(({ answer }) => answer === undefined);
    return [...this.#waiting.values(), ...open]
      .map(({ shown }) => shown)
      .sort((one, other) => one.since - other.since);
  }

  /** Takes the answer of a person. Returns "gone" if another came first, or if the call has ended. */
  answer(id: string, verdict: "yes" | "no", by: string): "taken" | "gone" {
    this.#dropExpired();
    const waiting = this.#waiting.get(id);
    const shelved = this.#shelved.get(id);
    if (waiting !== undefined) waiting.settle(verdict, by);
    else if (shelved !== undefined && shelved.answer === undefined) {
      shelved.answer = { verdict, by };
      this.#notify();
    } else return "gone";
    return "taken";
  }

  /** Calls the listener whenever `pending()` has changed. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /**
   * Opens a place where calls can be approved, until disposed of. Meant for the review page: even calls of
   * clients that cannot prompt their user then wait.
   */
  openPlace(): Disposable {
    this.#places++;
    let isOpen = true;
    return {
      [Symbol.dispose]: () => {
        if (isOpen) this.#places--;
        isOpen = false;
      },
    };
  }

  /** Returns whether there is a person who could approve a call. */
  hasApprover({ promptUser }: Pick<ApprovalRequest, "promptUser">): boolean {
    return promptUser !== undefined || this.#places > 0;
  }

  /** Returns the outcome of the question of a call, if it had one. */
  outcomeOf(call: object): ApprovalOutcome | undefined {
    return this.#outcomes.get(call);
  }

  /**
   * Waits until a person approves, and suspends the deadline of the call. Throws the refusal that says why no
   * person did. There must be an approver.
   */
  async request(proposal: Proposal, call: ApprovalRequest): Promise<void> {
    if (this.#waiting.size >= maxPending) throw refuseApproval.tooMany(maxPending);
    const { deadline } = call;
    deadline.check();
    deadline.suspend();
    try {
      await this.#wait(proposal, call);
    } finally {
      deadline.restart();
    }
  }

  /** Adds a plan that can be approved until it expires, under its name. */
  shelve(
    plan: string,
    proposal: Proposal,
    { expires, ...call }: ApprovalRequest & { readonly expires: number },
  ): void {
    const shown = { ...this.#shownOf(plan, proposal, call), expires };
    this.#shelved.set(plan, { shown, fingerprint: proposal.fingerprint });
    this.#notify();
  }

  /**
   * Uses the approval of a plan, once. Returns false if it has not been approved yet. Throws declined, and
   * stale if the plan would now do anything else.
   */
  takeShelved(plan: string, { fingerprint }: Proposal, { call }: ApprovalRequest): boolean {
    this.#dropExpired();
    const { answer, fingerprint: approved } = this.#shelved.get(plan) ?? {};
    if (answer === undefined) return false;
    this.#shelved.delete(plan);
    this.#note(call, outcomeOf(answer.verdict, answer.by));
    if (answer.verdict === "no") throw refuseApproval.declined();
    if (approved !== fingerprint) throw refuseApproval.stale();
    return true;
  }

  /** Ends all waiting calls, before the worker stops. */
  close(): void {
    this.#closing.abort();
  }

  async #wait(proposal: Proposal, { call, promptUser, ...asking }: ApprovalRequest): Promise<void> {
    const id = randomBytes(8).toString("hex");
    const ended = new AbortController();
    const { signal: cancelled } = asking.deadline;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const { user } = asking.author ?? {};
    const by = `${user === undefined ? "the user of " : ""}${renderAuthor(asking.author)}`;
    try {
      await new Promise<void>((resolve, reject) => {
        const settle = (verdict: "yes" | "no", by: string) => {
          this.#waiting.delete(id);
          this.#note(call, outcomeOf(verdict, by));
          if (verdict === "yes") resolve();
          else reject(refuseApproval.declined());
        };
        const fail = (refusal: Error) => {
          this.#note(call, { verdict: "unanswered" });
          reject(refusal);
        };
        timer = setTimeout(() => fail(refuseApproval.unanswered(this.#timeout)), this.#timeout);
        const options = { once: true, signal: ended.signal } as const;
        cancelled.addEventListener("abort", () => fail(refuse.cancelled()), options);
        if (cancelled.aborted) fail(refuse.cancelled());
        this.#closing.signal.addEventListener("abort", () => fail(refuseApproval.stopping()), options);
        if (this.#closing.signal.aborted) fail(refuseApproval.stopping());
        const shown = this.#shownOf(id, proposal, asking);
        this.#waiting.set(id, { shown, settle });
        this.#notify();
        void promptUser?.(shown, ended.signal).then((answer) => {
          if (answer === "dismissed") fail(refuseApproval.dismissed());
          else if (answer !== "gone") settle(answer, by);
          else if (this.#places === 0) fail(refuseApproval.gone());
        });
      });
    } finally {
      clearTimeout(timer);
      ended.abort();
      this.#waiting.delete(id);
      this.#notify();
    }
  }

  #shownOf(
    id: string,
    { fingerprint: _, ...shown }: Proposal,
    { functionId, author }: Pick<ApprovalRequest, "functionId" | "author">,
  ): PendingApproval {
    const since = Date.now();
    const expires = since + this.#timeout;
    return { id, function: functionId, author: renderAuthor(author), since, expires, ...shown };
  }

  #note(call: object | undefined, verdict: ApprovalOutcome): void {
    // Only the first outcome ends the wait.
    if (call !== undefined && this.#outcomes.get(call) === undefined) this.#outcomes.set(call, verdict);
  }

  #dropExpired(): void {
    for (const [id, { shown }] of this.#shelved) if (shown.expires <= Date.now()) this.#shelved.delete(id);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

const outcomeOf = (verdict: "yes" | "no", by: string): ApprovalOutcome => ({
  verdict: verdict === "yes" ? "approved" : "declined",
  by,
});
