/**
 * The bytes that JSON adds to each byte in a string (ECMA-262, QuoteJSONString): a backslash for the quote,
 * the backslash and the control characters \b \t \n \f \r, and also the four digits of \u for the other
 * control characters.
 */
export const escapeBytes: Readonly<Uint8Array> = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x22 || byte === 0x5c) return 1;
  if (byte >= 0x20) return 0;
  return byte >= 8 && byte <= 13 && byte !== 11 ? 1 : 5;
});
