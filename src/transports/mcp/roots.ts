import type { Server } from "@modelcontextprotocol/server";
import type { Log } from "../../base/log/log.ts";

/** Maximum characters of the roots in a log line, to keep it readable. */
const maxCharacters = 1000;

/**
 * Logs the roots of a client for the operator whenever they have changed, and when the returned function is
 * called. They have no effect, because only the configuration decides what calls can reach. Revision
 * 2026-07-28 has no roots, so only older clients are queried.
 */
export function showRoots(server: Server, log: Log): () => void {
  const show = async () => {
    if (server.getClientCapabilities()?.roots === undefined) return;
    const { roots } = await server.listRoots();
    const shown = roots.map(({ uri }) => uri).join(" ");
    log.info("client roots, which do not change base_path", { roots: shown.slice(0, maxCharacters) });
  };
  const tryToShow = () => void show().catch(() => log.debug("the client did not say its roots"));
  server.setNotificationHandler("notifications/roots/list_changed", tryToShow);
  return tryToShow;
}
