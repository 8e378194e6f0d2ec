import type { Channels } from "./channels.ts";
import type { WorkerConnection } from "./connection.ts";
import { type FrameOf, isRecord, type Json } from "./frames.ts";
import { flagIn, malformed, sizeIn, textIn, textsIn } from "./inputs.ts";
import { EngineFailure } from "./invocations.ts";
import type { OwnedEntry } from "./owned.ts";
import { type Builtin, firstSegment, type Router } from "./router.ts";

type FunctionEntry = OwnedEntry<FrameOf<"registerfunction">>;
type TriggerEntry = OwnedEntry<FrameOf<"registertrigger">>;
type TriggerTypeEntry = OwnedEntry<FrameOf<"registertriggertype">>;

/** Maximum ids that one `engine::functions::info` answers. */
const maxFunctionIds = 32;

/**
 * Returns the `engine::*` functions, which list connected workers and their functions, and open channels (bus
 * §10).
 */
export function builtinsOf(router: Router, channels: Channels): ReadonlyMap<string, Builtin> {
  return new Map<string, Builtin>([
    ["engine::workers::register", (input, caller) => registerWorker(router, input, caller)],
    ["engine::workers::list", (input) => ({ workers: listWorkers(router, input) })],
    ["engine::workers::info", (input) => workerInfo(router, input)],
    ["engine::functions::list", (input) => ({ functions: listFunctions(router, input) })],
    ["engine::functions::info", (input) => functionInfo(router, input)],
    ["engine::triggers::list", (input) => ({ triggers: listTriggerTypes(router, input) })],
    ["engine::channels::create", (input) => channels.create(sizeIn(input, "buffer_size"))],
  ]);
}

function registerWorker(router: Router, input: Json, caller: WorkerConnection | undefined): Json {
  if (caller === undefined || !isRecord(input)) throw malformed("_caller_worker_id");
  router.describe(caller, input);
  return { success: true };
}

/**
 * Lists the workers. Like the production engine, it leaves out those without a process id, except the
 * engine's own.
 */
function listWorkers(router: Router, input: Json): Json[] {
  const [search, runtime, status] = ["search", "runtime", "status"].map((field) => textIn(input, field));
  const shown = [...router.workers].filter(({ profile }) => typeof profile["pid"] === "number");
  return [engineRow(router), ...shown.map((worker) => workerRow(router, worker))].filter(
    (row) =>
      contains(String(row["name"] ?? ""), search) &&
      (runtime === undefined || row["runtime"] === runtime) &&
      (status === undefined || row["status"] === status),
  );
}

/** Returns the row of the worker that stands for the engine's own functions. */
function engineRow(router: Router): Record<string, Json> {
  return {
    ...blankRow,
    name: engineWorker,
    id: engineWorker,
    runtime: "engine",
    status: "available",
    function_count: router.builtins.size,
  };
}

const engineWorker = "iii-engine-functions";

const blankRow = {
  description: null,
  version: null,
  os: null,
  connected_at_ms: null,
  active_invocations: 0,
  isolation: null,
  ip_address: null,
};

function workerInfo(router: Router, input: Json): Json {
  const name = textIn(input, "name");
  if (name === undefined) throw malformed("name");
  const worker = [...router.workers].find((candidate) => candidate.name === name);
  if (worker === undefined) throw notFound(`Worker '${name}' is not connected.`);
  return {
    worker: { ...workerRow(router, worker), pid: worker.profile["pid"] ?? null, internal: false },
    functions: router.functions.list(worker).map((entry) => functionRow(router, entry)),
    trigger_types: router.triggerTypes.list(worker).map(triggerTypeRow),
    registered_triggers: router.activeTriggers(worker).map(triggerRow),
  };
}

function listTriggerTypes(router: Router, input: Json): Json[] {
  const search = textIn(input, "search");
  const prefix = textIn(input, "prefix") ?? "";
  const types = router.triggerTypes.list().filter(({ value: { id } }) => id.startsWith(prefix));
  return types
    .filter(({ value: { id, description } }) => contains(`${id}\n${description}`, search))
    .map(triggerTypeRow);
}

const contains = (text: string, search = ""): boolean => text.toLowerCase().includes(search.toLowerCase());

function workerRow(router: Router, worker: WorkerConnection): Record<string, Json> {
  const { description = null, version = null, runtime = null, os = null, isolation = null } = worker.profile;
  return {
    name: worker.name ?? null,
    description,
    version,
    id: worker.id,
    runtime,
    os,
    status: "connected",
    function_count: router.functions.list(worker).length,
    connected_at_ms: worker.connectedAt,
    active_invocations: router.invocations.servedBy(worker),
    isolation,
    ip_address: "127.0.0.1",
  };
}

/** Lists the engine's own functions, and those marked internal, only with `include_internal`. */
function listFunctions(router: Router, input: Json): Json[] {
  const prefix = textIn(input, "prefix") ?? "";
  const worker = textIn(input, "worker");
  const withInternal = flagIn(input, "include_internal");
  const offered = router.functions.list().filter((entry) => withInternal || !isInternal(entry));
  const own = withInternal ? [...router.builtins.keys()].map(builtinRow) : [];
  return [...offered.map((entry) => functionRow(router, entry)), ...own]
    .filter(
      (row) => row.function_id.startsWith(prefix) && (worker === undefined || row.worker_name === worker),
    )
    .sort((a, b) => (a.function_id < b.function_id ? -1 : 1));
}

function isInternal({ value: { metadata } }: FunctionEntry): boolean {
  return isRecord(metadata) && metadata["internal"] === true;
}

type FunctionRow = { function_id: string; worker_name: string; [field: string]: Json };

function functionRow(router: Router, entry: FunctionEntry): FunctionRow {
  const { id, description, metadata } = entry.value;
  return {
    function_id: id,
    worker_name: router.ownerOf(entry),
    ...(description !== undefined && { description }),
    ...(metadata !== undefined && { metadata }),
  };
}

function builtinRow(function_id: string): FunctionRow {
  return { function_id, worker_name: engineWorker };
}

function functionInfo(router: Router, input: Json): Json {
  const id = textIn(input, "function_id");
  const ids = textsIn(input, "function_ids");
  const namespace = router.targetOf(isRecord(input) ? input : {});
  if (id !== undefined && ids !== undefined)
    throw invalid("pass either `function_id` or `function_ids`, not both");
  if (id !== undefined) {
    const detail = functionDetail(router, id, namespace);
    if (detail === undefined) throw notFound(`Function '${id}' is not registered.`);
    return detail;
  }
  const unique = [...new Set(ids)];
  if (unique.length === 0) throw invalid("missing field `function_id` (or `function_ids` for several)");
  if (unique.length > maxFunctionIds) throw invalid(`too many function_ids (at most ${maxFunctionIds})`);
  return {
    functions: unique.map(
      (one) => functionDetail(router, one, namespace) ?? { function_id: one, error: "not_found" },
    ),
  };
}

function functionDetail(router: Router, id: string, namespace: string): Json | undefined {
  const entry = router.functions.get(id, namespace);
  if (entry === undefined) return undefined;
  const { request_format, response_format } = entry.value;
  const bound = router.activeTriggers().filter(({ value }) => value.function_id === id);
  return {
    ...functionRow(router, entry),
    ...(request_format !== undefined && { request_schema: request_format }),
    ...(response_format !== undefined && { response_schema: response_format }),
    registered_triggers: bound.map(({ value: { id, trigger_type, config } }) => ({
      id,
      trigger_type,
      config,
    })),
  };
}

function triggerTypeRow({ owner, value: { id, description } }: TriggerTypeEntry): Json {
  return { id, worker_name: owner.name ?? firstSegment(id), description };
}

function triggerRow({ owner, value: { id, trigger_type, function_id, config } }: TriggerEntry): Json {
  return { id, trigger_type, function_id, worker_name: owner.name ?? firstSegment(function_id), config };
}

function notFound(message: string): EngineFailure {
  return new EngineFailure({ code: "NOT_FOUND", message });
}

/** Returns the error for an input of the right type with invalid values. */
function invalid(message: string): EngineFailure {
  return new EngineFailure({ code: "INVALID_ARGUMENTS", message });
}
