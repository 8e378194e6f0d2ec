import type { ServerContext } from "@modelcontextprotocol/server";
import type { Origin } from "../../calls/contract/origin.ts";

const everyMilliseconds = 1000;

/** Maximum characters of output in a notification. */
const maxShown = 2000;

/** The notifications of a call, until disposed of. */
export interface ProgressReport extends Disposable {
  /** Absent if the caller has not requested progress. */
  readonly onOutput?: Origin["onOutput"];
}

/**
 * Notifies a caller that requested progress once a second: of the seconds since its call began, and of their
 * maximum, with the end of the output that a program has written since the last notification, or else with
 * the seconds in words.
 */
export function reportProgress({ mcpReq }: ServerContext, limitMilliseconds: number): ProgressReport {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { [Symbol.dispose]: () => {} };
  const output = new RecentText();
  let seconds = 0;
  const timer = setInterval(() => {
    seconds++;
    const total = Math.max(seconds, Math.ceil(limitMilliseconds / 1000));
    const message = output.take() || `working for ${seconds} s`;
    const params = { progressToken, progress: seconds, total, message };
    void mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  }, everyMilliseconds);
  return {
    onOutput(piece, from) {
      output.add(piece, from);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** The end of the text written since it was last taken. */
class RecentText {
  /** A character may come in two pieces. */
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  #text = "";

  add(piece: Uint8Array, from: "stdout" | "stderr"): void {
    this.#text = (this.#text + this.#decoders[from].decode(piece, { stream: true })).slice(-maxShown);
  }

  take(): string {
    const taken = this.#text.toWellFormed().trim();
    this.#text = "";
    return taken;
  }
}
