/**
 * The names of state folders. Their ending is reserved: no worker of either family reaches one, whichever
 * worker owns it.
 */

const ending = ".coder-state";
const endingBytes = Buffer.from(ending);

/** Returns the name of a state folder, by what distinguishes it from others. */
export const stateFolderName = (identity: string): string => identity + ending;

/** Returns whether a name is reserved for state folders. */
export const isStateFolderName = (name: string): boolean => name.endsWith(ending);

/** Like `isStateFolderName`, for the name in `bytes[from, to)`. */
export const isStateFolderNameIn = (bytes: Buffer, from: number, to: number): boolean =>
  to - from >= ending.length && bytes.compare(endingBytes, 0, ending.length, to - ending.length, to) === 0;
