/**
 * Tests another program that acts at the worst moment: after a call has checked an entry, and before it
 * changes it.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../base/log/log.ts";
import type { FunctionDefinition, Runtime } from "../../calls/contract/definition.ts";
import { createInvoke } from "../../calls/invoke.ts";
import { openDisk } from "../../filesystem/disk/disk.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { DiskTree } from "../../filesystem/operations/disk-tree.ts";
import type { RegexEngine } from "../../text/regex/rust-regex.ts";
import { defaultShellConfig } from "../config.ts";
import type { ShellServices } from "../define.ts";
import { openShell } from "../services.ts";
import { mv } from "./mv.ts";
import { sed } from "./sed.ts";

const log = createLog({ level: "error", form: "text", write: () => undefined });

let folder: string;
let runtime: ShellServices & Runtime;
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  const config = defaultShellConfig();
  const jailed = { ...config, fs: { ...config.fs, host_root: folder } };
  runtime = await openShell(jailed, { environment: {}, log });
});
afterEach(async () => {
  await runtime.close();
  rmSync(folder, { recursive: true });
});

const at = (name: string) => join(folder, name);

/** Returns the answer of a call as text. `differing` replaces services of the runtime. */
async function call(definition: FunctionDefinition, payload: object, differing: Partial<ShellServices>) {
  const outcome = await createInvoke({ ...runtime, ...differing } as ShellServices, log)(definition, payload);
  return JSON.stringify(outcome);
}

/** Returns an engine for regular expressions that calls `act` whenever a file has been read. */
function regexAfter(act: () => void): RegexEngine {
  const { regex } = runtime;
  return {
    module: regex.module,
    runtime: regex.runtime,
    compileQuickly: (source) => regex.compileQuickly(source),
    openRuntime: (watch) => regex.openRuntime(watch),
    replaceAll: (...given) => regex.replaceAll(...given),
    replaceTraced: (...given) => regex.replaceTraced(...given),
    replaceInLines(...given) {
      act();
      return regex.replaceInLines(...given);
    },
    close: () => regex.close(),
  };
}

const replaceX = () => ({ files: [at("f")], pattern: "x", replacement: "y" });

test("sed keeps what was written while it worked", async () => {
  writeFileSync(at("f"), "x\n");
  let times = 0;
  const regex = regexAfter(() => {
    if (times++ === 0) appendFileSync(at("f"), "theirs x\n");
  });
  expect(await call(sed, replaceX(), { regex })).toContain('"total_replacements":2');
  expect(readFileSync(at("f"), "utf8")).toBe("y\ntheirs y\n");
});

test("sed gives up a file that never holds still", async () => {
  writeFileSync(at("f"), "x\n");
  const regex = regexAfter(() => appendFileSync(at("f"), "theirs\n"));
  expect(await call(sed, replaceX(), { regex })).toContain('"success":false');
  expect(readFileSync(at("f"), "utf8")).toMatch(/^x\n(theirs\n)+$/);
  expect(readdirSync(folder)).toEqual(["f"]);
});

test("mv does not replace what has come to its destination meanwhile", async () => {
  writeFileSync(at("a"), "ours");
  const { fs: disk } = runtime;
  const admit: Jail["admit"] = (path, options) => {
    const place = disk.jail.admit(path, options);
    if (path === at("b")) writeFileSync(path, "theirs");
    return place;
  };
  const jail = new Proxy(disk.jail, {
    get: (target, key) => (key === "admit" ? admit : bound(target, key)),
  });
  const tree = new DiskTree(openDisk({ jail, config: { max_write_bytes: 1000, fsync: false } }));
  const outcome = await call(mv, { src: at("a"), dst: at("b") }, { fs: { ...disk, tree } });
  expect(outcome).toContain("S213");
  expect([readFileSync(at("a"), "utf8"), readFileSync(at("b"), "utf8")]).toEqual(["ours", "theirs"]);
});

function bound(target: Jail, key: string | symbol): unknown {
  const value: unknown = Reflect.get(target, key);
  return typeof value === "function" ? value.bind(target) : value;
}
