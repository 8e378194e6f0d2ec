/**
 * Writes the JSON of a tree node by node, with sorted keys and without making strings and objects of very
 * many nodes.
 */
import { digits } from "../../text/sizes/json-size.ts";
import type { Cut, Node } from "./node.ts";

/** A node without its path and its children. */
export type WrittenNode = Pick<Node, "name" | "kind" | "mtime" | "size" | "non_accessible">;

/** The number of bytes that are decoded to text at once. */
const chunkBytes = 64 * 1024;
/** Maximum bytes of a node without its name, its path and `truncated`. */
const maxFixedBytes = 192;
/** Maximum bytes of a UTF-16 unit in JSON. */
const maxUnitBytes = 6;

export class NodeWriter {
  #bytes = Buffer.allocUnsafeSlow(chunkBytes);
  #end = 0;
  /** The text of earlier bytes. */
  #text = "";
  #written = 0;
  /** Whether the last written value is a node. */
  #isAfterNode = false;

  /** Begins a folder. Its children follow, and then `close`. */
  open(): void {
    this.#reserve(maxFixedBytes);
    this.#separate();
    this.#put(childrenKey);
    this.#isAfterNode = false;
  }

  /**
   * Ends the folder. Its path is `prefix` (`prefixOf`) and its name; without a prefix it is the base, with no
   * path.
   */
  close(node: WrittenNode, prefix: Uint8Array | undefined, cut?: Cut): void {
    this.#reserve(maxFixedBytes);
    this.#put(afterChildren);
    this.#finish(node, prefix, cut);
  }

  /** Writes a node with no children inside. */
  add(node: WrittenNode, prefix: Uint8Array | undefined, cut?: Cut): void {
    this.#reserve(maxFixedBytes);
    this.#separate();
    this.#put(kindKey);
    this.#finish(node, prefix, cut);
  }

  /** Returns the whole answer, and its length in UTF-8. */
  answer(omitted: number | undefined): { readonly text: string; readonly bytes: number } {
    this.#flush();
    const head = omitted === undefined ? '{"root":' : `{"omitted":${omitted},"root":`;
    return { text: `${head}${this.#text}}`, bytes: head.length + this.#written + 1 };
  }

  /** Writes the rest of a node, from its kind on. */
  #finish(node: WrittenNode, prefix: Uint8Array | undefined, cut: Cut | undefined): void {
    const { name, kind, mtime, size } = node;
    this.#reserve(maxFixedBytes + 2 * maxUnitBytes * name.length + (prefix?.length ?? 0));
    this.#put(kinds[kind]);
    this.#putNumber(mtime);
    this.#put(nameKey);
    this.#putText(name);
    this.#put(node.non_accessible ? afterDeniedName : afterName);
    if (prefix !== undefined) {
      this.#put(prefix);
      this.#putText(name);
    }
    this.#put(sizeKey);
    this.#putNumber(size);
    if (cut !== undefined) this.#putCut(cut);
    this.#bytes[this.#end++] = closeBrace;
    this.#isAfterNode = true;
  }

  #putCut({ hint, reason, shown, total }: Cut): void {
    const json = `,"truncated":${JSON.stringify({ hint, reason, shown, total })}`;
    this.#reserve(json.length + 1);
    this.#end += this.#bytes.write(json, this.#end);
  }

  /** Writes a comma between two nodes. */
  #separate(): void {
    if (this.#isAfterNode) this.#bytes[this.#end++] = comma;
  }

  #put(piece: Uint8Array): void {
    const bytes = this.#bytes;
    let end = this.#end;
    // For bytes this few, a call of `set` takes longer.
    for (let i = 0; i < piece.length; i++) bytes[end++] = piece[i]!;
    this.#end = end;
  }

  #putText(text: string): void {
    const bytes = this.#bytes;
    let end = this.#end;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit < space || unit >= del || unit === quote || unit === backslash) {
        this.#putEscaped(text);
        return;
      }
      bytes[end++] = unit;
    }
    this.#end = end;
  }

  #putEscaped(text: string): void {
    this.#end += this.#bytes.write(JSON.stringify(text).slice(1, -1), this.#end);
  }

  #putNumber(number: number): void {
    if (!(number >= 0 && number <= maxInt32)) {
      this.#end += this.#bytes.write(String(number), this.#end);
      return;
    }
    const bytes = this.#bytes;
    this.#end += digits(number);
    let rest = number | 0;
    let at = this.#end;
    do {
      bytes[--at] = zero + (rest % 10);
      rest = (rest / 10) | 0;
    } while (rest > 0);
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return;
    this.#flush();
    if (bytes > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(bytes);
  }

  /** Moves the bytes to the text. Call it only between two characters. */
  #flush(): void {
    this.#text += this.#bytes.toString("utf8", 0, this.#end);
    this.#written += this.#end;
    this.#end = 0;
  }
}

/** Returns the path prefix of a folder's entries, as bytes of JSON. */
export const prefixOf = (path: string): Uint8Array =>
  path === "" ? noBytes : Buffer.from(`${JSON.stringify(path).slice(1, -1)}/`);

const noBytes = new Uint8Array(0);
const childrenKey = Buffer.from('{"children":[');
const kindKey = Buffer.from('{"kind":"');
const afterChildren = Buffer.from('],"kind":"');
const kinds = {
  file: Buffer.from('file","mtime":'),
  dir: Buffer.from('dir","mtime":'),
  symlink: Buffer.from('symlink","mtime":'),
  other: Buffer.from('other","mtime":'),
};
const nameKey = Buffer.from(',"name":"');
const afterName = Buffer.from('","non_accessible":false,"path":"');
const afterDeniedName = Buffer.from('","non_accessible":true,"path":"');
const sizeKey = Buffer.from('","size":');

const [space, quote, backslash, del] = [0x20, 0x22, 0x5c, 0x7f];
const [comma, closeBrace, zero] = [0x2c, 0x7d, 0x30];
const maxInt32 = 2 ** 31 - 1;
