/** The notices of other software, defined by the build. */
declare const CODER_NOTICES: string | undefined;

/** Returns the output of `--licenses`. */
export const notices = (): string =>
  typeof CODER_NOTICES === "undefined"
    ? "This program runs from its sources; the notices are in their file THIRD-PARTY-NOTICES.txt.\n"
    : CODER_NOTICES;
