/** Calls that take long do not hold up others. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { defaultSubjects } from "../harness/subject.ts";
import { answerOf } from "./case.ts";
import { type CaseFolder, jailed, openCaseFolder } from "./fixture.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

/** Takes a call tens of milliseconds at least. */
const entries = 5000;
/** A machine that is busy elsewhere may send the second call late; a worker that is stuck never lets it overtake. */
const attempts = 5;

describe.each(defaultSubjects)("%s", (subject) => {
  let served: ShellFixture;
  let fixture: CaseFolder;
  beforeAll(async () => {
    served = await startShell(subject, jailed());
    fixture = openCaseFolder(served, { f: "x", large: "y\n".repeat(8_000_000) });
  });
  afterAll(() => served.stop());

  /** Makes a call, and another behind it. Gives whether that is answered first. */
  async function isOvertaken(op: string, payload: object): Promise<boolean> {
    const order: string[] = [];
    const noting = async (name: string, given: object) => {
      answerOf(await fixture.call(name, given));
      order.push(name);
    };
    await Promise.all([noting(op, payload), noting("stat", { path: "<base>/f" })]);
    return order[0] === "stat";
  }

  /** A new folder full of files. */
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
