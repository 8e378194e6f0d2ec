/** Maximum length of baggage, as much as W3C Baggage (section 3.3.2) requires. Longer one is dropped. */
export const maxBaggageLength = 8192;

/** The member of W3C baggage in which the engine names the called function to a worker. */
const functionIdKey = "iii.function.id";

/**
 * Returns baggage (W3C Baggage, section 3.3) with the function's id as a member, which replaces the caller's
 * own.
 */
export function baggageFor(functionId: string, baggage: string | undefined): string {
  const members = (baggage ?? "").split(",").filter((member) => member.trim() !== "");
  const others = members.filter((member) => member.split("=", 1)[0]?.trim() !== functionIdKey);
  return [...others, `${functionIdKey}=${escapeValue(functionId)}`].join(",");
}

/** Escapes characters that a value must not contain, and the percent sign. */
function escapeValue(value: string): string {
  return value.replaceAll(/[^\x21-\x7e]|[",;\\%=]/gu, encodeURIComponent);
}
