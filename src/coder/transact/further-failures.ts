import { Refusal } from "../../base/errors.ts";

/** A failure in addition to the one that an error reports. */
export interface FurtherFailure {
  /** The index of the change. */
  readonly change?: number;
  readonly message: string;
}

/** Returns the further failures in the details of a refusal. */
export const furtherFailuresOf = ({ details }: Refusal): readonly FurtherFailure[] =>
  (details?.["failures"] as readonly FurtherFailure[] | undefined) ?? [];

/** Maximum number of further failures in an error, and of characters of each. */
const maxFurther = 20;
const maxMessage = 400;

/** Returns the refusal with further failures. They follow those that it has already. */
export function withFailures(refusal: Refusal, further: readonly FurtherFailure[]): Refusal {
  if (further.length === 0) return refusal;
  const all = [...furtherFailuresOf(refusal), ...further];
  const more = all.splice(maxFurther).length;
  if (more > 0) all.push({ message: `${more} more ${more === 1 ? "is" : "are"} not listed.` });
  const failures = all.map(({ message, ...rest }) => ({
    ...rest,
    message: message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message,
  }));
  const { reason, message, path, isBelowFile, details } = refusal;
  return new Refusal(reason, message, path, { isBelowFile, details: { ...details, failures } });
}
