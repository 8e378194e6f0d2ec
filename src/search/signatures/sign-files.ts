import { closeSync } from "node:fs";
import { beginsAsText, FileBuffer, openFileBelow } from "../../filesystem/files/file-buffer.ts";
import type { NameBytes } from "../../filesystem/jail/name.ts";
import {
  areSettled,
  hasExactStamps,
  hasNoWriter,
  linksOfStamped,
  readStamps,
  sizeAt,
  stamps,
  stampWords,
} from "../../filesystem/jail/stamps.ts";
import { beginsAsUtf16 } from "../../text/encodings/search-text.ts";
import { type FileRecord, fileFlags } from "./file-records.ts";
import type { Signature, Signer } from "./signature.ts";

/** A cursor over files, folder by folder, which is itself the name of the current one. */
export interface FileNamesCursor extends NameBytes {
  readonly folder: number;
  readonly index: number;
  next(): boolean;
}

/** The outcomes for a file that was to be signed. */
export const signed = {
  /** The job ended before it reached the file. */
  notReached: 0,
  /** The record of the file should be stored. */
  yes: 1,
  /** The file is gone, or cannot be read. */
  no: 2,
  /** The file has just changed. */
  notYet: 3,
  /** The file system does not report when contents change. */
  never: 4,
} as const;

/** The records and signatures of files, as a message between threads. */
export interface SignedFiles {
  /** For each file, one of `signed`. */
  readonly outcomes: Uint8Array;
  /** For each file, the flags of its record. */
  readonly flags: Uint8Array;
  /** For each file, `stampWords` words. */
  readonly stamps: Uint32Array;
  /** For each file, the bits of its signature, or 0 if it has none. */
  readonly bits: Uint8Array;
  /** The words of all signatures, in order. */
  readonly words: Uint32Array;
}

/** Maximum size of a file that gets a signature. Few larger ones could be ruled out. */
const maxSignedBytes = 4 * 1024 * 1024;

/** Reads files and computes their signatures. */
export class FileSigner {
  readonly #signer: Signer;
  /** A buffer that reads files into the memory of the signer. */
  readonly #buffer: FileBuffer;

  constructor(signer: Signer) {
    this.#signer = signer;
    this.#buffer = new FileBuffer(signer.reserve);
  }

  /** Signs `count` files until `isOver`. `descriptors` hold their folders. */
  sign(
    file: FileNamesCursor,
    { count, descriptors, isOver }: { count: number; descriptors: readonly number[]; isOver: () => boolean },
  ): SignedFiles {
    const all = new SignedFilesBuilder(count);
    while (!isOver() && file.next()) {
      all.outcomes[file.index] = signed.no;
      try {
        this.#signFile(openFileBelow(descriptors[file.folder]!, file), file.index, all);
      } catch {
        // The file is gone or unreadable; a search will report that.
      }
    }
    return all.build();
  }

  /** Signs one file, and closes the descriptor. */
  #signFile(descriptor: number, index: number, all: SignedFilesBuilder): void {
    let isReadable = false;
    try {
      if (!readStamps(descriptor)) return;
      if (!hasExactStamps(descriptor)) all.outcomes[index] = signed.never;
      else if (areSettled(Date.now())) isReadable = true;
      else all.outcomes[index] = signed.notYet;
    } finally {
      if (!isReadable) closeSync(descriptor);
    }
    if (isReadable) this.#signContents(descriptor, index, all);
  }

  /** Signs the contents of the file whose stamps were just read. They must be unchanged after each read. */
  #signContents(descriptor: number, index: number, all: SignedFilesBuilder): void {
    const before = stamps.slice();
    const names = linksOfStamped() > 1 ? fileFlags.hasSeveralNames : 0;
    const size = before[sizeAt]! + before[sizeAt + 1]! * 2 ** 32;
    const isSame = () => readStamps(descriptor) && stamps.every((word, at) => word === before[at]);
    // A program that opens the file for writing after this changes its stamps with the first store.
    if (!hasNoWriter(descriptor)) {
      all.add(index, { stamps: before, flags: fileFlags.alwaysRead | names });
      closeSync(descriptor);
      return;
    }
    let isTooLarge = false;
    // The index knows the bytes of files, not the text that is searched.
    let isDecoded = false;
    const isOfUse = (text: Buffer, length: number) => {
      isDecoded = beginsAsUtf16(text.subarray(0, length));
      if (isDecoded) return false;
      const isText = beginsAsText(text, length);
      if (!isText && isSame()) all.add(index, { stamps: before, flags: fileFlags.isBinary | names });
      isTooLarge = isText && size > maxSignedBytes;
      return isText && !isTooLarge;
    };
    this.#buffer.withContents<never>(
      descriptor,
      { maxBytes: maxSignedBytes, slackBytes: 0, isOfUse },
      (text, length) => {
        // A small file is read at once, without `isOfUse`.
        isDecoded = beginsAsUtf16(text.subarray(0, length));
        if (!isDecoded && length === size && isSame())
          all.add(index, ...this.#describe({ stamps: before, flags: names }, text, length));
        return [];
      },
    );
    if (isTooLarge || isDecoded) all.add(index, { stamps: before, flags: fileFlags.alwaysRead | names });
  }

  #describe(
    { stamps, flags }: FileRecord,
    text: Buffer,
    length: number,
  ): [FileRecord, Signature | undefined] {
    const signature = this.#signer.sign(length);
    if (signature === undefined) return [{ stamps, flags: flags | fileFlags.alwaysRead }, undefined];
    const holdsNul = text.subarray(0, length).includes(0) ? fileFlags.holdsNul : 0;
    return [{ stamps, flags: flags | holdsNul }, signature];
  }
}

class SignedFilesBuilder {
  readonly outcomes: Uint8Array;
  readonly #flags: Uint8Array;
  readonly #stamps: Uint32Array;
  readonly #bits: Uint8Array;
  readonly #words: Uint32Array[] = [];

  constructor(count: number) {
    this.outcomes = new Uint8Array(count);
    this.#flags = new Uint8Array(count);
    this.#stamps = new Uint32Array(count * stampWords);
    this.#bits = new Uint8Array(count);
  }

  add(index: number, { stamps, flags }: FileRecord, signature?: Signature): void {
    this.outcomes[index] = signed.yes;
    this.#flags[index] = flags;
    this.#stamps.set(stamps, index * stampWords);
    if (signature === undefined) return;
    this.#bits[index] = signature.bits;
    this.#words.push(signature.words.slice());
  }

  build(): SignedFiles {
    const words = new Uint32Array(this.#words.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const one of this.#words) {
      words.set(one, at);
      at += one.length;
    }
    return { outcomes: this.outcomes, flags: this.#flags, stamps: this.#stamps, bits: this.#bits, words };
  }
}
