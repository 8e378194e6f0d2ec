/** Items of a list that are written in one step. */
const atOnce = 500;

/**
 * Returns the parts of `JSON.stringify(answer)`. Fields of the answer that list very many entries have
 * several.
 */
export function* jsonPartsOf(answer: unknown): Generator<string> {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) {
    yield JSON.stringify(answer);
    return;
  }
  let before = "{";
  for (const [name, value] of Object.entries(answer)) {
    const head = `${before}${JSON.stringify(name)}:`;
    if (Array.isArray(value) && value.length > atOnce) yield* partsOfList(head, value);
    else {
      const text = JSON.stringify(value);
      if (text === undefined) continue;
      yield head + text;
    }
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}

function* partsOfList(head: string, items: readonly unknown[]): Generator<string> {
  for (let from = 0; from < items.length; from += atOnce) {
    const part = JSON.stringify(items.slice(from, from + atOnce)).slice(1, -1);
    yield `${from === 0 ? `${head}[` : ","}${part}`;
  }
  yield "]";
}
