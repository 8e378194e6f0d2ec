import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** The requests with params, and what to send. */
const requests: Readonly<Record<string, string>> = {
  "tools/call": "Send the `name` of a tool that tools/list names, and its `arguments` as an object.",
  "tools/list": "Send it without params.",
  "resources/list": "Send it without params, or with the `nextCursor` of an answer.",
  "resources/templates/list": "Send it without params.",
  "resources/read": "Send the `uri` of a file, such as coder:///README.md.",
  "resources/subscribe": "Send the `uri` of a file, such as coder:///README.md.",
  "resources/unsubscribe": "Send the `uri` of a subscription.",
  "completion/complete": "Send a `ref` with a type and a uri, and an `argument` with a name and a value.",
};

/** The SDK's server, which says in a sentence what it misses in the params of a request. */
export class WordedServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await wrapped(request, context);
      } catch (error) {
        throw faultOf(request, error) ?? error;
      }
    };
  }
}

/** Returns the error for params that do not fit their schema, if `error` is the SDK's about them. */
function faultOf(request: JSONRPCRequest, error: unknown): ProtocolError | undefined {
  const path = pathIn(error);
  if (path === undefined || !Object.hasOwn(requests, request.method)) return undefined;
  const what = isMissing(request, path) ? "is missing" : "is not what the protocol says";
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `\`${path.join(".").slice(0, maxPathLength)}\` ${what} in this request of ${request.method}, so nothing was carried out. ${requests[request.method]}`,
  );
}

/** Returns the path of the first issue in an error of the SDK, which has them as JSON at its end. */
function pathIn(error: unknown): string[] | undefined {
  const { message } = error as Error;
  try {
    const [{ path }] = JSON.parse(message.slice(message.indexOf("[")));
    return path.map(String);
  } catch {
    return undefined;
  }
}

/** Maximum characters of a path in a sentence. */
const maxPathLength = 100;

function isMissing(request: JSONRPCRequest, path: readonly string[]): boolean {
  let value: unknown = request;
  for (const key of path) value = (value as Record<string, unknown> | undefined)?.[key];
  return value === undefined;
}
