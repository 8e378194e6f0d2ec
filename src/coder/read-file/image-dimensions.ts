/**
 * Reads the dimensions of an image from its header: PNG (W3C PNG, 11.2.2), GIF (GIF89a, 18), WebP (RFC 9649,
 * 2.5 to 2.7) and JPEG (ITU T.81, B.2.2). A library would search a hostile file for seconds.
 */

export interface Dimensions {
  readonly width: number;
  readonly height: number;
}

/** Returns the dimensions in pixels, or `undefined` if the header is not whole or not valid. */
export function dimensionsOf(image: Buffer, mediaType: string): Dimensions | undefined {
  const header = headers[mediaType];
  return header !== undefined && image.length >= header.bytes ? header.read(image) : undefined;
}

interface Header {
  /** Minimum bytes of a file with it. */
  readonly bytes: number;
  readonly read: (image: Buffer) => Dimensions | undefined;
}

const headers: Readonly<Record<string, Header>> = {
  "image/png": {
    bytes: 24,
    read: (image) => ({ width: image.readUInt32BE(16), height: image.readUInt32BE(20) }),
  },
  "image/gif": {
    bytes: 10,
    read: (image) => ({ width: image.readUInt16LE(6), height: image.readUInt16LE(8) }),
  },
  "image/webp": { bytes: 30, read: readWebp },
  "image/jpeg": { bytes: 4, read: readJpeg },
};

function readWebp(image: Buffer): Dimensions | undefined {
  switch (image.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: image.readUIntLE(24, 3) + 1, height: image.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      const bits = image.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      return { width: image.readUInt16LE(26) & 0x3fff, height: image.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}

/** The markers with the dimensions: all beginnings of a frame, without the tables between them. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function readJpeg(image: Buffer): Dimensions | undefined {
  for (let at = 2; at + 9 <= image.length && image[at] === 0xff; ) {
    const marker = image[at + 1]!;
    // A marker may have fill bytes before it.
    if (marker === 0xff) at++;
    else if (isFrame(marker))
      return { height: image.readUInt16BE(at + 5), width: image.readUInt16BE(at + 7) };
    else at += 2 + Math.max(2, image.readUInt16BE(at + 2));
  }
  return undefined;
}
