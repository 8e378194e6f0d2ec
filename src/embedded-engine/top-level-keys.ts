/**
 * Returns whether the object in a JSON text has a duplicate key at its top level, which `JSON.parse` does not
 * report.
 */
export function hasDuplicateKey(json: string): boolean {
  const keys = new Set<string>();
  let depth = 0;
  let isKey = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charCodeAt(at);
    if (character === quote) {
      const end = endOfString(json, at);
      if (depth === 1 && isKey) {
        const key: string = JSON.parse(json.slice(at, end + 1));
        if (keys.has(key)) return true;
        keys.add(key);
        isKey = false;
      }
      at = end;
    } else if (character === openBrace || character === openBracket) {
      depth += 1;
      isKey = depth === 1;
    } else if (character === closeBrace || character === closeBracket) depth -= 1;
    else if (character === comma) isKey = true;
  }
  return false;
}

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Returns the index of the quote that closes the string whose opening quote is at `start`. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end;
}

function isEscaped(json: string, at: number): boolean {
  let first = at;
  while (json.charCodeAt(first - 1) === backslash) first -= 1;
  return (at - first) % 2 === 1;
}
