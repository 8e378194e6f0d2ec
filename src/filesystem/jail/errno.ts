import { Refusal, refuse, shortages } from "../../base/errors.ts";

/** Returns the errno name of an error of a system call, or `undefined` for anything else. */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** Returns an error like that of a system call, for conditions that this project detects itself. */
export const errnoError = (
  code:
    | "EACCES"
    | "EEXIST"
    | "EINVAL"
    | "ENOENT"
    | "ENOTDIR"
    | "ELOOP"
    | "ENODEV"
    | "EILSEQ"
    | "ESTALE"
    | "EBUSY"
    | "EROFS"
    | "EXDEV"
    | "EIO",
): Error => Object.assign(new Error(code), { code });

const sentences: Readonly<Record<string, string>> = {
  ...shortages,
  EFBIG: "the file system takes no file of this size (EFBIG)",
  EILSEQ: "a name in it is not UTF-8 (EILSEQ)",
};

/**
 * Converts an error of a system call to the refusal for `path`, as the caller sent it. Returns refusals
 * unchanged, and rethrows an error without errno, which is a bug. It drops the system's own message, which
 * names host paths.
 */
export function refusalOfErrno(error: unknown, path: string): Refusal {
  if (error instanceof Refusal) return error;
  const code = errnoOf(error);
  switch (code) {
    case undefined:
      throw error;
    case "ENOTDIR":
      return refuse.absent(path, "below-file");
    case "ENOENT":
    case "ENODEV":
      return refuse.absent(path, "missing");
    case "ELOOP":
      return refuse.badLink(path);
    case "ESTALE":
      return refuse.changed(path);
    case "EACCES":
    case "EPERM":
      return refuse.permission(path);
    case "EISDIR":
      return refuse.isAFolder(path);
    case "ENOTEMPTY":
    case "EEXIST":
      return refuse.notEmpty(path);
    case "EBUSY":
    case "EXDEV":
      return refuse.mountPoint(path);
    case "ENAMETOOLONG":
      return refuse.malformedPath(path, "is longer than the file system allows");
    default:
      return refuse.io(path, sentences[code] ?? code);
  }
}

/** Runs `act`, and converts its error to the refusal for `path`. */
export function mapErrno<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}
