/** A trace, and calls in it. */
export const traceId = "0af7651916cd43dd8448eb211c80319c";
export const parentId = "b7ad6b7169203331";
export const traceparent = `00-${traceId}-${parentId}-01`;

/** Adds the trace to the calls of a client, which the SDK does for workers with a trace. */
export function traceCallsOf(client: object): void {
  const sdk = client as { sendMessage(type: string, message: object, more?: boolean): void };
  const send = sdk.sendMessage.bind(sdk);
  sdk.sendMessage = (type, message, more) => send(type, { ...message, traceparent }, more);
}

/** One call that is answered if `a.txt` exists, and one that is refused. */
export const tracedCalls = [
  ["coder::read-file", { path: "a.txt" }],
  ["coder::read-file", { path: "none.txt" }],
] as const;
