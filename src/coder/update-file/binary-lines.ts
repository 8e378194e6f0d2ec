import { Refusal } from "../../base/errors.ts";
import { binaryKind } from "../read-file/file-kind.ts";

/** Returns a refusal without the lines of a file that is not text: its sentence has their numbers. */
export function withoutBinaryLines(refusal: Refusal, file: Buffer): Refusal {
  const { reason, message, path, isBelowFile, details } = refusal;
  if (details?.["candidates"] === undefined || binaryKind(file) === undefined) return refusal;
  const { candidates: _, ...facts } = details;
  const sentence = `${message} The file is binary, so its lines are not shown.`;
  return new Refusal(reason, sentence, path, { isBelowFile, details: facts });
}
