import { isDeepStrictEqual } from "node:util";
import { Refusal } from "../../base/errors.ts";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import { openPlace, pieceBytes } from "../files/open-file.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import type { Ends } from "./same-entry.ts";

/**
 * Returns whether a copy of the file at the source would equal the file at the target: its content, its
 * permission bits, its owner and its attributes. Returns false if that cannot be read.
 */
export async function areEqualFiles({ source, target }: Ends, deadline: Deadline): Promise<boolean> {
  const [one, other] = [source.stats, target.stats];
  if (!one?.isFile() || !other?.isFile() || one.size !== other.size) return false;
  // A copy has no special bits.
  const isSameMode = (one.mode & 0o777) === (other.mode & 0o7777);
  if (!isSameMode || one.uid !== other.uid || one.gid !== other.gid) return false;
  try {
    using reading = new PlaceReading(source);
    using otherReading = new PlaceReading(target);
    if (!isDeepStrictEqual(reading.attributes, otherReading.attributes)) return false;
    const others = otherReading.pieces();
    for await (const piece of reading.pieces()) {
      deadline.check();
      const { value } = await others.next();
      if (value === undefined || !piece.equals(value)) return false;
    }
    return (await others.next()).done === true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    deadline.check();
    return false;
  }
}

/** A file on the disk that is read, or the content that an earlier change of the call plans. */
class PlaceReading implements Disposable {
  readonly #content: Buffer | undefined;
  readonly #file: ReturnType<typeof openPlace> | undefined;

  constructor(place: ResolvedPath) {
    if (place.content === undefined) this.#file = openPlace(place, undefined);
    else this.#content = Buffer.concat(place.content);
  }

  /** A planned file has none. */
  get attributes(): unknown {
    return this.#file?.attributes() ?? { list: "none", others: [] };
  }

  async *pieces(): AsyncGenerator<Buffer, undefined> {
    if (this.#file !== undefined) yield* this.#file.pieces();
    const content = this.#content ?? Buffer.alloc(0);
    for (let at = 0; at < content.length; at += pieceBytes) yield content.subarray(at, at + pieceBytes);
  }

  [Symbol.dispose](): void {
    this.#file?.close();
  }
}
