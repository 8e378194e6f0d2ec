import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Approvals } from "../calls/approval/approvals.ts";
import type { ReportedChange, TreeChanges } from "../calls/contract/tree-changes.ts";

/** Milliseconds between the first change and the event that reports it with those after it. */
const batchMilliseconds = 100;

/** Maximum paths in one event. A page that gets more reads everything again. */
const maxPaths = 200;

/** Milliseconds between two heartbeats, without which each side notices that the other has gone. */
const beatMilliseconds = 20_000;

/** Maximum open streams: a browser opens one for each tab. */
const maxStreams = 32;

/** The streams of events of all open pages (server-sent events, HTML 9.2). */
export class EventStreams {
  readonly #treeChanges: () => TreeChanges | undefined;
  readonly #approvals: () => Approvals | undefined;
  readonly #open = new Set<EventStream>();

  constructor(treeChanges: () => TreeChanges | undefined, approvals: () => Approvals | undefined) {
    this.#treeChanges = treeChanges;
    this.#approvals = approvals;
  }

  /**
   * Answers with a stream, which stays open until its page closes. Beyond the maximum the oldest is closed.
   */
  open(outgoing: ServerResponse, headers: OutgoingHttpHeaders): void {
    const [oldest] = this.#open;
    if (this.#open.size >= maxStreams) oldest?.close();
    outgoing.writeHead(200, { ...headers, "content-type": "text/event-stream" });
    const stream = new EventStream(outgoing, this.#treeChanges, this.#approvals());
    this.#open.add(stream);
    outgoing.once("close", () => {
      stream.close();
      this.#open.delete(stream);
    });
  }

  close(): void {
    for (const stream of this.#open) stream.close();
  }
}

class EventStream {
  readonly #outgoing: ServerResponse;
  readonly #treeChanges: () => TreeChanges | undefined;
  readonly #source: TreeChanges | undefined;
  readonly #end: (() => void) | undefined;
  readonly #answering: readonly Disposable[];
  readonly #beat: NodeJS.Timeout;
  #batch: NodeJS.Timeout | undefined;
  #paths = new Set<string>();
  #isAll = false;

  constructor(outgoing: ServerResponse, treeChanges: () => TreeChanges | undefined, approvals?: Approvals) {
    this.#outgoing = outgoing;
    this.#treeChanges = treeChanges;
    this.#source = treeChanges();
    this.#end = this.#source?.open((change) => this.#add(change));
    // From here on, changes by other processes are reported too, such as those of an agent's own worker.
    void this.#source?.watch().catch(() => {});
    this.#beat = setInterval(() => this.#sendBeat(), beatMilliseconds).unref();
    // While a page is open, calls wait for its answer.
    this.#answering =
      approvals === undefined
        ? []
        : [approvals.openPlace(), approvals.onChange(() => this.#send("approvals", {}))];
    this.#send("open", {});
  }

  close(): void {
    this.#end?.();
    for (const one of this.#answering) one[Symbol.dispose]();
    clearInterval(this.#beat);
    clearTimeout(this.#batch);
    this.#outgoing.end();
  }

  #add(change: ReportedChange): void {
    this.#batch ??= setTimeout(() => this.#sendBatch(), batchMilliseconds);
    if (this.#isAll) return;
    const { path, from = path, isGap = false } = change;
    this.#paths.add(path).add(from);
    if (isGap || this.#paths.size > maxPaths) this.#isAll = true;
  }

  #sendBatch(): void {
    const paths = this.#isAll ? undefined : [...this.#paths];
    this.#batch = undefined;
    this.#paths = new Set();
    this.#isAll = false;
    this.#send("changed", { paths });
  }

  /**
   * Sends a heartbeat, or closes the stream after a reload, which replaces the source of changes. The page
   * then opens a new one.
   */
  #sendBeat(): void {
    if (this.#treeChanges() === this.#source) this.#outgoing.write(": beat\n\n");
    else this.close();
  }

  #send(event: string, data: object): void {
    this.#outgoing.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}
