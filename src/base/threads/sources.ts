/** The programs that run in threads: the `thread.ts` of this folder in `src`. */
export type ThreadProgram = "config" | "text/regex" | "search" | "serve/watchdog";

/**
 * The programs of threads as source text (CommonJS), for a bundle without files to start them from. Elsewhere
 * it is `undefined`: a bundler that needs them replaces this module.
 */
export const threadSources: Readonly<Record<ThreadProgram, string>> | undefined = undefined;
