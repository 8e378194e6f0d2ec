import type { ServerContext } from "@modelcontextprotocol/server";

const everyMilliseconds = 1000;

/**
 * Notifies a caller that requested progress once a second: of the seconds since its call began, and those that it may
 * take. Disposing stops it.
 */
export function reportProgress({ mcpReq }: ServerContext, limitMilliseconds: number): Disposable {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { [Symbol.dispose]: () => {} };
  let seconds = 0;
  const timer = setInterval(() => {
    seconds++;
    const total = Math.max(seconds, Math.ceil(limitMilliseconds / 1000));
    const params = { progressToken, progress: seconds, total, message: `working for ${seconds} s` };
    void mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  }, everyMilliseconds);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
