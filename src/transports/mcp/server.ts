/** Offers the functions as an MCP server, one for each connection. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type jsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { about, descriptions } from "../../base/about.ts";
import { type Author, claimedName } from "../../base/author.ts";
import type { CallOrder } from "../../calls/call-order.ts";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import type { TraceParent } from "../../calls/contract/origin.ts";
import { currentExchange } from "./current-exchange.ts";
import type { Leases } from "./leases.ts";
import { quoteBriefly } from "./messages.ts";
import { reportProgress } from "./progress.ts";
import { promptUserOver } from "./prompt-user.ts";
import type { ResourceWatch } from "./resource-watch.ts";
import { offerResources } from "./resources.ts";
import { appTool, callForApp, showsApps, toolsWithApp, withCheckpointKey } from "./review-app.ts";
import { showRoots } from "./roots.ts";
import { WordedServer } from "./sdk-gaps/worded-server.ts";
import { renderInstructions, serverInfo } from "./server-info.ts";
import type { CallOptions, ToolHost } from "./tool-host.ts";

export interface ServerOptions {
  /** The leases of its answers. Default: those of the HTTP exchange. */
  readonly leases?: Leases;
  /** The name of its session; `undefined` if requests have no session. */
  readonly session?: string;
  /** The order of its calls. Default: calls have the places of their HTTP exchanges. */
  readonly order?: CallOrder;
  /** The watch that notifies its session of changes; `undefined` if requests have no session. */
  readonly watch?: ResourceWatch | undefined;
}

/** Creates a server that is not connected yet. */
export function createMcpServer(
  host: ToolHost,
  { leases, session, order, watch }: ServerOptions = {},
): Server {
  const began = host.beginSession();
  const optionsOf = (context: ServerContext): CallOptions => {
    const { id, signal, _meta: meta } = context.mcpReq;
    const exchange = currentExchange.getStore();
    const holder = leases ?? exchange?.leases;
    return {
      cancelled: signal,
      session: holder?.caller,
      author: authorOf(server.getClientVersion(), session),
      // A request without a session is served by a server of its own, which has just begun.
      began: session === undefined ? undefined : began,
      takePlace: () => (order?.arrive() ?? exchange?.arrival)?.call(),
      trace: traceOf(meta),
      promptUser: canBeSentRequests(server)
        ? promptUserOver(context, server.getClientCapabilities())
        : undefined,
      lease: holder?.open(id, signal),
    };
  };
  const { worker } = host;
  const { hasResources } = serverInfo[worker];
  const functions = [...host.functions.values()];
  const writes = functions.some(({ effect }) => effect === "writes");
  const hasCommands = worker === "coder" && functions.some(({ id }) => id.startsWith("shell::"));
  const others = session === undefined ? undefined : host.describeOthers();
  const instructions = [
    renderInstructions(worker, {
      writes,
      hasCommands,
      startRoot: host.startRoot,
      keepsJournal: host.keepsJournal,
      hasSession: session !== undefined,
      approval: host.approval,
      roots: host.listRoots(),
    }),
    ...(others === undefined || !writes ? [] : [others]),
    ...host.commandRules,
  ];
  const server: Server = new WordedServer(
    { name: worker, version: about.version, description: descriptions[worker] },
    {
      capabilities: { tools: {}, ...(hasResources && resourceCapabilities) },
      instructions: instructions.join("\n"),
      jsonSchemaValidator: anyContent,
    },
  );
  offerTools(server, host, optionsOf);
  if (hasResources) offerResources(server, host, { optionsOf, watch });
  const askForRoots = showRoots(server, host.log);
  server.oninitialized = () => {
    askForRoots();
    watch?.open();
  };
  return server;
}

/** A validator of what users fill in: nothing, since they only accept or decline. The SDK's own is large. */
const anyContent: jsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
};

/** Registers the handlers of tools. */
function offerTools(
  server: Server,
  host: ToolHost,
  optionsOf: (context: ServerContext) => CallOptions,
): void {
  const hasApp = (context: ServerContext) => host.hasApp && showsApps(capabilitiesOf(server, context));
  server.setRequestHandler("tools/list", (_, context) => {
    host.warmUpSoon();
    return { tools: hasApp(context) ? toolsWithApp(host) : [...host.tools] };
  });
  server.setRequestHandler("tools/call", ({ params }, context) => {
    if (params.name === appTool && hasApp(context))
      return callForApp(host, params.arguments ?? {}, optionsOf(context));
    const definition = host.functions.get(params.name);
    if (definition === undefined) throw unknownTool(params.name, [...host.functions.keys()]);
    return callTool(host, {
      definition,
      payload: params.arguments ?? {},
      context,
      options: optionsOf(context),
      hasApp: hasApp(context),
    });
  });
}

const resourceCapabilities = { resources: { subscribe: true, listChanged: true }, completions: {} };

/** Returns whether the revision of the client has requests from the server, which ended with 2026-07-28. */
const canBeSentRequests = (server: Server): boolean =>
  (server.getNegotiatedProtocolVersion() ?? "") < "2026-07-28";

/** Returns the capabilities of a client, which revision 2026-07-28 sends with each request. */
function capabilitiesOf(server: Server, { mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const sent = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return sent ?? server.getClientCapabilities();
}

/** Returns the author of a client's calls, from what it claims about itself. */
function authorOf(
  client: { readonly name: string; readonly version: string } | undefined,
  session: string | undefined,
): Author {
  const name = client && nameOf(client);
  if (session === undefined) return { client: name ?? "a client" };
  return { ...(name !== undefined && { client: name }), session };
}

/** The names of clients, each of which makes many calls. */
const names = new WeakMap<object, string>();

/** Returns the name and the version that a client claims. */
function nameOf(client: { readonly name: string; readonly version: string }): string {
  const known = names.get(client);
  if (known !== undefined) return known;
  const name = claimedName(`${client.name} ${client.version}`);
  names.set(client, name);
  return name;
}

/** Returns the trace in the metadata of a request, from the keys that MCP reserves for it. */
function traceOf(meta: Readonly<Record<string, unknown>> = {}): TraceParent {
  const textAt = (key: string) => (typeof meta[key] === "string" ? meta[key] : undefined);
  return { traceparent: textAt("traceparent"), tracestate: textAt("tracestate"), baggage: textAt("baggage") };
}

interface ToolCall {
  readonly definition: FunctionDefinition;
  readonly payload: unknown;
  readonly context: ServerContext;
  readonly options: CallOptions;
  /** Whether the client shows the page beside the result. */
  readonly hasApp: boolean;
}

async function callTool(host: ToolHost, { definition, payload, context, options, hasApp }: ToolCall) {
  using progress = reportProgress(context, host.millisecondsOf(definition));
  const { onOutput } = progress;
  const outcome = await host.call(definition, payload, { ...options, onOutput });
  const result = await host.render(definition, payload, outcome);
  if ("error" in outcome) return result;
  const shown = hasApp ? withCheckpointKey(result, outcome.answer) : result;
  return currentExchange.getStore()?.late.withTokens(shown, outcome.bytes) ?? shown;
}

function unknownTool(name: string, names: readonly string[]): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool ${quoteBriefly(name)}; the tools are ${names.join(", ")}.`,
  );
}
