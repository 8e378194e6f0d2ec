/**
 * Characters that move the cursor, reverse the text around them or cannot be seen: controls (C0, DEL, C1),
 * formats (the marks of direction among them), lone surrogates, private and unassigned ones, and both
 * separators of lines (UAX #44, General_Category; Unicode TR #36, section 3). Shown raw, they let a name or a
 * value forge the text around it.
 */
const invisible = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Escapes each such character in `text` like JSON does: `\n`, `\u202e`. */
export const escapeInvisible = (text: string): string => text.replace(invisible, escapeCharacter);

/** Returns `text` as a JSON string in which every character is visible. */
export const quoteVisibly = (text: string): string => escapeInvisible(JSON.stringify(text));

function escapeCharacter(character: string): string {
  const escaped = JSON.stringify(character).slice(1, -1);
  return escaped === character ? character.split("").map(escapeUnit).join("") : escaped;
}

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
