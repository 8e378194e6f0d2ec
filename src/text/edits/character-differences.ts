/** Names the differences between two characters that are equal when they are folded. */
import type { Differences } from "./differences.ts";
import { compose, type FoldedCharacter, invisiblePattern, typographyOf } from "./folded-characters.ts";

/** Adds the differences between a character of the file and the one sent in its place. */
export function compareCharacters(found: FoldedCharacter, sent: FoldedCharacter, into: Differences): void {
  if (found.escape !== sent.escape) {
    const example = sent.escape || found.escape;
    into.add(example.startsWith("&") ? "entities" : "escapes", example);
  }
  if (found.value === sent.value) return;
  const [hidden, sentHidden] = [found, sent].map(({ value }) => value.match(invisiblePattern) ?? []);
  if (hidden!.join("") !== sentHidden!.join("")) into.add("invisible", [...sentHidden!, ...hidden!][0]);
  const [own, other] = [found, sent].map(({ value }) => value.replace(invisiblePattern, ""));
  if (own === other) return;
  const [composed, sentComposed] = [compose(own!), compose(other!)];
  if (composed === sentComposed) {
    into.add("accents");
    return;
  }
  const typographic = [...typographyOf(composed), ...typographyOf(sentComposed)];
  for (const kind of typographic) into.add(kind);
  if (typographic.length > 0) return;
  compareLetters([own!, other!], [composed, sentComposed], into);
}

function compareLetters(
  [own, other]: readonly [string, string],
  [composed, sentComposed]: readonly [string, string],
  into: Differences,
): void {
  const isCase = composed.toLowerCase() === sentComposed.toLowerCase();
  if (!isCase) into.add("lookalikes");
  const isUpper = (letter: string) => letter !== letter.toLowerCase();
  if (isUpper(composed) !== isUpper(sentComposed)) into.add("case");
  if ((own === composed) !== (other === sentComposed)) into.add("accents");
}
