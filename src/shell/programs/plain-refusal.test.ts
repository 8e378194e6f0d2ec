import { describe, expect, test } from "bun:test";
import { renderShellError } from "../error-codes.ts";
import { type PlainRefusal, refusePlainly } from "./plain-refusal.ts";

/** One refusal of every constructor, as a caller would get it. */
const all: Readonly<Record<keyof typeof refusePlainly, PlainRefusal>> = {
  badPayload: refusePlainly.badPayload("job_id", "is missing; expected a string"),
  missingCommand: refusePlainly.missingCommand(),
  commandNotAString: refusePlainly.commandNotAString(["ls"]),
  argsNotAnArray: refusePlainly.argsNotAnArray(),
  argNotAString: refusePlainly.argNotAString(1, 5),
  tooManyArgs: refusePlainly.tooManyArgs(20_001, 20_000),
  tooManyVariables: refusePlainly.tooManyVariables(20_001, 20_000),
  tooManyWords: refusePlainly.tooManyWords(20_001),
  longCommand: refusePlainly.longCommand(600_000, 524_288),
  illFormed: refusePlainly.illFormed("command"),
  emptyCommand: refusePlainly.emptyCommand(),
  unclosedQuote: refusePlainly.unclosedQuote('"'),
  severalLines: refusePlainly.severalLines("sh"),
  denylisted: refusePlainly.denylisted("mkfs"),
  notAllowed: refusePlainly.notAllowed("nmap", ["ls"]),
  otherFile: refusePlainly.otherFile("ls"),
  writable: refusePlainly.writable("ls"),
  guarded: refusePlainly.guarded("sort", "-o"),
  notStarted: refusePlainly.notStarted("missing"),
  notSettable: refusePlainly.notSettable("PATH"),
  notListed: refusePlainly.notListed("CC", "CI, TZ"),
  hostOnly: refusePlainly.hostOnly("cwd"),
  tooManyJobs: refusePlainly.tooManyJobs(16, 16),
  jobIdTaken: refusePlainly.jobIdTaken("web", "web-2"),
  badJobId: refusePlainly.badJobId("\n"),
  noSuchJob: refusePlainly.noSuchJob("job-1"),
  notSignalled: refusePlainly.notSignalled("job-1"),
};

describe.each(Object.entries(all))("%s", (_, refusal) => {
  test("says in one line what was given, why not, and what would work", () => {
    expect(refusal.message).toMatch(/^[^\n]{35,}\.$/);
    expect(refusal.message).toMatch(/[;,] /);
  });

  test("is bare prose on the wire", () => {
    expect(renderShellError(refusal)).toEqual({
      text: refusal.message,
      code: expect.stringMatching(/^S21[0-6]$/),
      isProse: true,
    });
  });
});

test("what a caller sent is named in short, well-formed and on one line", () => {
  const { message } = refusePlainly.noSuchJob(`\0\n\u2028\u0085${"x".repeat(5000)}\ud83d`);
  expect(message).toStartWith("no such job: \\u0000\\u000a\\u2028\\u0085xxx");
  expect(message.length).toBeLessThan(500);
  expect(refusePlainly.noSuchJob("\ud83d").message.isWellFormed()).toBe(true);
});

test("the programs of a long allowlist that are not named are counted", () => {
  const names = Array.from({ length: 52 }, (_, number) => `p${number}`);
  expect(refusePlainly.notAllowed("nmap", names).message).toContain("p48, p49 and 2 more.");
  expect(refusePlainly.notAllowed("nmap", names.slice(0, 50)).message).toContain("p48, p49.");
});

test("a variable before a command is sent to env, if that is allowed", () => {
  expect(refusePlainly.notAllowed("NAME=world", ["ls", "env"]).message).toEndWith(
    "Send env as `command`, and NAME=… as its first argument.",
  );
});

test("a variable that the caller may not set is sent to a shell, or left out", () => {
  const { message } = refusePlainly.notAllowed("FOO=a/b", ["ls", "bash"], () => false);
  expect(message).toEndWith('Send bash as `command`, and ["-c", LINE] with the whole line as `args`.');
  expect(refusePlainly.notAllowed("FOO=1", ["ls"], () => false).message).toEndWith(
    "Send the program without FOO, or ask the user to add FOO to allowed_env.",
  );
  expect(refusePlainly.notAllowed("PATH=/a", ["ls"], () => false).message).toEndWith(
    "Send the program without PATH, which callers may not set.",
  );
  expect(refusePlainly.notAllowed("CI=1", ["ls", "sh"], () => true).message).toEndWith(
    "Send CI in `env`, and the program as `command`.",
  );
});
