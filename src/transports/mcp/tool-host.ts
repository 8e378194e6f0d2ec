import { randomBytes } from "node:crypto";
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { WorkerName } from "../../base/about.ts";
import type { Author } from "../../base/author.ts";
import type { Log } from "../../base/log/log.ts";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { AnswerBudget } from "../../calls/answer-budget.ts";
import type { ApprovalMode } from "../../calls/approval/approvals.ts";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import type { AnswerLease, OrderedCall, Origin, TraceParent } from "../../calls/contract/origin.ts";
import { WrittenAnswer } from "../../calls/contract/prepared-answer.ts";
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
  /** Lets calls finish until none has ended for `milliseconds`, and then ends them. */
  readonly stopCalls?: (milliseconds: number) => Promise<void>;
  readonly log: Log;
  /** Returns the maximum milliseconds of a call of a function. */
  millisecondsOf(definition: FunctionDefinition): number;
  /** Maximum bytes of a file that is read, if configured. */
  readonly maxReadBytes: number | undefined;
  /** The changes of the files that are offered as resources; `undefined` if no files are. */
  readonly treeChanges?: TreeChanges | undefined;
  /** The rules of commands, for the instructions. */
  readonly commandRules?: readonly string[] | undefined;
  /** The root that commands start in, if there are several, for the instructions. */
  readonly startRoot?: string | undefined;
  /** The calls that wait for approval, for the instructions. */
  readonly approval?: ApprovalMode | undefined;
  /** Whether changes are recorded, for the instructions. Default: false. */
  readonly keepsJournal?: boolean | undefined;
  /** Lists the roots for the instructions of a new session, if there are several. */
  readonly listRoots?: (() => string | undefined) | undefined;
  /** Describes the checkpoints of others to a new session, if any. */
  readonly describeOthers?: (() => string | undefined) | undefined;
  /** Whether hosts of MCP Apps may show the page, which needs a journal and calls that change files. */
  readonly hasApp?: boolean;
  /** Prepares first calls while a client is idle. */
  readonly warmUp?: (() => void) | undefined;
}

/**
 * Maximum bytes of a message to a client. Clients of the TypeScript SDK 2.x close the connection if a message
 * is larger, unless configured otherwise, as they must be where larger files are read.
 */
const defaultMessageBytes = 10 * 1024 * 1024;

/** The bytes of a message reserved for the text beside an answer, at least, and for everything else. */
const textBytes = 64 * 1024;
const envelopeBytes = 64 * 1024;

/** Milliseconds after the list of tools in which a client sends the other requests of its handshake. */
const handshakeMilliseconds = 20;

/** Milliseconds without the end of a call after which a stop ends those under way. */
const stopMilliseconds = 5000;

/** The parts of a request that its call needs. */
export interface CallOptions {
  /** Aborts when the client cancels the call. */
  readonly cancelled: AbortSignal;
  /** The session or connection of the request. */
  readonly session: string | undefined;
  /** The author of the session's calls. */
  readonly author: Author | undefined;
  /** The place in the feed where the session began. */
  readonly began: string | undefined;
  /** Takes the place of the call among those of its session, if that has an order. */
  readonly takePlace?: () => OrderedCall | undefined;
  /** Sends the output of a running program to a client that has requested progress. */
  readonly onOutput?: Origin["onOutput"];
  /** The lease of the answer, released after the answer was sent. */
  readonly lease: AnswerLease | undefined;
  /** Prompts the user of the client to approve the call; `undefined` if the client cannot. */
  readonly promptUser?: Origin["promptUser"];
  /** The trace that the request names. */
  readonly trace?: TraceParent | undefined;
}

/** The state that all connections of a process share: the tools, and the calls in flight. */
export class ToolHost {
  readonly worker: WorkerName;
  readonly tools: readonly Tool[];
  readonly commandRules: readonly string[];
  readonly startRoot: string | undefined;
  readonly approval: ApprovalMode | undefined;
  readonly keepsJournal: boolean;
  /** The functions by the names of their tools. */
  readonly functions: ReadonlyMap<string, FunctionDefinition>;
  readonly log: Log;
  readonly millisecondsOf: ToolHostOptions["millisecondsOf"];
  readonly hasApp: boolean;
  readonly #treeChanges: TreeChanges | undefined;
  readonly #listRoots: ToolHostOptions["listRoots"];
  readonly #describeOthers: ToolHostOptions["describeOthers"];
  readonly #messageBytes: number;
  readonly #isStructured: boolean;
  #warmUp: (() => void) | undefined;
  readonly #invoke: Invoke;
  readonly #stopCalls: ToolHostOptions["stopCalls"];
  readonly #inFlight = new InFlight();
  /** The time slice of the notifications of all sessions together. */
  readonly #notifying = createTimeSlice();
  readonly #budget = new AnswerBudget();

  constructor(options: ToolHostOptions) {
    const { worker, functions, invoke, log, millisecondsOf, maxReadBytes = 0, isStructured } = options;
    this.worker = worker;
    this.tools = describeTools(functions, options);
    this.functions = new Map(functions.map((definition) => [toolName(definition.id), definition]));
    this.log = log;
    this.millisecondsOf = millisecondsOf;
    this.commandRules = (options.commandRules ?? []).map(wording.sentence);
    this.startRoot = options.startRoot;
    this.approval = options.approval;
    this.hasApp = options.hasApp ?? false;
    this.keepsJournal = options.keepsJournal ?? false;
    this.#treeChanges = options.treeChanges;
    this.#listRoots = options.listRoots;
    this.#describeOthers = options.describeOthers;
    this.#messageBytes = maxReadBytes > defaultMessageBytes ? Number.POSITIVE_INFINITY : defaultMessageBytes;
    this.#isStructured = isStructured;
    this.#warmUp = options.warmUp;
    this.#invoke = invoke;
    this.#stopCalls = options.stopCalls;
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

  /** Opens the leases of a new connection, which share the budget of the process. */
  openLeases(caller: string): Leases {
    return new Leases(this.#budget, caller);
  }

  /**
   * Prepares first calls, once. Call it when a client has read the list of tools, which ends its handshake.
   */
  warmUpSoon(): void {
    const warmUp = this.#warmUp;
    this.#warmUp = undefined;
    if (warmUp !== undefined) setTimeout(warmUp, handshakeMilliseconds).unref();
  }

  /** Returns the place in the feed where a session begins. Later changes by calls are kept for it. */
  beginSession(): string | undefined {
    return this.#treeChanges?.begin();
  }

  /** Lists the roots for the instructions of a new session, if there are several. */
  listRoots(): string | undefined {
    const text = this.#listRoots?.();
    return text && wording.sentence(text);
  }

  /** Describes the checkpoints of others to a new session, if any. */
  describeOthers(): string | undefined {
    const text = this.#describeOthers?.();
    return text && wording.sentence(text);
  }

  /**
   * Returns a watch that notifies a session of changes of resources. Close it with the session. Returns
   * `undefined` if no files are resources.
   */
  watchResources(sink: NotificationSink): ResourceWatch | undefined {
    return this.#treeChanges && new ResourceWatch(this.#treeChanges, sink, this.#notifying);
  }

  /** Renders the outcome of a call as the result of its tool. */
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
    if (outcome instanceof WrittenAnswer) await this.#inFlight.add(outcome.parse());
    const call = { definition, payload: sent, answer: outcome.answer };
    return await this.#inFlight.add(renderResult(call, { isStructured, shownBytes, notes }));
  }

  /** Lets calls finish until none has ended for `milliseconds`, then ends them. Their answers can be sent. */
  async stop(milliseconds: number = stopMilliseconds): Promise<void> {
    await this.#stopCalls?.(milliseconds);
    await this.#inFlight.settled(milliseconds);
  }
}

/** Returns a name for a new session. The id of an HTTP session stays secret, as it admits to that. */
export const nameSession = (): string => randomBytes(4).toString("hex");
