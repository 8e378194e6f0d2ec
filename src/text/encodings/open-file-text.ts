import type { Steps } from "../../base/scheduling/time-slice.ts";
import { type Encoding, encodingName } from "./codec.ts";
import { DamagedLine, MissingCharacter } from "./encoded-text.ts";
import { refuseEncoding } from "./encoding-errors.ts";
import { type OpenedText, openText } from "./open-text.ts";
import { unmarkedUtf16 } from "./unmarked-utf16.ts";

interface FileText {
  /** The path of the request, for refusals. */
  readonly path: string;
  /** The encoding, unless the file has a byte order mark. */
  readonly encoding: Encoding | undefined;
}

/**
 * Like `openText`, but throws refusals: bad-input for what cannot be written back, and for a file that seems
 * to be UTF-16 if no encoding is given.
 */
export function* openFileText(file: Buffer, { path, encoding }: FileText): Steps<OpenedText> {
  const unmarked = encoding === undefined ? unmarkedUtf16(file) : undefined;
  if (unmarked !== undefined) throw refuseEncoding.unmarked(path, unmarked);
  const opened = yield* refusing(path, encoding, openText(file, encoding));
  return {
    ...opened,
    bytesOf: (edited) => refusing(path, opened.encoding, opened.bytesOf(edited)),
  };
}

function* refusing<T>(path: string, encoding: Encoding | undefined, steps: Steps<T>): Steps<T> {
  try {
    return yield* steps;
  } catch (error) {
    const name = encodingName(encoding ?? "utf-8");
    if (error instanceof MissingCharacter) throw refuseEncoding.missingCharacter(path, name, error.character);
    if (error instanceof DamagedLine) throw refuseEncoding.damagedLine(path, name);
    throw error;
  }
}
