import type { Server } from "@modelcontextprotocol/server";
import type { Log } from "../log/log.ts";

/** A line of the log stays a line that a person reads. */
const mostCharacters = 1000;

/**
 * Shows the operator which folders a client calls its roots. They change nothing: what can be reached is for the
 * configuration to say, never for a caller. Revision 2026-07-28 has no roots, so only older clients have them requested.
 */
export function showRoots(server: Server, log: Log): void {
  const show = async () => {
    if (server.getClientCapabilities()?.roots === undefined) return;
    const { roots } = await server.listRoots();
    const shown = roots.map(({ uri }) => uri).join(" ");
    log.info("client roots, which do not change base_path", { roots: shown.slice(0, mostCharacters) });
  };
  const tryToShow = () => void show().catch(() => log.debug("the client did not say its roots"));
  server.oninitialized = tryToShow;
  server.setNotificationHandler("notifications/roots/list_changed", tryToShow);
}
