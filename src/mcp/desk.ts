import type { Tool } from "@modelcontextprotocol/server";
import type { WorkerName } from "../about.ts";
import type { FunctionDefinition } from "../worker/define.ts";
import type { Invoke, Outcome } from "../worker/invoke.ts";
import type { Log } from "../worker/log.ts";
import { UnderWay } from "../worker/under-way.ts";
import { describeTool, toolName } from "./tools.ts";

export interface DeskOptions {
  readonly worker: WorkerName;
  readonly functions: readonly FunctionDefinition[];
  readonly invoke: Invoke;
  readonly log: Log;
  /** Longest that a call may take. */
  readonly callMilliseconds: number;
}

/** What all connections of one process share: the tools, and the calls that are under way. */
export class Desk {
  readonly worker: WorkerName;
  readonly tools: readonly Tool[];
  /** By the names of their tools. */
  readonly functions: ReadonlyMap<string, FunctionDefinition>;
  readonly log: Log;
  readonly callMilliseconds: number;
  readonly #invoke: Invoke;
  readonly #underWay = new UnderWay();

  constructor({ worker, functions, invoke, log, callMilliseconds }: DeskOptions) {
    this.worker = worker;
    this.tools = functions.map(describeTool);
    this.functions = new Map(functions.map((definition) => [toolName(definition.id), definition]));
    this.log = log;
    this.callMilliseconds = callMilliseconds;
    this.#invoke = invoke;
  }

  /** Calls a function. It ends early when `cancelled` aborts. */
  call(definition: FunctionDefinition, payload: unknown, cancelled: AbortSignal): Promise<Outcome> {
    return this.#underWay.add(this.#invoke(definition, payload, { cancelled }));
  }

  /** Resolves when no call is under way, or after 5 s. */
  settled(): Promise<void> {
    return this.#underWay.settled();
  }
}
