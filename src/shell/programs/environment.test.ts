import { describe, expect, test } from "bun:test";
import { codeVariables } from "./code-variables.ts";
import { childEnvironment } from "./environment.ts";

const own = {
  PATH: "/bin",
  SECRET: "s",
  BUN_OPTIONS: "--preload=x",
  BUN_BE_BUN: "1",
  NODE_OPTIONS: "-r x",
  LD_PRELOAD: "x.so",
  LD_LIBRARY_PATH: "/x",
  DYLD_INSERT_LIBRARIES: "x",
  LDFLAGS: "-lm",
};

test("a child gets the allowed names that are set", () => {
  expect(childEnvironment({ inherit: false, allowed: ["PATH", "HOME"] }, own)).toEqual({ PATH: "/bin" });
});

test("a child inherits everything but what loads code", () => {
  const all = childEnvironment({ inherit: true, allowed: [] }, own);
  expect(all).toEqual({ PATH: "/bin", SECRET: "s", LDFLAGS: "-lm" });
});

test("what loads code is not passed on by name either", () => {
  expect(childEnvironment({ inherit: false, allowed: Object.keys(own) }, own)).toEqual({
    PATH: "/bin",
    SECRET: "s",
    LDFLAGS: "-lm",
  });
});

test("names that every object has are not variables", () => {
  expect(childEnvironment({ inherit: false, allowed: ["constructor", "toString"] }, own)).toEqual({});
});

test("__proto__ is a name like any other", () => {
  const strange = Object.fromEntries([["__proto__", "x"]]);
  expect(Object.entries(childEnvironment({ inherit: true, allowed: [] }, strange))).toEqual([
    ["__proto__", "x"],
  ]);
});

describe("what makes programs run code is withheld", () => {
  test.each([...codeVariables.names, ...codeVariables.prefixes.map((prefix) => `${prefix}X%%`)])(
    "%s",
    (name) => {
      const variables = { [name]: "x", HARMLESS: "y" };
      expect(childEnvironment({ inherit: true, allowed: [] }, variables)).toEqual({ HARMLESS: "y" });
      expect(childEnvironment({ inherit: false, allowed: [name] }, variables)).toEqual({});
    },
  );
});

test("no child gets what the worker is configured by", () => {
  const variables = {
    CODER_TOKEN: "secret",
    III_URL: "ws://user:secret@host",
    III_X: "x",
    CODER_JAIL: "openat",
  };
  expect(childEnvironment({ inherit: true, allowed: [] }, variables)).toEqual({ CODER_JAIL: "openat" });
  expect(childEnvironment({ inherit: false, allowed: ["CODER_TOKEN", "III_URL"] }, variables)).toEqual({});
});
