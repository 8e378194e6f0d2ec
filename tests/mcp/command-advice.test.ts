/** The calls that refusals of commands advise, each of which is made. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connectStdio, type McpFixture, textOf } from "./client.ts";

type Arguments = Readonly<Record<string, unknown>>;

interface Advised {
  readonly sent: Arguments;
  /** The end of the refusal. */
  readonly advice: string;
  /** The call that follows it, of `shell_exec` unless `tool` names another. */
  readonly next: Arguments;
  readonly tool?: string;
  /** A part of its answer. */
  readonly answer?: string;
}

const tree = { "a.txt": "one\n", "src/b.py": "print('two')\n", "src/c.sh": "echo three\n" };

/** Refusals under the default allowlist. */
const byDefault: readonly Advised[] = [
  {
    sent: { command: "APP_MODE=x printenv APP_MODE" },
    advice: "Send APP_MODE in `env`, and the program as `command`.",
    next: { command: "printenv APP_MODE", env: { APP_MODE: "x" } },
    answer: "x\n",
  },
  {
    sent: { command: "FOO=1 ls" },
    advice: "Send the program without FOO, or ask the user to add FOO to allowed_env.",
    next: { command: "ls" },
    answer: "a.txt",
  },
  {
    sent: { command: "PATH=/opt/bin ls" },
    advice: "Send the program without PATH, which callers may not set.",
    next: { command: "ls" },
  },
  {
    sent: { command: "env APP_MODE=x printenv APP_MODE" },
    advice: "Send variables that the user allows in `env`, and the program as `command`.",
    next: { command: "printenv APP_MODE", env: { APP_MODE: "x" } },
    answer: "x\n",
  },
  {
    sent: { command: "export APP_MODE=x" },
    advice: "Send variables that the user allows in `env`, and the program as `command`.",
    next: { command: "printenv", env: { APP_MODE: "x" } },
    answer: "APP_MODE=x",
  },
  {
    sent: { command: "cd src && ls" },
    advice: "Instead of cd, send the folder as `cwd` of the command that is to run there.",
    next: { command: "ls", cwd: "src" },
    answer: "b.py",
  },
  {
    sent: { command: "mkdir -p new/folder" },
    advice: "Instead of mkdir, call a function that changes files, or ask the user to allow mkdir.",
    tool: "coder_create_file",
    next: { path: "new/folder/f", content: "" },
  },
  {
    sent: { command: "ls -a", args: [] },
    advice: "With `args`, `command` is the name alone; without, it is the whole line.",
    next: { command: "ls -a" },
    answer: "a.txt",
  },
  {
    sent: { command: "src/ls" },
    advice: 'send "ls" without a folder.',
    next: { command: "ls" },
  },
  {
    sent: { command: "sort -o b.txt a.txt" },
    advice:
      "leave it out and take what the answer holds in stdout, or ask the user for an allowlist that names 'sort'.",
    next: { command: "sort a.txt" },
    answer: "one\n",
  },
  {
    sent: { command: 'grep "one a.txt' },
    advice: "close it, or send the arguments in args, where quotes mean nothing.",
    next: { command: "grep", args: ["one", "a.txt"] },
    answer: "one\n",
  },
  {
    sent: { command: "" },
    advice: 'send the name of a program, such as "ls", and its arguments in args.',
    next: { command: "ls", args: ["-l"] },
  },
  {
    sent: { command: "cat a.txt\nls" },
    advice: "Send each command in a call of its own, or the lines of one command joined by blanks.",
    next: { command: "cat a.txt" },
    answer: "one\n",
  },
  {
    sent: { command: "cat\na.txt" },
    advice: "Send each command in a call of its own, or the lines of one command joined by blanks.",
    next: { command: "cat a.txt" },
    answer: "one\n",
  },
  {
    sent: { command: "ls", env: { FOO: "1" } },
    advice: "Take one of them, or ask the user to add the name to allowed_env.",
    next: { command: "ls", env: { NO_COLOR: "1" } },
  },
  {
    sent: { command: "ls", env: { "NO-NAME": "1" } },
    advice: "Leave it out, or take letters, digits and _ for its name.",
    next: { command: "ls", env: { NO_COLOR: "1" } },
  },
  {
    sent: { command: "ls", env: { PATH: "/opt/bin" } },
    advice: "it decides what programs run, or where their files are. Leave it out.",
    next: { command: "ls" },
  },
  {
    sent: { command: "printenv APP_MODE", env: ["APP_MODE=x"] },
    advice: 'Send a list with an entry for each: [{"key": "NAME", "value": "text"}].',
    next: { command: "printenv APP_MODE", env: [{ key: "APP_MODE", value: "x" }] },
    answer: "x\n",
  },
  {
    sent: {
      command: "printenv APP_MODE",
      env: [
        { key: "APP_MODE", value: "x" },
        { key: "APP_MODE", value: "y" },
      ],
    },
    advice: "Send each key once.",
    next: { command: "printenv APP_MODE", env: [{ key: "APP_MODE", value: "y" }] },
    answer: "y\n",
  },
];

/** Refusals under an allowlist of the user. */
const byUser: readonly Advised[] = [
  {
    sent: { command: "FOO=1 printenv FOO" },
    advice: 'Send sh as `command`, and ["-c", LINE] with the whole line as `args`.',
    next: { command: "sh", args: ["-c", "FOO=1 printenv FOO"] },
    answer: "1\n",
  },
  {
    sent: { command: "cat a.txt\nsh src/c.sh\n" },
    advice: `or sh as 'command' and ["-c", LINES] as 'args'.`,
    next: { command: "sh", args: ["-c", "cat a.txt\nsh src/c.sh\n"] },
    answer: "one\nthree\n",
  },
  {
    sent: { command: "src/c.sh" },
    advice: "Send sh with the path of the script.",
    next: { command: "sh src/c.sh" },
    answer: "three\n",
  },
];

/** Refusals under an allowlist that has `env`. */
const byEnv: readonly Advised[] = [
  {
    sent: { command: "FOO=1 printenv FOO" },
    advice: "Send env as `command`, and FOO=… as its first argument.",
    next: { command: "env", args: ["FOO=1", "printenv", "FOO"] },
    answer: "1\n",
  },
];

describe.each([
  ["by default", [], byDefault],
  ["with a shell", ["--allow", "sh,printenv"], byUser],
  ["with env", ["--allow", "env,printenv"], byEnv],
] as const)("%s", (_, flags, cases) => {
  let connected: McpFixture;
  beforeAll(async () => {
    connected = await connectStdio("executable", { tree, args: ["--commands", ...flags] });
  });
  afterAll(() => connected[Symbol.asyncDispose]());

  test.each(cases.map((one) => [JSON.stringify(one.sent), one] as const))(
    "the call that is advised after %s works",
    async (_name, { sent, advice, next, tool = "shell_exec", answer = "" }) => {
      const refused = await connected.call("shell_exec", { ...sent });
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toEndWith(advice);
      const followed = await connected.call(tool, { ...next });
      expect(followed.isError).not.toBe(true);
      expect(textOf(followed)).toContain(answer);
      if (tool === "shell_exec") expect(textOf(followed)).toContain("[exit code 0, ");
    },
  );
});
