/**
 * Returns whether `payload` comes from an HTTP trigger of the engine: its `path` is that of the URL, and
 * `body` has the caller's request.
 */
export function isHttpRequest(payload: unknown): boolean {
  if (typeof payload !== "object" || payload === null) return false;
  const { path, method, headers } = payload as Readonly<Record<string, unknown>>;
  return (
    typeof path === "string" &&
    path.startsWith("/") &&
    typeof method === "string" &&
    typeof headers === "object" &&
    "body" in payload
  );
}
