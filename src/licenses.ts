/** The notices about the software of others, put in when the program is built. */
declare const CODER_NOTICES: string | undefined;

/** What `--licenses` prints. */
export const notices = (): string =>
  typeof CODER_NOTICES === "undefined"
    ? "This program runs from its sources; the notices are in their file THIRD-PARTY-NOTICES.txt.\n"
    : CODER_NOTICES;
