import { expect, test } from "bun:test";
import { readLaunchVariables, readRuntimeOptions, readStateDirectory } from "./environment.ts";

test("how folders are held, and whether there are threads", () => {
  expect(readRuntimeOptions({})).toEqual({ backend: undefined, threads: true });
  expect(readRuntimeOptions({ CODER_JAIL: "", CODER_THREADS: "" })).toEqual({
    backend: undefined,
    threads: true,
  });
  for (const backend of ["openat", "descriptors", "current-directory"] as const)
    expect(readRuntimeOptions({ CODER_JAIL: backend, CODER_THREADS: "0" })).toEqual({
      backend,
      threads: false,
    });
});

test("a wrong CODER_JAIL names those that there are", () => {
  expect(() => readRuntimeOptions({ CODER_JAIL: "chroot" })).toThrow(
    /^CODER_JAIL is "chroot"; it takes one of openat, descriptors, current-directory\.$/,
  );
});

test("what an engine sets, and what is empty is not set", () => {
  const none = {
    workerName: undefined,
    namespace: undefined,
    configFile: undefined,
    engineConfigFile: undefined,
  };
  expect(readLaunchVariables({ III_WORKER_NAME: "", III_NAMESPACE: "", III_CONFIG: "" })).toEqual(none);
  expect(
    readLaunchVariables({ III_WORKER_NAME: "w", III_NAMESPACE: "n", III_CONFIG: "c", III_CONFIG_PATH: "p" }),
  ).toEqual({ workerName: "w", namespace: "n", configFile: "c", engineConfigFile: "p" });
});

test("where state is kept for a user", () => {
  expect(readStateDirectory({ XDG_STATE_HOME: "/s", HOME: "/h" })).toBe("/s/coder");
  expect(readStateDirectory({ XDG_STATE_HOME: "relative", HOME: "/h" })).toBe("/h/.local/state/coder");
  expect(readStateDirectory({ XDG_STATE_HOME: "", HOME: "/h" })).toBe("/h/.local/state/coder");
  expect(readStateDirectory({ HOME: "" })).toBeUndefined();
});
