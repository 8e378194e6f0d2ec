/**
 * The approvals that calls wait for. A call says what it would change; the user of its client and everyone
 * at the review page can answer, and the first answer counts. This file does not know how a change is made,
 * or how a person is prompted.
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

/** A place where questions can be answered besides the clients, such as an open page. */
export interface Answerer {
  readonly name: string;
}

export interface ApprovalsOptions {
  readonly mode: ApprovalMode;
  readonly timeoutMilliseconds: number;
}

/** Maximum calls that wait at once. */
const maxPending = 64;

interface Entry extends PendingApproval {
  readonly fingerprint: string;
  readonly settle: (verdict: "yes" | "no", by: string) => void;
}

/** A plan that no person could approve when it was made. */
interface Shelved extends Entry {
  answer?: { readonly isApproved: boolean; readonly by: string };
}

export class Approvals {
  readonly mode: ApprovalMode;
  readonly #timeout: number;
  readonly #waiting = new Map<string, Entry>();
  readonly #shelved = new Map<string, Shelved>();
  readonly #answerers = new Set<Answerer>();
  readonly #listeners = new Set<() => void>();
  readonly #outcomes = new WeakMap<object, ApprovalOutcome>();
  readonly #closing = new AbortController();

  constructor({ mode, timeoutMilliseconds }: ApprovalsOptions) {
    this.mode = mode;
    this.#timeout = timeoutMilliseconds;
  }

  /** Returns what can be approved now, oldest first. */
  pending(): readonly PendingApproval[] {
    this.#dropExpired();
    const open = [...this.#shelved.values()].filter(({ answer }) => answer === undefined);
    return [...this.#waiting.values(), ...open]
      .sort((one, other) => one.since - other.since)
      .map(({ settle: _, fingerprint: __, ...shown }) => shown);
  }

  /** Answers for someone. Returns "gone" if another answer came first, or if the call has ended. */
  answer(id: string, verdict: "yes" | "no", by: string): "taken" | "gone" {
    this.#dropExpired();
    const entry = this.#waiting.get(id) ?? this.#shelved.get(id);
    if (entry === undefined || (entry as Shelved).answer !== undefined) return "gone";
    entry.settle(verdict, by);
    return "taken";
  }

  /** Calls the listener whenever `pending()` has changed. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /**
   * Makes calls wait for `answerer` until disposed of, even those of clients that cannot prompt their user.
   */
  offer(answerer: Answerer): Disposable {
    this.#answerers.add(answerer);
    return { [Symbol.dispose]: () => void this.#answerers.delete(answerer) };
  }

  /** Returns whether there is a person who could approve a call. */
  hasApprover({ promptUser }: Pick<ApprovalRequest, "promptUser">): boolean {
    return promptUser !== undefined || this.#answerers.size > 0;
  }

  /** Returns the outcome of the question of a call, if it had one. */
  outcomeOf(call: object): ApprovalOutcome | undefined {
    return this.#outcomes.get(call);
  }

  /**
   * Waits until a person approves; the time of the call stands still. Throws the refusal that says why no
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
    const settle = (verdict: "yes" | "no", by: string) => {
      const shelved = this.#shelved.get(plan);
      if (shelved !== undefined) shelved.answer = { isApproved: verdict === "yes", by };
      this.#notify();
    };
    this.#shelved.set(plan, { ...this.#entryOf(plan, proposal, call), expires, settle });
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
    const { isApproved, by } = answer;
    this.#note(call, { verdict: isApproved ? "approved" : "declined", by });
    if (!isApproved) throw refuseApproval.declined();
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
          this.#note(call, { verdict: verdict === "yes" ? "approved" : "declined", by });
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
        const entry = { ...this.#entryOf(id, proposal, asking), settle };
        this.#waiting.set(id, entry);
        this.#notify();
        const { settle: _, fingerprint: __, ...question } = entry;
        void promptUser?.(question, ended.signal).then((answer) => {
          if (answer === "dismissed") fail(refuseApproval.dismissed());
          else if (answer !== "gone") settle(answer, by);
          else if (this.#answerers.size === 0) fail(refuseApproval.gone());
        });
      });
    } finally {
      clearTimeout(timer);
      ended.abort();
      this.#waiting.delete(id);
      this.#notify();
    }
  }

  #entryOf(
    id: string,
    proposal: Proposal,
    { functionId, author }: Pick<ApprovalRequest, "functionId" | "author">,
  ) {
    const since = Date.now();
    const expires = since + this.#timeout;
    return { id, function: functionId, author: renderAuthor(author), since, expires, ...proposal };
  }

  #note(call: object | undefined, verdict: ApprovalOutcome): void {
    // Only the first one ends the wait.
    if (call !== undefined && this.#outcomes.get(call) === undefined) this.#outcomes.set(call, verdict);
  }

  #dropExpired(): void {
    for (const [id, { expires }] of this.#shelved) if (expires <= Date.now()) this.#shelved.delete(id);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
