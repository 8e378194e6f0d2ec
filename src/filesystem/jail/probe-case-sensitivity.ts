import { closeSync, constants, lstatSync, openSync, readdirSync, unlinkSync } from "node:fs";
import type { Folder, JailedPath, Name } from "./folder.ts";
import { trialName } from "./temporary.ts";

type At = (name: Name) => JailedPath;

/**
 * Tests whether the file system of `folder` treats two spellings as one name: letters of the other case, or
 * another Unicode form. It creates a temporary file; if that is not permitted, it tests the names in the
 * folder. Without any test the result is true unless the file system `isKnownExact`, which denies more rather
 * than less.
 */
export function isCaseInsensitive(folder: Folder, { isKnownExact, trial = "new-file" }: TrialRules): boolean {
  return folder.enter((at) => {
    if (trial !== "new-file" && isKnownExact) return tryOldNames(at) ?? false;
    if (trial === "no-file") return true;
    return tryNewName(at) ?? tryOldNames(at) ?? !isKnownExact;
  });
}

/**
 * Whether the trial may create a file: yes; only if neither the type of the file system nor the names in the
 * folder decide; or never. Names show whether case counts, but not whether Unicode forms do.
 */
export type Trial = "new-file" | "new-file-last" | "no-file";

/**
 * Returns the trial for an opening. A read-only worker must not change the folder, and a single call should
 * not.
 */
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

/** Maximum names tried. They suffice to find one with a letter; a folder may have a million. */
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
