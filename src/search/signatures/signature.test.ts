import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { extractInnerLiterals } from "../../text/prefilter/inner-literals.ts";
import { escapePattern, toSource } from "../../text/regex/regex-runtime.ts";
import { createRegexEngine } from "../../text/regex/rust-regex.ts";
import { type NeededNgrams, neededNgrams } from "./needed-ngrams.ts";
import { hashNgram, ngramLengths } from "./ngrams.ts";
import { createSigner, mayHold, type Signature } from "./signature.ts";
import { blockBytes, SignatureBlocks } from "./signature-blocks.ts";

const signer = createSigner();
const { runtime } = createRegexEngine({ threads: false });

function sign(text: Buffer): Signature {
  const buffer = signer.reserve(text.length);
  text.copy(buffer);
  const { words, bits } = signer.sign(text.length)!;
  return { words: words.slice(), bits };
}

/**
 * Letters that Unicode folds to ASCII, the ASCII letters themselves, other letters with two cases, and bytes
 * of all kinds.
 */
const letters = fc.constantFrom(..."abckKsS\u017f\u212aéÉßяЯ0_ \n\t日😀İi");
const words = fc.string({ unit: letters, minLength: 1, maxLength: 8 });
const patterns = fc.oneof(
  words.map((word) => ({ regex: false, pattern: word })),
  fc
    .array(
      fc.oneof(
        words.map(escapePattern),
        fc.constantFrom("\\w+", "[ksab]", "[^k]", "(?:abc|sſK)", "(?:kk){2}", ".", "\\s*", "k?", "(?i:Sk)"),
      ),
      { minLength: 1, maxLength: 5 },
    )
    .map((parts) => ({ regex: true, pattern: parts.join("") })),
);

/** Variants of a text that some search treats as equal. */
const spellings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => text.replaceAll(/s/gi, "\u017f").replaceAll(/k/gi, "\u212a"),
];

const queries = fc.record({ query: patterns, ignoreCase: fc.boolean(), multiline: fc.boolean() });
const texts = fc.array(fc.oneof(words, fc.constantFrom("\n", "\r\n", "\0", " ")), { maxLength: 30 });

test("signatures never lose a text that matches: any contents, any query, any case", () => {
  let matches = 0;
  fc.assert(
    fc.property(
      texts,
      texts,
      fc.constantFrom(...spellings),
      queries,
      (before, after, spell, { query, ignoreCase, multiline }) => {
        const text = Buffer.from([...before, spell(query.pattern), ...after].join(""));
        const pattern = query.regex ? query.pattern : escapePattern(query.pattern);
        const source = toSource({ pattern, ignoreCase });
        const regex = runtime.compile(multiline ? `(?mR)${source}` : source);
        const literals = extractInnerLiterals(regex.syntax());
        const needed = literals && neededNgrams(literals.seqs, literals.also);
        if (needed === undefined || !regex.isMatch(text, 0, text.length)) return;
        matches++;
        expect(filesWith(needed, [sign(text)])).toEqual([0]);
      },
    ),
    { numRuns: 1000 },
  );
  expect(matches).toBeGreaterThan(100);
});

test("a text holds each of its n-grams, in either case, by itself and in blocks of others", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ minLength: 4, maxLength: 400 }), { minLength: 1, maxLength: 70 }),
      fc.nat(),
      fc.constantFrom(...ngramLengths),
      (all, at, length) => {
        const signatures = all.map((text) => sign(Buffer.from(text)));
        all.forEach((bytes, file) => {
          const text = Buffer.from(bytes).toString("latin1");
          const from = at % (text.length - length + 1);
          const hash = hashNgram(text.slice(from, from + length));
          const holding = [...signatures.keys()].filter((other) => mayHold(signatures[other]!, hash));
          expect(holding).toContain(file);
          expect(filesWith([[Int32Array.of(hash)]], signatures)).toEqual(holding);
        });
      },
    ),
    { numRuns: 100 },
  );
});

test("most texts without a word are ruled out, and a text of random bytes has no signature", () => {
  const text = Buffer.from(Array.from({ length: 4000 }, (_, i) => `word${i * 7} `).join(""));
  const needed = neededNgrams([[["registerInstrumentations"]]])!;
  expect(filesWith(needed, [sign(text)])).toEqual([]);
  const random = signer.reserve(200_000);
  let state = 1;
  for (let i = 0; i < random.length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    random[i] = state >>> 16;
  }
  expect(signer.sign(random.length)).toBeUndefined();
});

test("blocks keep what is in them while others go, take no more than their limit, and use room again", () => {
  const signature = sign(Buffer.from("some text"));
  const needed = neededNgrams([[["some"]]])!;
  const blocks = new SignatureBlocks();
  const bytes = 2 * blockBytes(signature.bits);
  const room = { bytes, fileBytes: 2 * bytes };
  const places = Array.from({ length: 64 }, (_, file) => blocks.add(signature, file, room)!);
  expect(blocks.add(signature, 64, room)).toBeUndefined();
  for (const file of [3, 31, 32, 63]) blocks.remove(places[file]!);
  expect(filesIn(blocks, needed)).toHaveLength(60);
  expect(blocks.add(sign(Buffer.from("else")), 99, room)).toBeNumber();
  expect(filesIn(blocks, needed)).toHaveLength(60);
  expect(filesIn(blocks, neededNgrams([[["else"]]])!)).toEqual([99]);
});

test("blocks take no more room in a file than they may, with a checksum for each hash of each size", () => {
  const one = sign(Buffer.from("some text"));
  const blocks = new SignatureBlocks();
  const bytes = blockBytes(one.bits);
  const room = { bytes: 2 ** 20, fileBytes: 3 * bytes };
  for (let file = 0; file < 64; file++) expect(blocks.add(one, file, room)).toBeNumber();
  expect([blocks.add(one, 64, room), blocks.fileBytes]).toEqual([undefined, 3 * bytes]);
});

test("nothing is known of what a pattern needs where a part of it may be anything", () => {
  expect(neededNgrams([[["ab"]]])).toBeUndefined();
  expect(neededNgrams([[["abc"]], [["x"]]])).toBeUndefined();
  expect(neededNgrams([])).toBeUndefined();
});

test("a text has to hold each literal of a pattern", () => {
  const literals = extractInnerLiterals(runtime.compile("export .*\\bfrom\\b\\w+Handler\\{").syntax())!;
  const needed = neededNgrams(literals.seqs, literals.also)!;
  const texts = ["export x from aHandler{", "export x aHandler{", "from aHandler{", "export x from a{"];
  const signed = texts.map((text) => sign(Buffer.from(text)));
  expect(filesWith(needed, signed)).toEqual([0]);
});

function filesWith(needed: NeededNgrams, signatures: readonly Signature[]): number[] {
  const blocks = new SignatureBlocks();
  for (const [file, signature] of signatures.entries())
    blocks.add(signature, file, { bytes: 2 ** 28, fileBytes: 2 ** 28 });
  return filesIn(blocks, needed);
}

function filesIn(blocks: SignatureBlocks, needed: NeededNgrams): number[] {
  const files: number[] = [];
  runAtOnce(blocks.visit(needed, (file) => files.push(file)));
  return files.sort((one, other) => one - other);
}
