/** Makes the calls of the escape matrix and finds their faults. */
import { errorFaults, parseEntryError, parseWireError } from "../harness/errors.ts";
import { defaultOtherPaths, type OtherPaths } from "../harness/path-arguments.ts";
import { expandBase, expandPayload, type Snapshot } from "../harness/tree.ts";
import type { ClientOutcome, WorkerFixture } from "../harness/worker-fixture.ts";
import { expectedResult, type PathCall } from "./calls.ts";
import {
  type Call,
  type CallResult,
  commonTree,
  type EscapeCase,
  isForbidden,
  secrets,
} from "./escape-case.ts";
import { changedKeys, leaksIn, stampsOutside } from "./probe.ts";

/** The way the base is served: alone, or as a root with a name, which may be read-only. */
export interface Layout {
  /** The beginning of every path that is sent. */
  readonly prefix: string;
  readonly isReadOnly: boolean;
  /** The `fs_scope` of each call. */
  readonly scope?: object;
  /** Whether the scope is a part of the served tree. Leaving it is C220 in place of C215. */
  readonly isSession?: boolean;
}

/** An escape case, and its tree before a call. */
interface Standing {
  readonly escapeCase: EscapeCase;
  readonly before: Snapshot;
  readonly stamps: ReturnType<typeof stampsOutside>;
}

export const asBase: Layout = { prefix: "", isReadOnly: false };

/** Makes calls to one worker and judges them. */
export class Judge {
  readonly #served: WorkerFixture;
  readonly #layout: Layout;
  readonly #absence: string;
  readonly #others: OtherPaths;
  /** The escape case that is built, unless a call has changed something. */
  #standing: Standing | undefined;

  private constructor(served: WorkerFixture, layout: Layout, absence: string) {
    this.#served = served;
    this.#layout = layout;
    this.#absence = absence;
    const { there, free } = defaultOtherPaths;
    this.#others = { there: layout.prefix + there, free: layout.prefix + free };
  }

  static async of(served: WorkerFixture, layout: Layout = asBase): Promise<Judge> {
    const { error } = await served.call("coder::read-file", { path: "nowhere" });
    return new Judge(served, layout, parseWireError(error!).message);
  }

  /**
   * Returns the faults of a call on an escape case: in its answer, in what the answer reveals, and in its
   * changes.
   */
  async faults(escapeCase: EscapeCase, pathCall: PathCall): Promise<string[]> {
    const served = this.#served;
    const { before, stamps } = this.#stand(escapeCase);
    const path = this.#layout.prefix + escapeCase.path;
    const { scope } = this.#layout;
    const sent = pathCall.payload(path, this.#others) as object;
    const payload = expandPayload(scope === undefined ? sent : { ...sent, fs_scope: scope }, served.base);
    const outcome = await served.call(pathCall.id, payload);
    const after = served.snapshot();
    const changed = changedKeys(before, after);
    const isSameOutside = Bun.deepEquals(stampsOutside(served.root), stamps);
    this.#standing =
      changed.length === 0 && isSameOutside ? { escapeCase, before: after, stamps } : undefined;
    const given = { payload, root: served.root };
    const shown = JSON.stringify(outcome.answer ?? outcome.error?.message);
    const { isReadOnly } = this.#layout;
    const hasFoundNothing = pathCall.id === "coder::replace" && verdictOf(outcome).verdict === "ok";
    return [
      ...this.#verdictFaults(
        outcome,
        expectedResult(escapeCase, pathCall),
        expandBase(path, served.base),
        isReadOnly && pathCall.effect === "writes" && !hasFoundNothing
          ? pathCall.hasOtherPaths || escapeCase.expected.list === "ok"
          : undefined,
      ),
      ...errorFaults(outcome, given),
      ...leaksIn(shown, JSON.stringify(payload), served.root).map((leak) => `shows ${leak}: ${shown}`),
      ...(isReadOnly ? changed.map((key) => `changed ${key}`) : changeFaults(escapeCase, pathCall, changed)),
      ...changed.filter((key) => isSecret(key, after)).map((key) => `put a secret into ${key}`),
      ...(isSameOutside ? [] : ["changed something outside"]),
    ];
  }

  /** Builds the tree of an escape case, unless it is already built. */
  #stand(escapeCase: EscapeCase): Standing {
    if (this.#standing?.escapeCase === escapeCase) return this.#standing;
    const served = this.#served;
    served.build({ ...commonTree, ...escapeCase.tree });
    return { escapeCase, before: served.snapshot(), stamps: stampsOutside(served.root) };
  }

  #verdictFaults(
    outcome: ClientOutcome,
    expected: CallResult,
    path: string,
    reachesMore: boolean | undefined,
  ): string[] {
    const { verdict, message } = verdictOf(outcome);
    const isKept = this.#layout.isSession && verdict === "C220" && leavesSession(expected);
    const isRight =
      reachesMore !== undefined ? isKeptAs(verdict, expected, reachesMore) : verdict === expected || isKept;
    if (!isRight) return [`${verdict}, should be ${expected}: ${message}`];
    // A patch below a folder names the file that it would create there.
    const sentences = [path, `${path}/notes.md`].map((name) =>
      this.#absence.replaceAll('"nowhere"', () => JSON.stringify(name)),
    );
    return verdict !== "C211" || sentences.includes(message) ? [] : [`tells denied from missing: ${message}`];
  }
}

/** Returns whether an escape from the base, or its removal, may be refused as an escape from the session. */
const leavesSession = (expected: CallResult): boolean => expected === "C215" || expected === "C210";

/**
 * Returns whether a call that would write is refused rightly in a read-only root: as usual, or because the
 * root is read-only. The latter comes first if the call has more than one path, or is about the content of a
 * folder.
 */
const isKeptAs = (verdict: string, expected: CallResult, reachesMore: boolean): boolean =>
  verdict === "C222"
    ? reachesMore || (expected !== "C211" && expected !== "C215")
    : verdict === expected && verdict !== "ok";

/** Returns whether a file has a secret in it without being forbidden. */
const isSecret = (key: string, snapshot: Snapshot): boolean =>
  !isForbidden(key) && secrets.some((secret) => snapshot.get(key)?.content.includes(secret));

interface Result {
  readonly success?: boolean;
  readonly removed?: boolean;
  readonly created?: boolean;
  readonly error?: unknown;
}

function verdictOf({ answer, error }: ClientOutcome): { verdict: string; message: string } {
  if (error !== undefined) {
    const { code, message } = parseWireError(error);
    return { verdict: code, message };
  }
  const result = (answer as { results?: [Result] }).results?.[0];
  const failure = result?.error === undefined ? undefined : parseEntryError(result.error);
  if (failure !== undefined) return { verdict: failure.code, message: failure.message };
  const isDone = result?.removed !== false && result?.created !== false;
  return { verdict: isDone ? "ok" : "nothing", message: "" };
}

const writes: readonly Call[] = ["update", "create", "overwrite"];
const deletes: readonly Call[] = ["delete", "remove"];

/**
 * Returns the faults of a call's changes: one that works changes only its own place, and all others change
 * nothing.
 */
function changeFaults(escapeCase: EscapeCase, pathCall: PathCall, changed: readonly string[]): string[] {
  const { call } = pathCall;
  const isChange = expectedResult(escapeCase, pathCall) === "ok" && [...writes, ...deletes].includes(call);
  if (!isChange) return changed.map((key) => `changed ${key}`);
  // Only the mode of one folder inside may change. The path may be a link to it.
  if (pathCall.access === "change-mode" && escapeCase.expected.list === "ok")
    return changed.filter((key) => changed.length > 1 || !key.endsWith("/") || key.startsWith("../"));
  // All files in the folder may change, except the forbidden ones.
  if (pathCall.id === "coder::replace" && escapeCase.expected.list === "ok")
    return changed.filter(isForbidden);
  const { path, place = path, entry = path } = escapeCase;
  const meant = meantBy(pathCall, { place, entry });
  const isMeant = (key: string) =>
    meant.some(
      (one) => key === one || key.startsWith(`${one}/`) || (key.endsWith("/") && one.startsWith(key)),
    );
  const astray = changed.filter((key) => !isMeant(key)).map((key) => `changed ${key}`);
  return changed.length > 0 ? astray : ["did nothing"];
}

/** Returns the places that a call may change. */
function meantBy(
  { call, access, hasOtherPaths }: PathCall,
  { place, entry }: Record<"place" | "entry", string>,
) {
  if (access === "copy") return [defaultOtherPaths.free];
  if (hasOtherPaths) return [place, entry, ...Object.values(defaultOtherPaths)];
  return [deletes.includes(call) ? entry : place];
}
