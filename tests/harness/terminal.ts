import { commandOf, type Subject } from "./subject.ts";

export interface Screen {
  readonly code: number;
  /** The text written to both outputs, with the line ends of the sources. */
  readonly text: string;
}

/**
 * Runs the subject in a terminal of its own, to its end. By default that terminal is dumb: it has neither
 * colours nor progress.
 */
export async function runInTerminal(
  subject: Subject,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Screen> {
  const decoder = new TextDecoder();
  let text = "";
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const child = Bun.spawn([...commandOf(subject), ...args], {
    cwd,
    env: { PATH: process.env["PATH"], TERM: "dumb", TZ: "UTC", ...env },
    terminal: {
      data: (_, bytes) => {
        text += decoder.decode(bytes, { stream: true });
      },
      exit: () => close(),
    },
  });
  const code = await child.exited;
  await closed;
  child.terminal?.close();
  return { code, text: text.replaceAll("\r\n", "\n") };
}
