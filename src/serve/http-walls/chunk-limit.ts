/** Thrown if a body arrives in chunks that are too small and too many. */
export class TooManyChunks extends Error {
  override readonly name = "TooManyChunks";
}

/** Chunks that may have any size, and the minimum bytes of an average chunk once there are more. */
const [anySize, minAverage] = [1024, 1024] as const;

/** The sentence for a body beyond the limit. */
export const tooManyChunks = `A body in more than ${anySize} chunks needs at least ${minAverage} bytes in an average one, so nothing was carried out; send it with Content-Length, or in larger chunks.`;

/**
 * Limits the chunks of one body. The runtime hands over all that have arrived in one turn of the event loop,
 * a microsecond for each, and one byte may be a chunk.
 */
export class ChunkLimit {
  #chunks = 0;
  #bytes = 0;

  /** Counts a chunk. Throws `TooManyChunks`. */
  add({ length }: Buffer): void {
    this.#chunks++;
    this.#bytes += length;
    if (this.#chunks > anySize && this.#bytes < this.#chunks * minAverage) throw new TooManyChunks();
  }
}
