/**
 * The audit trail: one line for each call, with its changes, and never with contents. A listener of mutations
 * collects the changes of a call; the line is written when the call has its outcome, before that is sent.
 */

import type { Log } from "../../base/log/log.ts";
import { hashFileAhead, largestHashed } from "../../filesystem/disk/hash-ahead.ts";
import type {
  Mutation,
  MutationListener,
  MutationOutcome,
  StepEntries,
} from "../../filesystem/disk/mutation.ts";
import { errnoOf } from "../../filesystem/jail/errno.ts";
import type { FinishedCall } from "../contract/definition.ts";
import { fsScopeField } from "../contract/fs-scope.ts";
import { somePath } from "../contract/request-paths.ts";
import type { AuditFile } from "./audit-file.ts";

/** The changes that a call has made so far. */
interface Collected {
  changes: Mutation[];
  more: number;
}

/** Maximum changes, and maximum paths, that a line names. It counts the rest. */
const maxNamed = 200;

/** Maximum paths of a call that are compared. A repeated one counts again if it comes after these. */
const maxDistinct = 10_000;

/** The file that lines are appended to. */
export type AuditTarget = Pick<AuditFile, "newest" | "append" | "close">;

export class Audit implements MutationListener {
  readonly #file: AuditTarget;
  readonly #log: Log;
  readonly #collected = new WeakMap<object, Collected>();

  constructor(file: AuditTarget, log: Log) {
    this.#file = file;
    this.#log = log;
  }

  /** The hash of the newest line. */
  get newest(): string {
    return this.#file.newest;
  }

  async readAhead({ replaced, placed }: StepEntries): Promise<void> {
    for (const find of [replaced, placed]) await hashFileAhead(find?.(), largestHashed);
  }

  before(mutation: Mutation): void {
    // The bytes are gone afterwards.
    if (!mutation.isTree) mutation.revisionBefore();
  }

  after(mutation: Mutation, outcome: MutationOutcome): void {
    const { requester } = mutation;
    if (requester === undefined) return;
    const call = requester.call ?? requester;
    const collected = this.#collected.get(call) ?? { changes: [], more: 0 };
    this.#collected.set(call, collected);
    if (mutation.isTree) {
      // The steps of a transaction that failed have been rolled back.
      if (outcome === "failed" && mutation.kind === "transaction")
        collected.changes = collected.changes.filter(({ whole }) => whole !== mutation);
      return;
    }
    if (outcome === "failed") return;
    mutation.revisionAfter();
    if (collected.changes.length < maxNamed) collected.changes.push(mutation);
    else collected.more++;
  }

  /** Writes the line of a call. Errors are logged, and do not affect the caller. */
  onFinished({ definition, request, context, status, milliseconds }: FinishedCall): void {
    const { paths, morePaths } = pathsNamed(request, definition);
    const { changes, more } = this.#collected.get(context.call ?? context) ?? { changes: [], more: 0 };
    const fields = {
      time: new Date().toISOString(),
      function: definition.id,
      program: request === undefined ? undefined : definition.program?.(request),
      caller: context.caller,
      author: context.caller === undefined ? context.author : undefined,
      paths,
      fs_scope: (request as Readonly<Record<string, unknown>> | undefined)?.[fsScopeField],
      more_paths: morePaths === 0 ? undefined : morePaths,
      approval: context.approvals?.outcomeOf(context.call ?? context),
      ...status,
      ms: Math.round(milliseconds * 1000) / 1000,
      changes: changes.length === 0 ? undefined : changes.map(describe),
      more_changes: more === 0 ? undefined : more,
    };
    try {
      this.#file.append(fields);
    } catch (error) {
      this.#log.error("the audit trail has no line for a call", {
        function: definition.id,
        reason: errnoOf(error) ?? String(error),
      });
    }
  }

  close(): void {
    this.#file.close();
  }
}

/** Returns the paths of a request that its line names, and the number of the others. */
function pathsNamed(request: unknown, { paths: fields }: FinishedCall["definition"]) {
  const distinct = new Set<string>();
  let beyond = 0;
  somePath(request, fields, (path) => {
    if (distinct.size < maxDistinct) distinct.add(path);
    else beyond++;
    return false;
  });
  const paths = [...distinct].slice(0, maxNamed);
  return { paths, morePaths: distinct.size - paths.length + beyond };
}

/** Describes a change for its line, with revisions if content is concerned (coder §14). */
function describe(mutation: Mutation): Readonly<Record<string, string | undefined>> {
  const { kind, path, from, whole } = mutation;
  return {
    kind,
    path,
    from,
    before: mutation.revisionBefore(),
    after: mutation.revisionAfter(),
    transaction: whole?.transaction?.id,
  };
}
