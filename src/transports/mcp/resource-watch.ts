/** Notifies one session of changes of resources: of the files that it has subscribed to, and of the list. */
import { setTimeout } from "node:timers/promises";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { createTimeSlice, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import type { ReportedChange, TreeChanges } from "../../calls/contract/tree-changes.ts";
import { quoteBriefly } from "./messages.ts";
import { maxAddress, pathOf } from "./resource-uris.ts";

/** The destination of a session's notifications. */
export interface NotificationSink {
  /**
   * Resolves when the client has read everything sent, so that a client that does not read cannot fill the
   * memory.
   */
  ready(): Promise<void>;
  resourceUpdated(uri: string): Promise<void>;
  resourceListChanged(): Promise<void>;
}

/** Maximum subscriptions of a session, and maximum characters of their addresses. */
export const maxSubscriptions = { count: 1000, characters: maxAddress } as const;

/** Minimum milliseconds of gathering changes, and milliseconds from one sending to the next. */
const gathering = { least: 50, every: 1000 } as const;

interface Subscription {
  /** The path relative to the base, as changes report it. */
  readonly path: string;
  /** The number of the newest change when the subscription began. */
  from: number;
  /** Resolves when it has begun. */
  begun: Promise<void>;
}

export class ResourceWatch {
  readonly #changes: TreeChanges;
  readonly #sink: NotificationSink;
  readonly #slice: TimeSlice;
  /** The subscriptions by their addresses, as sent by the client. */
  readonly #subscriptions = new Map<string, Subscription>();
  /** The addresses by their paths. */
  readonly #addresses = new Map<string, Set<string>>();
  /** The subscribed paths, sorted, or `undefined` after they have changed. */
  #sorted: readonly string[] | undefined;
  #characters = 0;
  /** The addresses that the client is to be notified of. */
  readonly #updated = new Set<string>();
  #hasListChanged = false;
  /** Whether the client wants changes of the list. */
  #wantsList = false;
  #isSending = false;
  /** The time of the last sending (`performance.now()`). */
  #sentAt = Number.NEGATIVE_INFINITY;
  #end: (() => void) | undefined;
  readonly #closing = new AbortController();

  /** Creates a watch. All of a process share a slice, since many sessions begin to send in the same turn. */
  constructor(changes: TreeChanges, sink: NotificationSink, slice = createTimeSlice()) {
    this.#changes = changes;
    this.#sink = sink;
    this.#slice = slice;
  }

  /** Starts notifications of changes of the list of resources. */
  open(): void {
    this.#wantsList = true;
    this.#follow();
  }

  /** Like `open`, but changes by other programs count too. Throws a refusal if the base is gone. */
  async openToAll(): Promise<void> {
    this.open();
    await this.#changes.watch();
  }

  /**
   * Notifies of changes of this file, starting when the promise resolves. The file need not exist, so the
   * answer reveals nothing about it. Throws for an address of no file, and if there are too many
   * subscriptions.
   */
  async subscribe(uri: string): Promise<void> {
    const path = watchedPath(uri);
    const known = this.#subscriptions.get(uri);
    if (known !== undefined) return known.begun;
    const { count, characters } = maxSubscriptions;
    if (this.#subscriptions.size === count || this.#characters + uri.length > characters)
      throw invalid(
        `A session has at most ${count} subscriptions, whose addresses have at most ${characters} characters together; end one with resources/unsubscribe.`,
      );
    const subscription = { path, from: Number.POSITIVE_INFINITY, begun: Promise.resolve() };
    this.#subscriptions.set(uri, subscription);
    this.#addresses.set(path, new Set(this.#addresses.get(path)).add(uri));
    this.#sorted = undefined;
    this.#characters += uri.length;
    this.#follow();
    subscription.begun = this.#begin(uri, subscription);
    return subscription.begun;
  }

  unsubscribe(uri: string): void {
    const subscription = this.#subscriptions.get(uri);
    if (subscription === undefined) return;
    const others = this.#addresses.get(subscription.path)!;
    others.delete(uri);
    if (others.size === 0) this.#addresses.delete(subscription.path);
    this.#sorted = undefined;
    this.#subscriptions.delete(uri);
    this.#characters -= uri.length;
    this.#updated.delete(uri);
  }

  close(): void {
    this.#closing.abort();
    this.#end?.();
    this.#end = undefined;
    this.#subscriptions.clear();
    this.#addresses.clear();
    this.#updated.clear();
  }

  #follow(): void {
    if (!this.#closing.signal.aborted) this.#end ??= this.#changes.open((change) => this.#take(change));
  }

  async #begin(uri: string, subscription: Subscription): Promise<void> {
    try {
      subscription.from = await this.#changes.watch();
    } catch (error) {
      // The client may have ended it during the wait, and sent another one.
      if (this.#subscriptions.get(uri) === subscription) this.unsubscribe(uri);
      throw error;
    }
  }

  #take(change: ReportedChange): void {
    const { seq, kind, isGap = false } = change;
    if (this.#wantsList && (kind !== "modified" || isGap)) this.#hasListChanged = true;
    for (const path of this.#pathsOf(change))
      for (const uri of this.#addresses.get(path) ?? [])
        if (isGap || seq > this.#subscriptions.get(uri)!.from) this.#updated.add(uri);
    if (this.#hasNews) void this.#send();
  }

  /** Returns the paths that a change affects, including all subscribed ones. */
  #pathsOf({ path, from = path, kind, isFolder, isGap = false }: ReportedChange): Iterable<string> {
    if (!isGap && (!isFolder || kind === "modified")) return new Set([path, from]);
    if (isGap) return this.#addresses.keys();
    return new Set([path, from].flatMap((folder) => this.#atOrBelow(folder)));
  }

  /**
   * Returns the subscribed paths there without visiting all others, because programs make thousands of
   * folders at once.
   */
  #atOrBelow(folder: string): readonly string[] {
    this.#sorted ??= [...this.#addresses.keys()].sort();
    const sorted = this.#sorted;
    if (folder === ".") return sorted;
    const start = `${folder}/`;
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]! < start) low = middle + 1;
      else high = middle;
    }
    const found = [folder];
    for (; sorted[low]?.startsWith(start); low++) found.push(sorted[low]!);
    return found;
  }

  /** Sends the gathered notifications, each once, until none are left. */
  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    const { signal } = this.#closing;
    try {
      while (this.#hasNews && !signal.aborted) {
        const pause = Math.max(gathering.least, this.#sentAt + gathering.every - performance.now());
        await setTimeout(pause, undefined, { signal, ref: false });
        await this.#sendAll();
        this.#sentAt = performance.now();
      }
    } catch {
      // The session has ended, so there is no reader to notify.
    } finally {
      this.#isSending = false;
    }
  }

  get #hasNews(): boolean {
    return this.#hasListChanged || this.#updated.size > 0;
  }

  async #sendAll(): Promise<void> {
    if (this.#hasListChanged) {
      await this.#sink.ready();
      // The session may have ended during the wait.
      if (this.#closing.signal.aborted) return;
      this.#hasListChanged = false;
      await this.#sink.resourceListChanged();
    }
    for (const uri of [...this.#updated]) {
      if (this.#slice.isDue) await this.#slice.yieldIfDue();
      await this.#sink.ready();
      // The session may have unsubscribed during the wait.
      if (this.#updated.delete(uri)) await this.#sink.resourceUpdated(uri);
    }
  }
}

/**
 * Returns the path in the address, as changes report it. Throws for a path that no change can report, such as
 * one with `..`, which depends on links.
 */
function watchedPath(uri: string): string {
  const path = pathOf(uri);
  const plain = withoutEmptyNames(path);
  if (path.startsWith("/") || plain === "" || /(?:^|\/)\.\.(?:\/|$)/.test(plain))
    throw invalid(
      `The address ${quoteBriefly(uri)} cannot be subscribed to; send that of a file by its path from the base, without "..".`,
    );
  return plain;
}

/** Returns a path without its names "" and ".". An array of all its names would take ten times as long. */
function withoutEmptyNames(path: string): string {
  const joined = path.replace(/\/(?:\.?\/)+/g, "/");
  return joined.replace(/^\.?\//, "").replace(/\/\.?$|^\.$/, "");
}

const invalid = (sentence: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, sentence);
