import { expect, test } from "bun:test";
import fc from "fast-check";
import { HeadTailBuffer } from "./head-tail-buffer.ts";

const filled = (limit: number, ...chunks: string[]) => {
  const buffer = new HeadTailBuffer(limit);
  for (const chunk of chunks) buffer.add(Buffer.from(chunk));
  return buffer;
};

test("what fits is kept whole, also where the halves meet in a character", () => {
  expect(filled(6, "aaé", "bb").render()).toBe("aaébb");
  expect(filled(6, "aaé", "bb").truncated).toBe(false);
});

test("the gap is said", () => {
  const buffer = filled(8, "0123", "456789");
  expect(buffer.render()).toBe("0123\n[2 bytes left out]\n6789");
  expect(buffer.truncated).toBe(true);
  expect(filled(0, "abc").render()).toBe("\n[3 bytes left out]\n");
  expect(filled(1, "abc").render()).toBe("a\n[2 bytes left out]\n");
});

test("of a longer stream only a part of the limit is shown", () => {
  const filledWith = (text: string) => {
    const buffer = new HeadTailBuffer(8, 4);
    buffer.add(Buffer.from(text));
    return buffer.render();
  };
  expect(filledWith("01234567")).toBe("01234567");
  expect(filledWith("0123456789")).toBe("01\n[6 bytes left out]\n89");
});

test("a line at the end is there whatever is left out", () => {
  const buffer = filled(8, "0123456789");
  buffer.endWith("end");
  expect(buffer.render()).toBe("0123\n[7 bytes left out]\nend\n");
});

test("the first and the last bytes are those of the whole, however it is cut into chunks", () => {
  const chunks = fc.array(fc.string({ unit: "grapheme-ascii", maxLength: 20 }), { maxLength: 20 });
  fc.assert(
    fc.property(chunks, fc.nat(40), (parts, limit) => {
      const whole = parts.join("");
      const tail = Math.floor(limit / 2);
      const left = whole.length - limit;
      const expected =
        left <= 0
          ? whole
          : `${whole.slice(0, limit - tail)}\n[${left} bytes left out]\n${whole.slice(whole.length - tail)}`;
      expect(filled(limit, ...parts).render()).toBe(expected);
    }),
  );
});

test("no line is cut, unless it is alone in its half", () => {
  expect(filled(12, "one\ntwo\nthree\nfour\nfive\n").render()).toBe("one\n[15 bytes left out]\nfive\n");
  expect(filled(12, "one\ntwo\nthree\nfour").render()).toBe("one\n[10 bytes left out]\nfour");
  expect(filled(8, "a long line\nb\n").render()).toBe("a lo\n[8 bytes left out]\nb\n");
  const line = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 60 });
  fc.assert(
    fc.property(line, fc.nat(20), (whole, limit) => {
      const rendered = filled(limit, whole).render();
      if (whole.length <= limit) return expect(rendered).toBe(whole);
      const [, head, omitted, tail] = /^(.*?)\n?\[(\d+) bytes left out\]\n(.*)$/s.exec(rendered)!;
      const shown = rendered.startsWith(`${head}\n[`) && whole.startsWith(`${head}\n`) ? `${head}\n` : head!;
      expect(whole.startsWith(shown)).toBe(true);
      expect(whole.endsWith(tail!)).toBe(true);
      if (shown.includes("\n")) expect(shown.endsWith("\n")).toBe(true);
      expect(whole.length - Number(omitted) - tail!.length).toBeLessThanOrEqual(limit);
      if (tail!.trimEnd().includes("\n")) {
        const before = whole[whole.length - tail!.length - 1];
        expect(before).toBe("\n");
      }
    }),
  );
});
