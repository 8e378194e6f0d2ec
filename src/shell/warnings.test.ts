import { expect, test } from "bun:test";
import { createLog } from "../base/log/log.ts";
import { validate } from "../base/schema/validate.ts";
import { type ShellConfig, shellConfigSchema } from "./config.ts";
import { warnAboutConfig } from "./warnings.ts";

test.each([
  [true, "only os_sandbox bounds what a call of shell::exec can do"],
  [false, "whoever can call shell::exec can do whatever this user can"],
])("an empty allowlist, with isConfined %p", (isConfined, reason) => {
  const lines: string[] = [];
  const log = createLog({ level: "warn", form: "json", write: (line) => void lines.push(line) });
  const config = validate(shellConfigSchema, { allowlist: [] }, { unknownKeys: "refuse" }) as ShellConfig;
  warnAboutConfig(config, { root: "/srv/project", isServed: true, isConfined, isOff: !isConfined, log });
  expect(lines.join("")).toContain(`allowlist is empty; ${reason}`);
});

test.each([
  [true, "os_sandbox is off, so each command"],
  [false, "this system has none of the rules of os_sandbox, so each command"],
])("unconfined commands, with isOff %p", (isOff, reason) => {
  const lines: string[] = [];
  const log = createLog({ level: "warn", form: "json", write: (line) => void lines.push(line) });
  const config = validate(shellConfigSchema, {}, { unknownKeys: "refuse" }) as ShellConfig;
  warnAboutConfig(config, { root: "/srv/project", isServed: true, isConfined: false, isOff, log });
  expect(lines.join("")).toContain(reason);
});
