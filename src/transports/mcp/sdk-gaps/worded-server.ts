import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
  specTypeSchemas,
} from "@modelcontextprotocol/server";

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** The requests with params, their names in the SDK's schemas, and what to send. */
const requests = {
  "tools/call": [
    "CallToolRequest",
    "Send the `name` of a tool that tools/list names, and its `arguments` as an object.",
  ],
  "tools/list": ["ListToolsRequest", "Send it without params."],
  "resources/list": [
    "ListResourcesRequest",
    "Send it without params, or with the `nextCursor` of an answer.",
  ],
  "resources/templates/list": ["ListResourceTemplatesRequest", "Send it without params."],
  "resources/read": ["ReadResourceRequest", "Send the `uri` of a file, such as coder:///README.md."],
  "resources/subscribe": ["SubscribeRequest", "Send the `uri` of a file, such as coder:///README.md."],
  "resources/unsubscribe": ["UnsubscribeRequest", "Send the `uri` of a subscription."],
  "completion/complete": [
    "CompleteRequest",
    "Send a `ref` with a type and a uri, and an `argument` with a name and a value.",
  ],
} as const;

/** The SDK's server, which says in a sentence what it misses in the params of a request. */
export class WordedServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await wrapped(request, context);
      } catch (error) {
        throw faultOf(request) ?? error;
      }
    };
  }
}

/** Returns the error for params that do not fit their schema, if it is known. */
function faultOf(request: JSONRPCRequest): ProtocolError | undefined {
  if (!Object.hasOwn(requests, request.method)) return undefined;
  const [name, advice] = requests[request.method as keyof typeof requests];
  const { issues: [issue] = [] } = specTypeSchemas[name]["~standard"].validate(request);
  if (issue === undefined) return undefined;
  const path = (issue.path ?? []).map((key) => String(typeof key === "object" ? key.key : key));
  const what = isMissing(request, path) ? "is missing" : "is not what the protocol says";
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `\`${path.join(".").slice(0, maxPathLength)}\` ${what} in this request of ${request.method}, so nothing was carried out. ${advice}`,
  );
}

/** Maximum characters of a path in a sentence. */
const maxPathLength = 100;

function isMissing(request: JSONRPCRequest, path: readonly string[]): boolean {
  let value: unknown = request;
  for (const key of path) value = (value as Record<string, unknown> | undefined)?.[key];
  return value === undefined;
}
