/** The notices of other software; the build defines them. */
declare const CODER_NOTICES: string | undefined;

/** The output of `--licenses`. */
export const notices = (): string =>
  typeof CODER_NOTICES === "undefined"
    ? "This program runs from its sources; the notices are in their file THIRD-PARTY-NOTICES.txt.\n"
    : CODER_NOTICES;
