/** Runs the commands on a page of the documents in a new folder, each block in its own terminal. */
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { commandOf } from "../../harness/subject.ts";
import { temporaryFolder } from "../../harness/worker-fixture.ts";

/** The pages with commands to run, relative to the repository. */
export const runPages: readonly string[] = ["docs/recipes.md"];

/** A block of commands, with the block of their output, if any. */
const commands = /```sh\n(.*?)```\n(?:\n```text\n.*?```\n)?/gs;

/** Returns the page with the current output of its commands. */
export async function runPage(page: string): Promise<string> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "bin"));
  mkdirSync(join(folder, "work"));
  for (const name of ["coder", "shell"]) symlinkSync(commandOf("executable")[0], join(folder, "bin", name));
  try {
    let written = "";
    let at = 0;
    for (const { 0: block, 1: script = "", index } of page.matchAll(commands)) {
      const text = await runScript(script, folder);
      const output = text === "" ? "" : `\n\`\`\`text\n${text.replace(/\n*$/, "\n")}\`\`\`\n`;
      written += `${page.slice(at, index)}\`\`\`sh\n${script}\`\`\`\n${output}`;
      at = index + block.length;
    }
    return written + page.slice(at);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the output of a script in a terminal without colours. */
async function runScript(script: string, folder: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const child = Bun.spawn(["sh", "-c", script], {
    cwd: join(folder, "work"),
    env: {
      PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
      HOME: folder,
      XDG_STATE_HOME: join(folder, "state"),
      TERM: "dumb",
      TZ: "UTC",
    },
    terminal: {
      data: (_, bytes) => {
        text += decoder.decode(bytes, { stream: true });
      },
      exit: () => close(),
    },
  });
  await child.exited;
  await closed;
  child.terminal?.close();
  return text.replaceAll("\r\n", "\n");
}

/** Masks the parts of a page that differ between runs: times, durations, users and names of transactions. */
export const withoutTimes = (page: string): string =>
  page
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d \([^)]*\)/g, "<time>")
    .replaceAll(/\b\d+(?:\.\d+)? m?s\b/g, "<duration>")
    .replaceAll(/\btransaction [0-9a-f]{16}\b/g, "transaction <id>")
    .replaceAll(/\b(?:user) \S+/g, "user <name>");
