import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultAllowlist, makePolicy, type PolicyRules } from "./policy.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));

const folder = (name: string) => {
  mkdirSync(join(root, name), { recursive: true });
  return join(root, name);
};
const program = (path: string) => {
  writeFileSync(join(root, path), "#!/bin/sh\n");
  chmodSync(join(root, path), 0o755);
  return join(root, path);
};

const bin = folder("bin");
const jail = folder("jail");
program("bin/tool");
program("bin/other");
symlinkSync("tool", join(bin, "alias"));
writeFileSync(join(bin, "data"), "");
folder("bin/nested");

const place = { folder: root, path: bin };
const policy = (rules: Partial<PolicyRules>) =>
  makePolicy({ denylist: [], allowlist: ["tool"], programFolders: [bin], writableRoots: [jail], ...rules });
const pattern = (source: string) => ({ source, matches: (text: string) => text.includes(source) });

describe("the denylist", () => {
  const strict = policy({ denylist: [pattern("rm -rf /"), pattern("x")] });

  test("sees the words joined with single spaces, and names the first pattern that matches", () => {
    expect(() => strict.validate(["rm", "-rf", "/x"])).toThrow(/^command matches denylist: rm -rf \/;/);
  });

  test("comes before the allowlist, and holds when everything may run", () => {
    expect(() => strict.validate(["unlisted", "x"])).toThrow("denylist");
    const open = policy({ denylist: [pattern("x")], allowlist: [] });
    expect(() => open.admit(["tool", "x"], place)).toThrow("denylist");
  });
});

describe("by name only", () => {
  const allowed = policy({ allowlist: ["ls", "/usr/bin/id"] });

  test.each([["ls"], ["/bin/ls"], ["/anywhere/ls"], ["/usr/bin/id"]])("%s passes", (name) => {
    expect(() => allowed.validate([name])).not.toThrow();
  });

  test.each([["LS"], ["id"], ["/bin/id"], ["ls "], ["echo hi"], [""], ["/"], ["ls/.."], ["toString"]])(
    "%j does not",
    (name) => {
      expect(() => allowed.validate([name])).toThrow(
        "not in allowlist; send one of these instead: ls, /usr/bin/id.",
      );
    },
  );

  test.each([
    ["cd", "Instead of cd, send the folder as `cwd`"],
    ["rm", "call a function that changes files, or ask the user to allow rm."],
    ["NAME=world", "Send NAME in `env`"],
    ["export", "Send variables that the user allows in `env`"],
    ["ls -a", "With `args`, `command` is the name alone"],
    ["./server.js", "Send node with the path of the script."],
    ["./tool.py", "/usr/bin/id, node."],
    ["id", "Send /usr/bin/id as `command`."],
  ])("the refusal of %j ends with what was meant", (name, sentence) => {
    const refused = () => policy({ allowlist: ["ls", "/usr/bin/id", "node"] }).validate([name]);
    expect(refused).toThrow(`not in allowlist; send one of these instead: ls, /usr/bin/id, node.`);
    expect(refused).toThrow(sentence);
  });

  test("no list is the published one, which has 23 entries and lacks env", () => {
    const byDefault = policy({ allowlist: undefined });
    expect(defaultAllowlist).toHaveLength(23);
    for (const name of defaultAllowlist) expect(() => byDefault.validate([name])).not.toThrow();
    expect(() => byDefault.validate(["env", "nmap"])).toThrow("command 'env' not in allowlist");
  });
});

describe("a bare name", () => {
  test("is looked up in the program folders, whatever the child's PATH says", () => {
    const elsewhere = { folder: root, path: jail };
    program("jail/tool");
    expect(policy({ writableRoots: [] }).admit(["tool", "a"], elsewhere)).toEqual({
      file: join(bin, "tool"),
      argv: ["tool", "a"],
    });
    rmSync(join(jail, "tool"));
  });

  test("is found in the folders of the operating system", () => {
    expect(policy({ allowlist: ["sh"] }).admit(["sh"], place).file).toBe(realpathSync("/bin/sh"));
  });

  test("runs the file a link leads to, under the name of the link", () => {
    const admitted = policy({ allowlist: ["alias"] }).admit(["alias"], place);
    expect(admitted).toEqual({ file: join(bin, "tool"), argv: ["alias"] });
  });

  test.each([["gone"], ["data"], ["nested"], [".."], [""]])("%j is missing, though it is listed", (name) => {
    const listed = policy({ allowlist: [name] });
    expect(() => listed.admit([name], place)).toThrow(expect.objectContaining({ problem: "missing" }));
  });
});

describe("a path", () => {
  test("passes as the very file that a listed name stands for", () => {
    expect(policy({}).admit([join(bin, "tool")], place).argv).toEqual([join(bin, "tool")]);
    expect(policy({}).admit(["bin/../bin/tool"], place).file).toBe(join(bin, "tool"));
  });

  test("does not pass by its last name, and nobody learns whether it exists", () => {
    folder("elsewhere");
    copyFileSync(join(bin, "tool"), join(root, "elsewhere/tool"));
    const answers = ["elsewhere/tool", "nowhere/tool"].map((path) => {
      try {
        return policy({}).admit([path], place);
      } catch (error) {
        return String(error);
      }
    });
    expect(answers[0]).toContain("command 'tool' not in allowlist under this path");
    expect(answers[1]).toBe(answers[0] as string);
  });

  test("does not pass under another name of a listed file: a file with many names does what its name says", () => {
    expect(() => policy({ allowlist: ["alias"] }).admit([join(bin, "tool")], place)).toThrow(
      "not in allowlist",
    );
  });

  test("passes when it is listed itself, and then only as it is listed", () => {
    const listed = policy({ allowlist: [join(bin, "other")] });
    expect(listed.admit([join(bin, "other")], place).file).toBe(join(bin, "other"));
    expect(() => listed.admit(["bin/other"], place)).toThrow("not in allowlist");
    expect(() => listed.admit(["other"], place)).toThrow("not in allowlist");
  });

  test("that is listed and does not exist is missing", () => {
    const listed = policy({ allowlist: ["/nowhere/x"] });
    expect(() => listed.admit(["/nowhere/x"], place)).toThrow(
      expect.objectContaining({ problem: "missing" }),
    );
  });
});

describe("what lies in a folder that calls can write in", () => {
  program("jail/own");
  symlinkSync(join(jail, "own"), join(bin, "linked"));

  test.each([
    ["listed by path", [join(jail, "own")], join(jail, "own")],
    ["found in a program folder through a link", ["linked"], "linked"],
    ["anything, when everything may run", [], "jail/own"],
  ])("is not run: %s", (_, allowlist, name) => {
    expect(() => policy({ allowlist }).admit([name], place)).toThrow(/nothing there is ever run/);
    // Without the writable root, the same command passes.
    expect(policy({ allowlist, writableRoots: [] }).admit([name], place).file).toBe(join(jail, "own"));
  });

  test("a folder whose name only starts like a root's is another folder", () => {
    folder("jailed");
    const path = program("jailed/x");
    expect(policy({ allowlist: [path] }).admit([path], place).file).toBe(path);
  });

  test("is everything, when the root is the root of the file system", () => {
    expect(() => policy({ writableRoots: ["/"] }).admit(["tool"], place)).toThrow(
      "nothing there is ever run",
    );
  });
});

describe("when everything may run", () => {
  const open = policy({ allowlist: [] });

  test("a bare name is looked up in the child's PATH, of which only absolute folders count", () => {
    expect(open.admit(["other"], { folder: bin, path: `.::${bin}` }).file).toBe(join(bin, "other"));
    expect(() => open.admit(["other"], { folder: bin, path: ".::bin" })).toThrow(
      expect.objectContaining({ problem: "missing" }),
    );
  });

  test("without PATH it is looked up where the operating system keeps programs", () => {
    expect(open.admit(["sh"], { folder: root, path: undefined }).file).toBe(realpathSync("/bin/sh"));
  });

  test.each([["_nope_"], ["/nope"], ["echo hi"], [""], ["a\0b"], ["/a\0b"]])("%j is missing", (name) => {
    expect(() => open.admit([name], place)).toThrow(expect.objectContaining({ problem: "missing" }));
  });
});
