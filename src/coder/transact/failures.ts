/** The changes of a call that fail, so that a caller can repair all of them at once. */
import { Refusal, refuse } from "../../base/errors.ts";
import { namesOf } from "../../filesystem/jail/backend.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { plainPath } from "../checkpoints/recorded-paths.ts";
import type { CoderContext } from "../define.ts";
import { pauseOf } from "../services/pause.ts";
import { type FurtherFailure, furtherFailuresOf, withFailures } from "./further-failures.ts";

/** A change to attempt, with the paths that it reads and changes. */
interface Attempt<T> {
  readonly index: number;
  /** The paths of the change, as sent by the caller. */
  readonly paths: readonly string[];
  /** The paths that the change would modify. Default: `paths`. */
  readonly changed?: readonly string[];
  make(): Promise<T>;
}

/** Maximum number of failing changes in an error. */
const maxFailures = 10;

/**
 * Makes changes in order on a planned tree. After a failure it continues with changes of other paths, only to
 * find out which of them fail too, and `end` throws. In the profile `contract`, the first failure is thrown
 * at once.
 */
export class Failures {
  readonly #jail: Jail;
  readonly #isCollecting: boolean;
  readonly #failed: Refusal[] = [];
  /** The changes that failed, or were left out because they follow on such a change. */
  readonly #indexes = new Set<number>();
  readonly #leftOut = new Set<number>();
  /** The paths of these changes, normalized for comparison. */
  readonly #changed: string[] = [];
  readonly #pause: () => Promise<void>;

  /** `pause` lets other calls run between changes that are left out. */
  constructor(context: Pick<CoderContext, "jail" | "profile" | "deadline">, pause = pauseOf(context)) {
    this.#jail = context.jail;
    this.#isCollecting = context.profile.explained_errors;
    this.#pause = pause;
  }

  /** Makes a change. Returns `undefined` if it fails, or was left out. */
  async attempt<T>({ index, paths, changed = paths, make }: Attempt<T>): Promise<T | undefined> {
    if (this.#failed.length === maxFailures) throw this.#refusal({ isWhole: false });
    try {
      if (this.#failed.length === 0 || !this.#follows(index, paths)) return await make();
      this.#leaveOut(index, changed);
      await this.#pause();
      return undefined;
    } catch (error) {
      if (!(error instanceof Refusal)) throw this.#failed.length > 0 ? this.#refusal() : error;
      const refusal = refuse.inChange(error, index);
      if (!this.#isCollecting || isOfWholeCall(error))
        throw this.#failed.length > 0 ? this.#refusal() : refusal;
      this.#failed.push(refusal);
      this.#add(index, changed);
      return undefined;
    }
  }

  /** Throws the first failure, with the others in its details. */
  end(): void {
    if (this.#failed.length > 0) throw this.#refusal();
  }

  #follows(index: number, paths: readonly string[]): boolean {
    if (this.#indexes.has(index)) return true;
    return paths
      .map((path) => this.#comparable(path))
      .some((path) => this.#changed.some((one) => touches(one, path)));
  }

  #leaveOut(index: number, changed: readonly string[]): void {
    if (!this.#indexes.has(index)) this.#leftOut.add(index);
    this.#add(index, changed);
  }

  #add(index: number, changed: readonly string[]): void {
    this.#indexes.add(index);
    this.#changed.push(...changed.map((path) => this.#comparable(path)));
  }

  /** Returns a path from the base with "/" at its end, or "" for one that may be anywhere. */
  #comparable(path: string): string {
    const plain = plainPath(path, this.#jail);
    return plain === "" || namesOf(plain).includes("..") ? "" : `${plain}/`;
  }

  #refusal({ isWhole = true } = {}): Refusal {
    const [first, ...others] = this.#failed as [Refusal, ...Refusal[]];
    const failures: FurtherFailure[] = others.flatMap((refusal) => [
      { change: refusal.details!["change"] as number, message: messageOf(refusal) },
      ...furtherFailuresOf(refusal),
    ]);
    for (const change of this.#leftOut)
      failures.push({ change, message: "not checked, since it is about a path of a change that fails." });
    if (!isWhole) failures.push({ message: "The changes after these were not checked." });
    return withFailures(first, failures);
  }
}

/** Returns a sentence that makes sense without the details. */
const messageOf = ({ reason, message, details }: Refusal): string =>
  reason === "revision-mismatch" && details?.["current"] !== undefined
    ? message.replace(/ Its current revision .*$/, ` Its revision is ${details["current"]} now.`)
    : message;

/**
 * Returns whether a failure concerns the whole call, so that later changes would fail for the same reason.
 */
const isOfWholeCall = ({ reason, path }: Refusal): boolean =>
  reason === "timeout" || reason === "over-quota" || (reason === "too-large" && path === undefined);

/** Returns whether one comparable path is the other, or a folder above it. "" is above all. */
const touches = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);
