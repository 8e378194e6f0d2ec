import { expect, test } from "bun:test";
import { renderProfile, runnerArguments } from "./seatbelt.ts";

const policy = { writable: ["/Users/me/project"], denied: ["/etc/passwd"], network: "none" as const };

/** Parses the text as nested lists. Throws unless all parentheses and quotes are balanced. */
function parse(text: string): unknown[] {
  const words = text.match(/"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+/g) ?? [];
  const stack: unknown[][] = [[]];
  for (const word of words) {
    if (word === "(") stack.push([]);
    else if (word === ")") {
      const list = stack.pop();
      stack.at(-1)!.push(list);
    } else stack.at(-1)!.push(word);
  }
  if (stack.length !== 1) throw new Error("parentheses do not match");
  return stack[0]!;
}

test("the rules of a profile, of which the last that fits counts", () => {
  expect(parse(renderProfile(policy))).toEqual([
    ["version", "1"],
    ["allow", "default"],
    ["deny", "file-write*"],
    ["allow", "file-write*", ["subpath", '"/Users/me/project"'], ...devices],
    ["deny", "file-read*", "file-write*", ["subpath", '"/etc/passwd"']],
    ["deny", "signal"],
    ["allow", "signal", ["target", "same-sandbox"]],
    ["deny", "process-info*", ["target", "others"]],
    ["deny", "mach-priv*"],
    ["deny", "network*"],
  ]);
  expect(parse(renderProfile({ ...policy, denied: [], network: "full" as const })).slice(4)).toEqual([
    ["deny", "signal"],
    ["allow", "signal", ["target", "same-sandbox"]],
    ["deny", "process-info*", ["target", "others"]],
    ["deny", "mach-priv*"],
    ["deny", "network*", ["remote", "unix-socket"]],
  ]);
});

const devices = [
  ["literal", '"/dev/null"'],
  ["literal", '"/dev/zero"'],
  ["literal", '"/dev/tty"'],
  ["regex", "#", '"^/dev/ttys[0-9]+$"'],
  ["literal", '"/dev/ptmx"'],
];

test("a read-only folder in a writable one, and a writable one in it, have rules of their own", () => {
  const nested = { ...policy, writable: ["/a", "/a/b/c"], readOnly: ["/a/b", "/other"], denied: [] };
  expect(parse(renderProfile(nested)).slice(3, 7)).toEqual([
    ["allow", "file-write*", ["subpath", '"/a"'], ["subpath", '"/a/b/c"'], ...devices],
    ["deny", "file-write*", ["subpath", '"/a/b"']],
    ["allow", "file-write*", ["subpath", '"/a/b/c"']],
    ["deny", "signal"],
  ]);
});

test("a path cannot end its string", () => {
  const profile = renderProfile({ ...policy, denied: ['/a") (allow default) ("\\'] });
  expect(parse(profile)[4]).toEqual([
    "deny",
    "file-read*",
    "file-write*",
    ["subpath", '"/a\\") (allow default) (\\"\\\\"'],
  ]);
});

test("the runner gets the profile, the program and its arguments", () => {
  expect(runnerArguments(policy, "/bin/ls", ["-l", "--"])).toEqual([
    "-p",
    renderProfile(policy),
    "/bin/ls",
    "-l",
    "--",
  ]);
});
