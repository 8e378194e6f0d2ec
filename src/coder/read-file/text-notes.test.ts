import { expect, test } from "bun:test";
import fc from "fast-check";
import { notesOn } from "./text-notes.ts";

const piece = fc.constantFrom("a", "é", "\n", "\r\n", "\r", "\ufeff");

test("what is not plain is named, and nothing else", () => {
  fc.assert(
    fc.property(fc.array(piece), fc.boolean(), (pieces, isAtEnd) => {
      const text = pieces.join("");
      const crlf = text.match(/\r\n/g)?.length ?? 0;
      const lf = (text.match(/\n/g)?.length ?? 0) - crlf;
      const isClassic = crlf + lf === 0 && text.includes("\r");
      const endings = isClassic ? ["CR"] : [];
      if (crlf > 0) endings.push(lf > 0 ? `mixed line ends: ${crlf} CRLF, ${lf} LF` : "CRLF");
      const isOpen = text !== "" && !text.endsWith("\n") && !(isClassic && text.endsWith("\r"));
      expect(notesOn(Buffer.from(text), { isAtEnd })).toEqual([
        ...(text.startsWith("\ufeff") ? ["BOM"] : []),
        ...endings,
        ...(isAtEnd && isOpen ? ["no newline at the end"] : []),
      ]);
    }),
  );
});
