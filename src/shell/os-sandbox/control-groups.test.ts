import { afterAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { execa } from "execa";
import { errnoOf } from "../../filesystem/jail/errno.ts";
import { findHierarchy, joinCalls, openControlGroups, openIn } from "./control-groups.ts";

const v1 = "30 20 0:25 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids";
const v2 = "31 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";

describe("the hierarchy of groups", () => {
  test.each([
    ["version 1", "8:pids:/a\n0::/b\n", `${v1}\n${v2}\n`, { version: 1, folder: "/sys/fs/cgroup/pids/a" }],
    ["version 2", "0::/a.slice/b.service\n", v2, { version: 2, folder: "/sys/fs/cgroup/a.slice/b.service" }],
    [
      "beside another controller",
      "3:cpu,pids:/\n",
      v1.replace("rw,pids", "rw,cpu,pids"),
      { version: 1, folder: "/sys/fs/cgroup/pids" },
    ],
    [
      "of a container",
      "8:pids:/docker/x\n",
      v1.replace("/ /sys", "/docker/x /sys"),
      { version: 1, folder: "/sys/fs/cgroup/pids" },
    ],
    [
      "at a path with a space",
      "0::/\n",
      v2.replace("/sys/fs/cgroup", String.raw`/sys/my\040groups`),
      { version: 2, folder: "/sys/my groups" },
    ],
    ["of a group that is not mounted", "8:pids:/other\n", v1.replace("/ /sys", "/docker/x /sys"), undefined],
    ["of a system without any", "", "", undefined],
  ] as const)("%s", (_, groups, mounts, expected) => {
    expect(findHierarchy(groups, mounts)).toEqual(expected);
  });
});

test("a process enters by itself", () => {
  expect(joinCalls("/groups/a/cgroup.procs", 5)).toEqual([
    ["openat", 0, "/groups/a/cgroup.procs", 1],
    ["write", 5, "0", 1],
    ["close", 5],
  ]);
});

describe("the controller of version 2", () => {
  /**
   * Opens groups twice in a folder that imitates a hierarchy, closes the first, and returns its last write.
   */
  function closeFirst(prepare: (processes: string) => void) {
    const folder = mkdtempSync(join(tmpdir(), "coder-"));
    const control = join(folder, "cgroup.subtree_control");
    writeFileSync(control, "");
    prepare(join(folder, "cgroup.procs"));
    const [first] = [openIn({ version: 2, folder }), openIn({ version: 2, folder })];
    first.close();
    const written = readFileSync(control, "utf8");
    rmSync(folder, { recursive: true });
    return written;
  }

  test("stays at the root of the hierarchy, where another worker has groups, too", () => {
    expect(closeFirst((processes) => writeFileSync(processes, ""))).toBe("+pids");
  });

  test("is turned off where a process cannot go back before", () => {
    // A folder in place of the file, so that no process can enter the group.
    expect(closeFirst((processes) => mkdirSync(processes))).toBe("-pids");
  });
});

/** Writes to a file. Returns false if it does not exist. */
function writesTo(file: string, text: string): boolean {
  try {
    writeFileSync(file, text);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return false;
  }
}

describe("the groups of this system", () => {
  const groups = openControlGroups();
  afterAll(() => groups?.close());
  // A container may lack a writable hierarchy.
  const testWithGroups = test.skipIf(groups === undefined);

  test("are for root only", () => {
    expect(process.getuid?.() === 0 || groups === undefined).toBe(true);
  });

  testWithGroups("end all that is in one, and are gone", async () => {
    const group = groups!.create(20);
    const folder = dirname(group.processes);
    expect(readFileSync(join(folder, "pids.max"), "utf8")).toBe("20\n");
    const line = `echo 0 > ${group.processes}; for i in 1 2 3; do setsid sleep 900 & done; wait`;
    const program = execa("sh", ["-c", line], { reject: false });
    while (readFileSync(group.processes, "utf8").trim().split("\n").length < 4) await Bun.sleep(1);
    group.kill();
    expect(await program).toMatchObject({ signal: "SIGKILL" });
    while (existsSync(folder)) {
      group.remove();
      await Bun.sleep(1);
    }
  });

  testWithGroups("of a worker that is gone are removed by the next", async () => {
    const own = groups!.create(0);
    const folder = dirname(own.processes);
    const gone = await execa("sh", ["-c", "echo $$"]);
    const abandoned = folder.replace(`-${process.pid}-`, `-${gone.stdout}-`);
    const child = execa("sleep", ["900"], { reject: false });
    // A worker of another test may remove the group while it is empty.
    for (let isIn = false; !isIn; ) {
      mkdirSync(abandoned, { recursive: true });
      isIn = writesTo(join(abandoned, "cgroup.procs"), String(child.pid));
    }
    openControlGroups()?.close();
    expect(await child).toMatchObject({ signal: "SIGKILL" });
    while (existsSync(abandoned)) openControlGroups()?.close();
    expect(readdirSync(dirname(folder))).toContain(basename(folder));
    own.remove();
    expect(existsSync(folder)).toBe(false);
  });
});
