/**
 * Tests that answered changes survive a loss of power: a file is flushed before it gets its name, and its
 * folder is flushed after that and after a removal.
 */
import { afterEach, describe, expect } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reasonAgainstTracing, testUnless } from "../faults/machine.ts";
import { defaultSubjects } from "../harness/subject.ts";
import { answerOf } from "./case.ts";
import { callWrite } from "./channels.ts";
import { jailed, openCaseFolder } from "./fixture.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

let served: ShellFixture | undefined;
afterEach(() => served?.stop());

/** Returns the names of the system calls that flush, rename or remove during `act`, in their order. */
async function traced({ folder, worker }: ShellFixture, act: () => Promise<void>): Promise<string[]> {
  const file = join(folder, "..", "trace");
  const calls = "trace=fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,rmdir";
  const tracer = spawn("strace", ["-f", "-o", file, "-e", calls, "-p", `${worker.child.pid}`]);
  // strace reports when it is attached, and again for each thread.
  await once(tracer.stderr, "data");
  await act();
  tracer.kill("SIGINT");
  await once(tracer, "close");
  const lines = readFileSync(file, "utf8").matchAll(
    /^\d+ +(fsync|fdatasync|rename|link|unlink|rmdir)\w*\(/gm,
  );
  return [...lines].map(([, name]) => (name === "fdatasync" ? "fsync" : name!));
}

describe.each(defaultSubjects)("%s", (subject) => {
  testUnless(reasonAgainstTracing, "a file that is sent, and one that is edited", async () => {
    served = await startShell(subject, jailed());
    const fixture = openCaseFolder(served, { f: "old" });
    const sent = async () => {
      answerOf(await callWrite(fixture, { path: "<base>/f" }, Buffer.from("new")));
    };
    expect(await traced(served, sent)).toEqual(["fsync", "rename", "fsync"]);
    const edited = async () => {
      await fixture.answer("sed", { files: ["<base>/f"], pattern: "new", replacement: "newer" });
    };
    // The file is exchanged with its new version, and the old one is then removed under a temporary name.
    expect(await traced(served, edited)).toEqual(["fsync", "rename", "unlink", "fsync"]);
  });

  testUnless(reasonAgainstTracing, "what is removed, and what is moved", async () => {
    served = await startShell(subject, jailed());
    const fixture = openCaseFolder(served, { f: "", "d/g": "", "from/h": "", "to/": null });
    const remove = (path: string, recursive = false) =>
      fixture.answer("rm", { path: `<base>/${path}`, recursive });
    const removed = async () => {
      await remove("f");
      await remove("d", true);
    };
    expect(await traced(served, removed)).toEqual(["unlink", "fsync", "unlink", "rmdir", "fsync"]);
    const moved = async () => {
      await fixture.answer("mv", { src: "<base>/from/h", dst: "<base>/to/h", overwrite: true });
    };
    expect(await traced(served, moved)).toEqual(["rename", "fsync", "fsync"]);
  });
});
