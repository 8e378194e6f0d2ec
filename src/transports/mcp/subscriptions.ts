/** Requests for notifications in revision 2026-07-28, `subscriptions/listen`. */
import { isJSONRPCRequest, type JSONRPCRequest, type SubscriptionFilter } from "@modelcontextprotocol/server";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { maxSubscriptions, type ResourceWatch } from "./resource-watch.ts";

/** Maximum concurrent requests: of all clients over HTTP, of the only one on stdio. */
export const maxListens = 64;

/** Returns whether the message is such a request. */
export const isListen = (message: unknown): message is JSONRPCRequest =>
  (message as Partial<JSONRPCRequest> | null)?.method === "subscriptions/listen" && isJSONRPCRequest(message);

/**
 * Subscribes the client to the resources that the request names. Resolves, once that has begun, to the
 * request without the addresses that cannot be subscribed to. The SDK acknowledges the remaining ones.
 */
export async function beginListen(watch: ResourceWatch, request: JSONRPCRequest): Promise<JSONRPCRequest> {
  const filter = request.params?.["notifications"] as SubscriptionFilter | null | undefined;
  if (filter?.resourcesListChanged === true) await watch.openToAll().catch(() => {});
  const uris = filter?.resourceSubscriptions;
  // The SDK refuses malformed addresses.
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === "string")) return request;
  const begun: string[] = [];
  const slice = createTimeSlice();
  for (const uri of uris.slice(0, maxSubscriptions.count)) {
    if (await begins(watch, uri)) begun.push(uri);
    await slice.yieldIfDue();
  }
  const notifications = { ...filter, resourceSubscriptions: begun };
  return { ...request, params: { ...request.params, notifications } };
}

const begins = (watch: ResourceWatch, uri: string): Promise<boolean> =>
  watch.subscribe(uri).then(
    () => true,
    () => false,
  );
