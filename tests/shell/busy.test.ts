/** Tests that long calls do not hold up others. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { defaultSubjects } from "../harness/subject.ts";
import { answerOf } from "./case.ts";
import { type CaseFolder, jailed, openCaseFolder } from "./fixture.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

/** Enough files for a call to take tens of milliseconds. */
const entries = 5000;
/** On a busy machine, the second call may arrive late. A blocked worker never lets it overtake. */
const attempts = 5;

describe.each(defaultSubjects)("%s", (subject) => {
  let served: ShellFixture;
  let fixture: CaseFolder;
  beforeAll(async () => {
    served = await startShell(subject, jailed());
    fixture = openCaseFolder(served, { f: "x", large: "y\n".repeat(8_000_000) });
  });
  afterAll(() => served.stop());

  /** Makes a call and then another one. Returns whether the second is answered first. */
  async function isOvertaken(op: string, payload: object): Promise<boolean> {
    const order: string[] = [];
    const noting = async (name: string, given: object) => {
      answerOf(await fixture.call(name, given));
      order.push(name);
    };
    await Promise.all([noting(op, payload), noting("stat", { path: "<base>/f" })]);
    return order[0] === "stat";
  }

  /** Makes a folder with many files. */
  function fill(folder: string): string {
    const script = `mkdir ${folder} && cd ${folder} && seq ${entries} | xargs touch`;
    execFileSync("sh", ["-c", script], { cwd: fixture.folder });
    return `<base>/${folder}`;
  }

  test.each([
    ["ls", (path: string) => ({ path: fill(path) })],
    ["grep", () => ({ path: "<base>/large", pattern: "[xy]+z" })],
    ["sed", (path: string) => ({ path: fill(path), pattern: "x", replacement: "y" })],
    ["chmod", (path: string) => ({ path: fill(path), mode: "0700", recursive: true })],
    ["mv", (path: string) => ({ src: fill(path), dst: `<base>/${path}-moved` })],
    ["rm", (path: string) => ({ path: fill(path), recursive: true })],
  ] as const)("%s", async (op, payloadOn) => {
    let wasOvertaken = false;
    for (let attempt = 0; attempt < attempts && !wasOvertaken; attempt++)
      wasOvertaken = await isOvertaken(op, payloadOn(`${op}-${attempt}`));
    expect(wasOvertaken).toBe(true);
  });
});
