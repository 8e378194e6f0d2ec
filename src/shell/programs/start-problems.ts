/**
 * Maximum bytes of all arguments of a program. Linux takes 2 MiB, but a start with as many would hold the
 * event loop for up to 100 ms.
 */
export const maxArgumentsBytes = 512 * 1024;

/**
 * Maximum control, format and unusual space characters in the arguments of a program. The library that starts
 * it escapes each of them for a text of its own, some 150,000 in 50 ms.
 */
export const maxControlCharacters = 65_536;

/** The reasons why a program did not start, and the remedies, as parts of the functions' error sentences. */
export const startProblems = {
  missing:
    "the program, the interpreter it names or the configured working folder is not there; send a program that is installed, or ask the user to add its folder to program_folders",
  "not-executable": "the file cannot be executed here; send a program of the operating system",
  "too-long":
    "the arguments are longer than a program can be given, which is at most 131071 bytes for one and 524288 for all; send fewer or shorter ones, or the text in stdin or in a file",
  "null-character": "an argument holds a NUL character, which no program can be given; send it without",
  "control-characters":
    "the arguments hold more than 65536 control or invisible characters, besides blanks, tabs and line breaks; send such data in stdin or in a file",
  exhausted: "the host is out of descriptors, processes or memory; wait a while and send it again",
  "not-confined":
    "the kernel did not take the rules of os_sandbox, so nothing was run; tell the user, who can set os_sandbox to best or off",
  stopping: "the server is stopping; send it again when it is back",
} as const;

/**
 * The reason why a program did not start. "missing": the program, its interpreter or the working folder.
 * "not-executable": no permission, a folder, or a file that this machine cannot run. "too-long": more
 * arguments than a program can be given. "null-character": in an argument, where C ends a string.
 * "control-characters": more of them than the limit. "exhausted": no descriptors, processes or memory left; a
 * later attempt may succeed. "not-confined": a launcher could not confine it. "stopping": the worker is
 * ending.
 */
export type StartProblem = keyof typeof startProblems;
