import { expect } from "bun:test";
import { lstatSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { addToTree, expandPayload, type Tree } from "../harness/tree.ts";
import { answerOf, expectCode, ShellCases } from "./case.ts";
import type { ClientOutcome, ConfigFields, ShellFixture, ShellOptions } from "./shell-fixture.ts";

/** A new folder for one case. */
export interface CaseFolder {
  readonly served: ShellFixture;
  /** The absolute path of the folder. */
  readonly folder: string;
  at(path: string): string;
  text(path: string): string;
  exists(path: string): boolean;
  /** Returns the permission bits of an entry. */
  mode(path: string): number;
  /** Calls `shell::fs::<op>`. In strings, `<base>` stands for the folder. */
  call(op: string, payload: unknown): Promise<ClientOutcome>;
  answer(op: string, payload: unknown): Promise<Record<string, unknown>>;
  refused(op: string, payload: unknown, code: string, ...words: string[]): Promise<void>;
}

export function openCaseFolder(served: ShellFixture, tree: Tree = {}): CaseFolder {
  const folder = mkdtempSync(join(served.folder, "case-"));
  const at = (path: string) => join(folder, path);
  addToTree(folder, tree);
  const expand = (payload: unknown) => (payload === undefined ? undefined : expandPayload(payload, folder));
  const call: CaseFolder["call"] = (op, payload) => served.call(`shell::fs::${op}`, expand(payload));
  return {
    served,
    folder,
    at,
    text: (path) => readFileSync(at(path), "utf8"),
    exists: (path) => lstatSync(at(path), { throwIfNoEntry: false }) !== undefined,
    mode: (path) => lstatSync(at(path)).mode & 0o7777,
    call,
    answer: async (op, payload) => answerOf(await call(op, payload)),
    refused: async (op, payload, code, ...words) => expectCode(await call(op, payload), code, ...words),
  };
}

function parseKey(key: string): [number: number, op: string] {
  const [number, op = ""] = key.split(" ");
  return [Number(number), op];
}

/** Cases that call functions on files, each in a new folder. */
export class FsCases extends ShellCases {
  constructor(config: ConfigFields = {}, options: ShellOptions = {}) {
    super("", config, options);
  }

  /**
   * Adds a call on these files, with a key such as "107 ls". Its answer has at least these fields, and then
   * `check` tests the files.
   */
  answersOn(
    key: string,
    [tree, payload]: readonly [Tree, unknown],
    fields: object,
    check?: (fixture: CaseFolder) => unknown,
  ): this {
    const [number, op] = parseKey(key);
    return this.script(number, `${op} ${JSON.stringify(payload)}`, async (served) => {
      const fixture = openCaseFolder(served, tree);
      expect(await fixture.answer(op, payload)).toMatchObject(fields);
      await check?.(fixture);
    });
  }

  /** Adds a call on these files that is refused with a code. */
  refusesOn(key: string, [tree, payload]: readonly [Tree, unknown], code: string, ...words: string[]): this {
    const [number, op] = parseKey(key);
    return this.script(number, `${op} ${JSON.stringify(payload)} ${code}`, async (served) => {
      await openCaseFolder(served, tree).refused(op, payload, code, ...words);
    });
  }

  /** Adds a case of several calls. */
  scriptOn(number: number, name: string, tree: Tree, run: (fixture: CaseFolder) => Promise<void>): this {
    return this.script(number, name, (served) => run(openCaseFolder(served, tree)));
  }
}

/** Returns a configuration that serves only `<folder>`. */
export const jailed = (fs: object = {}): ConfigFields => ({
  fs: { host_root: "<folder>", max_read_bytes: 1024 * 1024, max_write_bytes: 1024 * 1024, ...fs },
});
