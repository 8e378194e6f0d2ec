/** The way to the worker: over HTTP from the page that it serves, or through a host of MCP Apps. */

/** An error of a call: the worker's sentence, and its code. */
export class RefusedCall extends Error {
  override readonly name = "RefusedCall";
  readonly code: string | undefined;

  constructor(text: string) {
    const { message, code } = parseError(text);
    super(message);
    this.code = code;
  }
}

/** The worker does not answer, or no longer knows this page. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

function parseError(text: string): { message: string; code?: string } {
  try {
    const value = JSON.parse(text);
    return typeof value?.message === "string" ? value : { message: text };
  } catch {
    return { message: text };
  }
}

/** The state of the connection. `hosted`: a host has it, and reports no changes. */
export type LinkState = "live" | "connecting" | "gone" | "hosted";

export interface LinkListeners {
  /** Called after changes of the tree. */
  readonly onChange: () => void;
  /** Called when the worker has gone away, and when it is back. */
  readonly onState: (state: LinkState) => void;
  /** Called when other calls wait for approval than before. */
  readonly onApprovals: () => void;
}

export interface Link {
  /** Sends a payload to a function of the worker, and resolves to its answer. */
  send(id: string, payload: object): Promise<unknown>;
  /** Follows the worker. Returns a function that ends it. */
  follow(listeners: LinkListeners): () => void;
}

let current: Link | undefined;

/** Sends all later calls over a link. */
export function connectOver(link: Link): void {
  current = link;
}

/** Returns the link of all calls. Throws before `connectOver`. */
export function currentLink(): Link {
  if (current === undefined) throw new Unreachable("The page is not connected yet.");
  return current;
}
