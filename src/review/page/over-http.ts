/** The worker that serves the page: its calls, its events, and the calls that wait for approval. */
import { type Link, type LinkListeners, RefusedCall, Unreachable } from "./link.ts";

export const overHttp: Link = { send, follow };

async function send(id: string, payload: object): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(`call/${id}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(payload),
    });
  } catch {
    throw new Unreachable("The worker does not answer.");
  }
  if (!response.ok) throw new Unreachable((await response.text()).trim());
  const { answer, error } = await response.json();
  if (error !== undefined) throw new RefusedCall(error);
  return answer;
}

function follow({ onChange, onState, onApprovals }: LinkListeners): () => void {
  let source: EventSource;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    source = new EventSource("events");
    source.addEventListener("open", () => onState("live"));
    source.addEventListener("approvals", onApprovals);
    source.addEventListener("changed", onChange);
    source.addEventListener("error", () => {
      onState("gone");
      // The browser reconnects by itself unless the answer was an error.
      if (source.readyState !== EventSource.CLOSED) return;
      retry = setTimeout(open, 2000);
    });
  };
  open();
  return () => {
    clearTimeout(retry);
    source.close();
  };
}

/** A call that waits for approval. */
export interface WaitingCall {
  readonly id: string;
  readonly function: string;
  readonly author: string;
  readonly expires: number;
  readonly summary: readonly string[];
  readonly diff: string;
  readonly isDiffCut: boolean;
}

export async function readWaiting(): Promise<readonly WaitingCall[]> {
  const response = await fetch("approvals");
  return response.ok ? await response.json() : [];
}

/** Approves or declines a call. Resolves to "gone" if another answer came first, or the call has ended. */
export async function answerWaiting(id: string, verdict: "yes" | "no"): Promise<"taken" | "gone"> {
  const response = await fetch("approvals", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id, verdict }),
  });
  return response.ok ? await response.json() : "gone";
}
