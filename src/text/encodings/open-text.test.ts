import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { createCodec, decodeInSteps, encodingWithLabel } from "./codec.ts";
import { DamagedLine, MissingCharacter } from "./encoded-text.ts";
import { openText } from "./open-text.ts";

/** Every encoding of the standard that can be written, by a label. */
const encodings =
  "utf-8 ibm866 latin2 latin3 latin4 iso-8859-5 arabic greek hebrew iso-8859-8-i latin6 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 koi8-r koi8-u macintosh windows-874 windows-1250 windows-1251 latin1 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 x-mac-cyrillic gbk gb18030 big5 euc-jp iso-2022-jp sjis euc-kr utf-16be utf-16 x-user-defined".split(
    " ",
  );

const anyBytes = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      fc.constantFrom("\n", "\r\n", "a", "b\n", "\n\0", "\0\n").map((text) => Buffer.from(text)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts));

/** Files with all kinds of lines, and those that have CR in place of each LF. */
const anyFile = fc.tuple(anyBytes, fc.boolean()).map(([bytes, endsInReturns]) => {
  return endsInReturns ? bytes.map((byte) => (byte === 0x0a ? 0x0d : byte)) : bytes;
});

/** Opens a file, and does all steps at once. */
function opened(bytes: Buffer, label?: string) {
  const file = runAtOnce(openText(bytes, label === undefined ? undefined : encodingWithLabel(label)));
  return { ...file, bytesOf: (edited: readonly Buffer[]) => runAtOnce(file.bytesOf(edited)) };
}

/** Returns `undefined` for a file of ISO-2022-JP whose lines depend on each other. */
function open(bytes: Buffer, label: string) {
  try {
    return opened(bytes, label);
  } catch (error) {
    if (error instanceof DamagedLine) return undefined;
    throw error;
  }
}

for (const label of encodings) {
  test(`${label}: what no edit changes is written back byte for byte, and lines beside an edit too`, () => {
    const codec = createCodec(encodingWithLabel(label)!);
    fc.assert(
      fc.property(anyFile, fc.nat(), (some, place) => {
        const bytes = Buffer.from(some);
        const file = open(bytes, label);
        if (file === undefined) return;
        expect(Buffer.concat(file.bytesOf([file.text]))).toEqual(bytes);
        // Random bytes may begin with the mark of UTF-16, which decides before the label does.
        if (file.encoding === undefined || /^(?:\xff\xfe|\xfe\xff)/.test(bytes.toString("latin1"))) return;
        const lines = file.text.toString().split(/(?<=\n)/);
        const at = place % (lines.length + 1);
        const edited = [...lines.slice(0, at), "new\n", ...lines.slice(at)].join("");
        const isSplit = at > 0 && !lines[at - 1]!.endsWith("\n");
        if (isSplit) return;
        const written = Buffer.concat(file.bytesOf([Buffer.from(edited)]));
        const added = codec.encode(file.endsInReturns ? "new\r" : "new\n");
        const head = written.indexOf(added);
        expect(head).toBeGreaterThanOrEqual(0);
        expect(written.length).toBe(bytes.length + added.length);
        const starts = [...Array(written.length).keys()].filter((from) => {
          const found = written.subarray(from, from + added.length).equals(added);
          return (
            found &&
            Buffer.concat([written.subarray(0, from), written.subarray(from + added.length)]).equals(bytes)
          );
        });
        expect(starts.length).toBeGreaterThan(0);
      }),
      { numRuns: 60 },
    );
  });
}

test("every character of one byte is written in a line that is edited", () => {
  for (const label of encodings) {
    const codec = createCodec(encodingWithLabel(label)!);
    for (let byte = 0x80; byte < 0x100; byte++) {
      const text = codec.decode(Uint8Array.of(byte));
      if (text.length !== 1 || text === "\ufffd") continue;
      const file = opened(Buffer.concat([Buffer.from("a"), Buffer.of(byte)]), label);
      if (file.encoding === undefined) continue;
      const [written] = file.bytesOf([Buffer.from(`b${text}`)]);
      expect([label, byte, written]).toEqual([label, byte, Buffer.of(0x62, byte)]);
    }
  }
});

test("a character that the encoding lacks is named", () => {
  const file = opened(Buffer.from("a\n"), "latin1");
  expect(() => file.bytesOf([Buffer.from("a – Ω\n")])).toThrow(new MissingCharacter("Ω"));
});

test.each([
  ["sjis", "ed40", "fa5c"],
  ["sjis", "fa54", "81ca"],
  ["sjis", "8792", "81e7"],
  ["big5", "a2cc", "a451"],
  ["gbk", "a2e3", "80"],
  ["gb18030", "80", "a2e3"],
])("of the two forms %s has of a character, an edited line keeps its own", (label, form, other) => {
  const line = (hex: string) =>
    Buffer.concat([Buffer.from("// "), Buffer.from(hex, "hex"), Buffer.from(" a\n")]);
  const both = (first: string, second: string) => {
    const file = opened(Buffer.concat([line(first), line(second)]), label);
    const edit = (text: string) => Buffer.concat(file.bytesOf([Buffer.from(text)])).toString("hex");
    return { text: file.text.toString(), edit };
  };
  const { text, edit } = both(form, form);
  expect(edit(text.replace("a\n", "b\n"))).toBe(`2f2f20${form}20620a2f2f20${form}20610a`);
  expect(edit(text.replaceAll("a\n", "bb\n"))).toBe(`2f2f20${form}2062620a2f2f20${form}2062620a`);
  expect(edit(`x\n${text}`)).toBe(`780a2f2f20${form}20610a2f2f20${form}20610a`);
  const mixed = both(form, other);
  expect(mixed.edit(mixed.text.replace("a\n", "b\n"))).toBe(`2f2f20${form}20620a2f2f20${other}20610a`);
  expect(() => mixed.edit(mixed.text.replaceAll("a\n", "b\n"))).toThrow(DamagedLine);
  expect(mixed.edit("new\n")).toBe("6e65770a");
});

test("a pair of characters that Big5 has as one is not taken for other ones", () => {
  const pair = Buffer.from("8862", "hex");
  const other = Buffer.from("a2cc", "hex");
  const file = opened(Buffer.concat([Buffer.from("a "), pair, other, Buffer.from(" b\n")]), "big5");
  const text = file.text.toString();
  expect(text).toStartWith("a \u00ca\u0304");
  expect(() => file.bytesOf([Buffer.from(text.replace("b", "c"))])).toThrow(MissingCharacter);
  const [written] = file.bytesOf([Buffer.from(text.replace("\u00ca\u0304", ""))]);
  expect(written!.toString("hex")).toBe("6120a2cc20620a");
});

test("a character that the encoding would write as another one is missing", () => {
  for (const label of ["sjis", "euc-jp", "iso-2022-jp"])
    for (const character of ["¥", "‾", "−"].slice(label === "iso-2022-jp" ? 2 : 0))
      expect(() => opened(Buffer.from("a\n"), label).bytesOf([Buffer.from(`a ${character}\n`)])).toThrow(
        new MissingCharacter(character),
      );
});

test("a line that could not be decoded is kept, and not edited", () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x61, 0, 0, 0xd8, 0x0a, 0, 0x62, 0, 0x0a, 0]);
  const file = opened(bytes);
  expect(file.text.toString()).toBe("\ufeffa\ufffd\nb\n");
  expect(Buffer.concat(file.bytesOf([Buffer.from("\ufeffa\ufffd\nc\n")])).toString("hex")).toBe(
    bytes.toString("hex").replace("62000a00", "63000a00"),
  );
  expect(() => file.bytesOf([Buffer.from("\ufeffx\ufffd\nb\n")])).toThrow(DamagedLine);
});

test("lines between two edits keep their bytes, whatever these are", () => {
  const gb18030 = createCodec("gb18030");
  const lines = ["a\n", "é\n", "b\n"].map((line) => Buffer.from(gb18030.encode(line)));
  const replacement = Buffer.from(gb18030.encode("\ufffd\n"));
  for (const odd of [replacement, Buffer.of(0x80, 0x0a), Buffer.of(0xff, 0x0a), Buffer.of(0x81, 0x0a)]) {
    const bytes = Buffer.concat([...lines, odd, ...lines]);
    const file = opened(bytes, "gb18030");
    const edited = Buffer.concat([Buffer.from("x\n"), file.text, Buffer.from("y\n")]);
    const written = Buffer.concat(file.bytesOf([edited]));
    expect(written.equals(Buffer.concat([Buffer.from("x\n"), bytes, Buffer.from("y\n")]))).toBe(true);
  }
});

test("a file of UTF-8 is not taken for another encoding, unless it is only ASCII", () => {
  for (const label of ["latin1", "sjis", "gb18030", "utf-16le"]) {
    const file = opened(Buffer.from("# ü €\n"), label);
    expect([file.encoding, file.text.toString()]).toEqual([undefined, "# ü €\n"]);
    expect(Buffer.concat(file.bytesOf([Buffer.from("# ü €\né\n")])).toString()).toBe("# ü €\né\n");
  }
  expect(opened(Buffer.from("a\n"), "latin1").encoding).toBe("windows-1252");
  expect(opened(Buffer.from("a\xe4\n", "latin1"), "latin1").text.toString()).toBe("aä\n");
});

test("a byte order mark decides before a label does, and stays", () => {
  const bytes = Buffer.from("feff00610000000a", "hex");
  const file = opened(bytes, "latin1");
  expect([file.encoding, file.text.toString()]).toEqual(["utf-16be", "\ufeffa\0\n"]);
});

test("lines that end in CR are edited as lines, and written back so", () => {
  const file = opened(Buffer.from("a\rb\r"));
  expect(file.text.toString()).toBe("a\nb\n");
  expect(Buffer.concat(file.bytesOf([Buffer.from("a\n"), Buffer.from("c\nb\n")])).toString()).toBe(
    "a\rc\rb\r",
  );
});

test.each(["latin1", "utf-16le", "sjis", "gb18030", "iso-2022-jp"])(
  "a large file of %s takes many steps",
  (label) => {
    const codec = createCodec(encodingWithLabel(label)!);
    for (const line of ["a\n", "a\r\n\n", `${label === "latin1" ? "é" : "日本"}\n`]) {
      const text = `${line.repeat(60_000)}${"x".repeat(300_000)}\n`;
      const bytes = Buffer.from(codec.encode(text));
      const opening = openText(bytes, encodingWithLabel(label));
      const steps = [...opening];
      expect(steps.length).toBeGreaterThan(30);
      const file = opened(bytes, label);
      expect(file.text.toString()).toBe(text);
      const edited = `new\n${text.slice(line.length)}end\n`;
      expect(Buffer.concat(file.bytesOf([Buffer.from(edited)])).equals(codec.encode(edited))).toBe(true);
      expect(
        Buffer.concat(file.bytesOf([Buffer.from(text.repeat(2))])).equals(codec.encode(text.repeat(2))),
      ).toBe(true);
    }
  },
);

test.each(["utf-16le", "utf-16be", "gb18030", "sjis", "euc-jp", "big5", "iso-2022-jp"])(
  "a character of %s between two pieces is decoded whole",
  (label) => {
    const encoding = encodingWithLabel(label)!;
    const codec = createCodec(encoding);
    const unit = /utf|gb/.test(label) ? "🙂é" : "日本";
    for (const start of ["", "a", "ab", "abc"]) {
      const text = start + unit.repeat(60_000);
      expect(runAtOnce(decodeInSteps(Buffer.from(codec.encode(text)), encoding)).toString()).toBe(text);
    }
  },
);

test("a long line is encoded and decoded in pieces", () => {
  for (const label of encodings) {
    const codec = createCodec(encodingWithLabel(label)!);
    const text = "ab".repeat(200_000);
    const file = opened(Buffer.from(codec.encode(text)), label);
    expect(file.text.toString()).toBe(text);
    const [written] = file.bytesOf([Buffer.from(`${text}c`)]);
    expect(written!.equals(codec.encode(`${text}c`))).toBe(true);
  }
});
