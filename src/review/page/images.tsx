import { useEffect, useState } from "preact/hooks";
import { renderBytes, visible } from "./words.ts";
import type { ChangedFile, ImageSides } from "./worker.ts";

/** The types of images that are shown. An image runs no script, whatever its content. */
const imageTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
};

const types: ReadonlySet<string> = new Set(Object.values(imageTypes));

/** Returns the type that the name of a file says, if it is that of an image. */
export const imageTypeOf = (path: string): string | undefined =>
  imageTypes[path.slice(path.lastIndexOf(".") + 1).toLowerCase()];

/** Reads a file with its images, or else with a note. Resolves to `undefined` if it no longer differs. */
export type ReadImages = (file: ChangedFile) => Promise<ChangedFile | undefined>;

interface ComparedImagesProps {
  readonly file: ChangedFile;
  /** Whether to show what taking the changes back would do. */
  readonly isReversed: boolean;
  readonly read: ReadImages;
}

/** Renders an image before and after a change, side by side. */
export function ComparedImagesView({ file, isReversed, read }: ComparedImagesProps) {
  const loaded = useImages(file, read);
  if (loaded === undefined) return <div class="images quiet">Loading …</div>;
  const { images, note, kind } = loaded;
  if (images === undefined)
    return <div class="images quiet">{visible(`No images to compare: ${note ?? "nothing differs"}.`)}</div>;
  const { before, after } = images;
  const sides = [
    { image: before, isThere: kind !== "created" },
    { image: after, isThere: kind !== "deleted" },
  ];
  const [left, right] = isReversed ? sides.toReversed() : sides;
  return (
    <div class="images">
      <ImageSide title="Before" path={file.path} {...left!} />
      <ImageSide title="After" path={file.path} {...right!} />
    </div>
  );
}

/** Returns the file with its images. Until they are read, those of the same path stay. */
function useImages(file: ChangedFile, read: ReadImages): ChangedFile | undefined {
  const [loaded, setLoaded] = useState<ChangedFile>();
  useEffect(() => {
    let isCurrent = true;
    read(file).then(
      (found) => isCurrent && setLoaded(found ?? file),
      (error: Error) => isCurrent && setLoaded({ ...file, note: error.message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [file]);
  return loaded?.path === file.path ? loaded : undefined;
}

interface ImageSideProps {
  readonly title: string;
  readonly path: string;
  readonly image: ImageSides["before"];
  /** Whether the file was there. */
  readonly isThere: boolean;
}

function ImageSide({ title, path, image, isThere }: ImageSideProps) {
  const [size, setSize] = useState("");
  if (image === undefined || !types.has(image.mime_type))
    return (
      <figure>
        <figcaption>{title}</figcaption>
        <p class="quiet">{isThere ? "Not an image." : "Not there."}</p>
      </figure>
    );
  const { data, mime_type: type } = image;
  const bytes = Math.floor((data.length * 3) / 4) - (/=*$/.exec(data)?.[0].length ?? 0);
  return (
    <figure>
      <figcaption>
        {title}{" "}
        <span class="quiet">
          {size} {renderBytes(bytes)}
        </span>
      </figcaption>
      <img
        alt={`${title}: ${visible(path)}`}
        src={`data:${type};base64,${data}`}
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
          setSize(`${naturalWidth} × ${naturalHeight},`)
        }
        onError={() => setSize("damaged,")}
      />
    </figure>
  );
}
