/** The field for the encoding of files, on the host only. */
import { Type } from "@sinclair/typebox";
import { createTimeSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import { createCodec, type Encoding, encodingName, isUtf16 } from "../../text/encodings/codec.ts";
import { encodeText, MissingCharacter } from "../../text/encodings/encoded-text.ts";
import { refuseEncoding } from "../../text/encodings/encoding-errors.ts";
import { refuseFs } from "./fs-errors.ts";

export const HostEncoding = (
  description = "Of files without a byte order mark, such as `windows-1252` or `shift_jis`.",
) => Type.Optional(Type.String({ since: "0.4.0", description }));

/** Returns the request to a sandbox, which knows no such field. Throws bad-input for a request with it. */
export function withoutEncoding<Request extends { readonly encoding?: string | undefined }>({
  encoding,
  ...rest
}: Request): Omit<Request, "encoding"> {
  if (encoding !== undefined) throw refuseFs.encodingInSandbox();
  return rest;
}

/**
 * Yields a text that comes in UTF-8 in another encoding, UTF-16 with a byte order mark. Throws bad-input for
 * what is not UTF-8, and for a character that the encoding lacks.
 */
export async function* encodeContent(
  pieces: AsyncIterable<Uint8Array>,
  { path, encoding }: { readonly path: string; readonly encoding: Encoding },
): AsyncGenerator<Uint8Array> {
  const codec = createCodec(encoding);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let isStart = isUtf16(encoding);
  const encode = async (piece?: Uint8Array): Promise<Uint8Array> => {
    const text = decodeUtf8(decoder, piece, path);
    const marked = isStart && !text.startsWith("\ufeff") ? `\ufeff${text}` : text;
    if (piece !== undefined && text === "") return new Uint8Array();
    isStart = false;
    try {
      return await runInSlices(encodeText(codec, marked), createTimeSlice());
    } catch (error) {
      if (!(error instanceof MissingCharacter)) throw error;
      throw refuseEncoding.missingCharacter(path, encodingName(encoding), error.character);
    }
  };
  for await (const piece of pieces) yield await encode(piece);
  yield await encode();
}

function decodeUtf8(
  decoder: InstanceType<typeof TextDecoder>,
  piece: Uint8Array | undefined,
  path: string,
): string {
  try {
    return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
  } catch {
    throw refuseFs.contentIsNotUtf8(path);
  }
}
