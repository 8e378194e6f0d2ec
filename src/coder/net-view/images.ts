/** The two sides of an image that differs. */
import { type Static, Type } from "@sinclair/typebox";
import { Named } from "../../base/schema/fragments.ts";
import { mediaTypeOf } from "../read-file/file-kind.ts";
import type { EntryThen, NetDifference } from "./file-diff.ts";

const ComparedImage = Named("ComparedImage", {
  data: Type.String({ description: "In base64." }),
  mime_type: Type.String(),
});

export const ComparedImages = Named("ComparedImages", {
  after: Type.Optional(ComparedImage),
  before: Type.Optional(ComparedImage),
});
export type ComparedImages = Static<typeof ComparedImages>;

/** The field that requests images. */
export const ImagesField = Type.Optional(
  Type.Boolean({
    isRare: true,
    description: "Both sides of images that differ, within `max_diff_bytes`; with `answer: diff`.",
  }),
);

/** The note of an image that is too large for the answer. */
export const tooLargeToShow = "it is too large to show";

/**
 * Returns both sides of an image in at most `maxBytes` of base64, or a note if they are larger. Recognizes
 * images by their first bytes. Returns `undefined` if neither side is one.
 */
export function imagesOf(
  { unknown, before, after }: Pick<NetDifference, "unknown" | "before" | "after">,
  maxBytes: number,
): ComparedImages | string | undefined {
  if (unknown !== undefined) return undefined;
  const [old, now] = [imageAt(before), imageAt(after)];
  const found = [old, now].filter((one) => one !== undefined);
  if (found.length === 0) return undefined;
  const bytes = found.reduce((sum, { content }) => sum + base64Length(content.length), 0);
  if (bytes > maxBytes) return tooLargeToShow;
  return { ...(old && { before: encode(old) }), ...(now && { after: encode(now) }) };
}

interface Image {
  readonly mediaType: string;
  readonly content: Buffer;
}

function imageAt({ state, content }: EntryThen): Image | undefined {
  const found = state.kind === "file" ? content() : undefined;
  if (found === undefined || found === "too-large") return undefined;
  const mediaType = mediaTypeOf(found);
  return mediaType?.startsWith("image/") ? { mediaType, content: found } : undefined;
}

const encode = ({ mediaType, content }: Image) => ({
  data: content.toString("base64"),
  mime_type: mediaType,
});

const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/** Returns the bytes of both sides in an answer. */
export const lengthOf = ({ before, after }: ComparedImages): number =>
  (before?.data.length ?? 0) + (after?.data.length ?? 0);
