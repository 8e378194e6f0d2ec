import { closeSync, constants, lstatSync, openSync, readdirSync, unlinkSync } from "node:fs";
import type { Folder, JailedPath, Name } from "./folder.ts";
import { trialName } from "./temporary.ts";

type At = (name: Name) => JailedPath;

/**
 * Tries whether the file system of `folder` takes two spellings for one name: letters of the other case, or another
 * Unicode form. Makes a file for a moment; where that is not permitted, looks at the names that are there. Where nothing
 * can be tried, true unless the file system `isKnownExact`: then more is denied, not less.
 */
export function isCaseInsensitive(folder: Folder, { isKnownExact, trial = "new-file" }: TrialRules): boolean {
  return folder.enter((at) => {
    if (trial !== "new-file" && isKnownExact) return tryOldNames(at) ?? false;
    if (trial === "no-file") return true;
    return tryNewName(at) ?? tryOldNames(at) ?? !isKnownExact;
  });
}

/**
 * Whether a file may be made for the trial: yes; only where neither the file system nor the names that are there show it; or
 * never. Names show whether case counts, and nothing of Unicode forms.
 */
export type Trial = "new-file" | "new-file-last" | "no-file";

/** A worker that is read-only leaves the folder as it is, and so does one call, where it can. */
export const trialFor = (opening: { readonly mode?: string; readonly readOnly?: boolean }): Trial => {
  if (opening.readOnly === true) return "no-file";
  return opening.mode === "call" ? "new-file-last" : "new-file";
};

interface TrialRules {
  readonly isKnownExact: boolean;
  readonly trial?: Trial | undefined;
}

function tryNewName(at: At): boolean | undefined {
  const name = trialName();
  try {
    closeSync(openSync(at(name), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
  } catch {
    return undefined;
  }
  try {
    return isThere(at(name.toUpperCase())) || isThere(at(name.normalize("NFD")));
  } finally {
    unlinkSync(at(name));
  }
}

/** Enough to meet a name with a letter in it; a folder may hold a million. */
const namesTried = 100;

function tryOldNames(at: At): boolean | undefined {
  try {
    const names = readdirSync(at(".")).slice(0, namesTried);
    const name = names.find((name) => !names.includes(swapCase(name)));
    return name === undefined ? undefined : isThere(at(swapCase(name)));
  } catch {
    return undefined;
  }
}

function swapCase(name: string): string {
  return name.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

function isThere(path: JailedPath): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
