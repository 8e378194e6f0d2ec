import { randomBytes } from "node:crypto";
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { WorkerName } from "../../base/about.ts";
import type { Author } from "../../base/author.ts";
import type { Log } from "../../base/log/log.ts";
import { AnswerBudget } from "../../calls/answer-budget.ts";
import type { ApprovalMode } from "../../calls/approval/approvals.ts";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import type { AnswerLease, OrderedCall, Origin, TraceParent } from "../../calls/contract/origin.ts";
import type { TreeChanges } from "../../calls/contract/tree-changes.ts";
import { InFlight } from "../../calls/in-flight.ts";
import type { CallOutcome, Invoke } from "../../calls/invoke.ts";
import { Leases } from "./leases.ts";
import { type NotificationSink, ResourceWatch } from "./resource-watch.ts";
import { renderFailure, renderResult } from "./results.ts";
import { describeTools, type ToolOptions, toolName, wording } from "./tools.ts";

export interface ToolHostOptions extends ToolOptions {
  readonly worker: WorkerName;
  readonly functions: readonly FunctionDefinition[];
  readonly invoke: Invoke;
  readonly log: Log;
  /** Longest that a call may take. */
  readonly callMilliseconds: number;
  /** Largest file that is read, where that is configured. */
  readonly maxReadBytes: number | undefined;
  /** What becomes of the files that are resources. Absent: there are none. */
  readonly treeChanges?: TreeChanges | undefined;
  /** The rules of commands, for the instructions. */
  readonly commandRules?: readonly string[] | undefined;
  /** The calls that wait for approval, for the instructions. */
  readonly approval?: ApprovalMode | undefined;
  /** Whether changes are recorded, for the instructions. Default: false. */
  readonly keepsJournal?: boolean | undefined;
  /** Describes the checkpoints of others to a new session, if any. */
  readonly describeOthers?: (() => string | undefined) | undefined;
  /** Whether hosts of MCP Apps may show the page, which needs a journal and calls that change files. */
  readonly hasApp?: boolean;
  /** Prepares first calls while a client is idle. */
  readonly warmUp?: (() => void) | undefined;
}

/**
 * Most bytes of a message to a client: those of the TypeScript SDK 2.x close the connection at more unless
 * configured otherwise. An operator who has larger files read has configured them.
 */
const defaultMessageBytes = 10 * 1024 * 1024;

/** Of a message, what is left for the text beside an answer at least; and what is left for all else. */
const textBytes = 64 * 1024;
const envelopeBytes = 64 * 1024;

/** Milliseconds after the list of tools in which a client sends the other requests of its handshake. */
const handshakeMilliseconds = 20;

/** What a call takes from its request. */
export interface CallOptions {
  /** Cancels the call when the client does. */
  readonly cancelled: AbortSignal;
  /** The session or connection that it came over. */
  readonly session: string | undefined;
  /** The author of its session. */
  readonly author: Author | undefined;
  /** The place in the changes of calls where that began. */
  readonly began: string | undefined;
  /** Takes its place among the calls of its session, if that has an order. */
  readonly takePlace?: () => OrderedCall | undefined;
  /** Shows what a program writes meanwhile, to a client that has asked for progress. */
  readonly onOutput?: Origin["onOutput"];
  /** What its answer is held by until it was sent. */
  readonly lease: AnswerLease | undefined;
  /** Prompts the user of the client to approve it. Absent if the client cannot. */
  readonly promptUser?: Origin["promptUser"];
  /** The trace that it says it belongs to. */
  readonly trace?: TraceParent | undefined;
}

/** What all connections of one process share: the tools, and the calls in flight. */
export class ToolHost {
  readonly worker: WorkerName;
  readonly tools: readonly Tool[];
  readonly commandRules: readonly string[];
  readonly approval: ApprovalMode | undefined;
  readonly keepsJournal: boolean;
  /** By the names of their tools. */
  readonly functions: ReadonlyMap<string, FunctionDefinition>;
  readonly log: Log;
  readonly callMilliseconds: number;
  readonly hasApp: boolean;
  readonly #treeChanges: TreeChanges | undefined;
  readonly #describeOthers: ToolHostOptions["describeOthers"];
  readonly #messageBytes: number;
  readonly #isStructured: boolean;
  #warmUp: (() => void) | undefined;
  readonly #invoke: Invoke;
  readonly #inFlight = new InFlight();
  readonly #budget = new AnswerBudget();

  constructor(options: ToolHostOptions) {
    const { worker, functions, invoke, log, callMilliseconds, maxReadBytes = 0, isStructured } = options;
    this.worker = worker;
    this.tools = describeTools(functions, options);
    this.functions = new Map(functions.map((definition) => [toolName(definition.id), definition]));
    this.log = log;
    this.callMilliseconds = callMilliseconds;
    this.commandRules = (options.commandRules ?? []).map(wording.sentence);
    this.approval = options.approval;
    this.hasApp = options.hasApp ?? false;
    this.keepsJournal = options.keepsJournal ?? false;
    this.#treeChanges = options.treeChanges;
    this.#describeOthers = options.describeOthers;
    this.#messageBytes = maxReadBytes > defaultMessageBytes ? Number.POSITIVE_INFINITY : defaultMessageBytes;
    this.#isStructured = isStructured;
    this.#warmUp = options.warmUp;
    this.#invoke = invoke;
  }

  /** Calls a function for a request. */
  async call(
    definition: FunctionDefinition,
    payload: unknown,
    { takePlace, ...options }: CallOptions,
  ): Promise<CallOutcome> {
    const maxAnswerBytes = this.#messageBytes - textBytes - envelopeBytes;
    const showsImages = !this.#isStructured;
    const { sentence } = wording;
    const ordered = takePlace?.();
    try {
      const origin = { ...options, ordered, maxAnswerBytes, showsImages, sentence };
      return await this.#inFlight.add(this.#invoke(definition, payload, origin));
    } finally {
      ordered?.leave();
    }
  }

  /** The leases of a new connection, which share the budget of the process with those of all others. */
  openLeases(caller: string): Leases {
    return new Leases(this.#budget, caller);
  }

  /** Prepares first calls, once, when a client has read the list of tools, which ends its handshake. */
  warmUpSoon(): void {
    const warmUp = this.#warmUp;
    this.#warmUp = undefined;
    if (warmUp !== undefined) setTimeout(warmUp, handshakeMilliseconds).unref();
  }

  /** Has changes of calls kept for a session, and returns the place where it begins. */
  beginSession(): string | undefined {
    return this.#treeChanges?.begin();
  }

  /** Describes the checkpoints of others to a new session, if any. */
  describeOthers(): string | undefined {
    const text = this.#describeOthers?.();
    return text && wording.sentence(text);
  }

  /**
   * What notifies a session of changes of resources, to be closed with it. Undefined where there are none.
   */
  watchResources(sink: NotificationSink): ResourceWatch | undefined {
    return this.#treeChanges && new ResourceWatch(this.#treeChanges, sink);
  }

  /** How a call of `definition` with `payload` ended, as a result of its tool. */
  async render(
    definition: FunctionDefinition,
    payload: unknown,
    outcome: CallOutcome,
  ): Promise<CallToolResult> {
    const isStructured = this.#isStructured;
    const { payload: sent, notes } = outcome.read ?? { payload, notes: [] };
    if ("error" in outcome) return renderFailure(outcome.error, { isStructured, notes });
    const beside = isStructured ? outcome.bytes : 0;
    const shownBytes = this.#messageBytes - envelopeBytes - beside;
    const call = { definition, payload: sent, answer: outcome.answer };
    return await renderResult(call, { isStructured, shownBytes, notes });
  }

  /** Resolves when no call is in flight, or after `milliseconds`, by default 5 s. */
  settled(milliseconds?: number): Promise<void> {
    return this.#inFlight.settled(milliseconds);
  }
}

/** Returns a name for a new session. The id of an HTTP session stays secret, as it admits to that. */
export const nameSession = (): string => randomBytes(4).toString("hex");
