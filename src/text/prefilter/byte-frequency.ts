/**
 * The approximate bits of information in each byte of source text. `frequent` begins with the most frequent
 * byte.
 */
export const byteBits: readonly number[] = (() => {
  const bits = new Array<number>(256).fill(11);
  const frequent =
    " etaoinsrlcdupmhgf\n.,()_-=\"'b/:y;wvkTSAEICR0x1*PNLDOMF2{}<>q[]#FBU$zj3+456789GHVWXKYJQZ\t";
  for (let i = 0; i < frequent.length; i++) bits[frequent.charCodeAt(i)] = 4.2 + 0.075 * i;
  return bits;
})();

/** A set of bytes, with a 1 for each member. */
export type ByteClass = Uint8Array;

/** Returns the rarity of a set: minus the binary logarithm of its share in source text. */
export function rarityOf(set: ByteClass): number {
  let share = 0;
  for (let byte = 0; byte < 256; byte++) if (set[byte] === 1) share += 2 ** -byteBits[byte]!;
  return -Math.log2(Math.max(share, 2 ** -20));
}

/**
 * Returns the positions of the two rarest bytes, like memchr's packed pair. A single byte gives its position
 * twice.
 */
export function packedPair(bytes: ArrayLike<number>): [number, number] {
  const bits = (position: number) => byteBits[bytes[position]!]!;
  const positions = Array.from(bytes, (_, position) => position);
  const [first = 0, second = first] = positions.sort((one, other) => bits(other) - bits(one));
  return [first, second];
}
