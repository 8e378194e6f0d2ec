import { randomUUID } from "node:crypto";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { createTimeSlice } from "../../../base/scheduling/time-slice.ts";
import { jsonPartsOf } from "../../../text/sizes/json-parts.ts";

/** Minimum bytes of an answer that is written late. */
const minBytes = 256 * 1024;

/** A token in a response: in place of a text, or of an object as the only value of one of its own. */
const token = /\{"late":"([\da-f-]{36})"\}|"([\da-f-]{36})"/;

/**
 * The large values of the results in one response. The SDK gets a token for each, since it writes a message
 * as JSON and encodes it in one step; the values are written in slices when the response is sent.
 */
export class LateJson {
  readonly #values = new Map<string, unknown>();

  /**
   * Returns a result with tokens for its large values, if all its blocks are texts: then the rest of the
   * message is short, and leaves the SDK in one chunk. `bytes` is the size of the answer in it.
   */
  withTokens(result: CallToolResult, bytes: number): CallToolResult {
    const { content, structuredContent } = result;
    if (bytes < minBytes || !content.every(({ type }) => type === "text")) return result;
    return {
      ...result,
      content: content.map((block) =>
        block.type === "text" ? { ...block, text: this.#keep(block.text) } : block,
      ),
      ...(structuredContent !== undefined && { structuredContent: { late: this.#keep(structuredContent) } }),
    };
  }

  #keep(value: unknown): string {
    const id = randomUUID();
    this.#values.set(id, value);
    return id;
  }

  /** Yields the bytes of a response, with the values in place of their tokens. */
  async *fill(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const slice = createTimeSlice();
    for await (const chunk of chunks) {
      if (this.#values.size === 0) {
        yield chunk;
        continue;
      }
      // Read as Latin-1, bytes of characters that a chunk splits stay what they are.
      let text = Buffer.from(chunk).toString("latin1");
      for (let found = token.exec(text); found !== null; found = token.exec(text)) {
        const [match, object, string] = found;
        const id = object ?? string!;
        const end = found.index + match.length;
        if (this.#values.has(id)) {
          yield Buffer.from(text.slice(0, found.index), "latin1");
          for (const part of jsonPartsOf(this.#values.get(id))) {
            yield Buffer.from(part);
            await slice.yieldIfDue();
          }
          this.#values.delete(id);
        } else yield Buffer.from(text.slice(0, end), "latin1");
        text = text.slice(end);
      }
      yield Buffer.from(text, "latin1");
    }
  }
}
