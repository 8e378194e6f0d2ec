import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { openKernel } from "./kernel.ts";
import { buildLauncher, type Confinement, encodeCovers } from "./launcher.ts";
import { confineByKernel, keptBy } from "./linux.ts";
import { machines } from "./machine-code.ts";
import { buildFilter } from "./seccomp.ts";
import type { Architecture } from "./syscalls.ts";
import type { OsSandbox } from "./types.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(folder, { recursive: true }));

const architecture = process.arch as Architecture;
const kernel = openKernel()!;
const touch = realpathSync("/usr/bin/touch");

/** Builds a launcher as one image. */
const launcherOf = (confinement: Confinement) => Buffer.concat(buildLauncher(confinement));

const confinement = (file: string): Confinement => ({
  architecture,
  file,
  limits: [{ resource: 7, most: 100 }],
  hasRuleset: false,
  filter: buildFilter({ architecture, network: "none" }),
});

/** Runs a program with these descriptors as its descriptors 3, 4 and so on. */
async function start(file: string, args: readonly string[], ...descriptors: number[]) {
  const more = descriptors as unknown as "pipe"[];
  const stdio = ["ignore", "pipe", "pipe", ...more] as const;
  const { exitCode, stderr } = await execa(file, args, { reject: false, timeout: 10_000, stdio });
  return { exitCode, stderr: String(stderr) };
}

/** Runs an image. `report` is its output on descriptor 4. */
async function run(image: Buffer, args: readonly string[]) {
  const descriptor = kernel.createFile("image")!;
  writeSync(descriptor, image);
  const nothing = openSync("/dev/null", "r");
  const status = join(folder, "status");
  const written = openSync(status, "w");
  const { exitCode } = await start(`/proc/self/fd/${descriptor}`, args, nothing, written);
  for (const each of [descriptor, nothing, written]) closeSync(each);
  const report = readFileSync(status);
  const words = report.length === 16 ? [report.readBigInt64LE(0), report.readBigInt64LE(8)] : [];
  return { exitCode, report: words };
}

describe("a launcher", () => {
  test("becomes the program, with its arguments", async () => {
    const file = join(folder, "made");
    expect(await run(launcherOf(confinement(touch)), [file])).toMatchObject({ exitCode: 0, report: [] });
    expect(existsSync(file)).toBe(true);
  });

  test("reports why there is no program", async () => {
    const image = launcherOf(confinement(join(folder, "missing")));
    expect(await run(image, [])).toEqual({ report: [2n, -2n], exitCode: 127 });
  });

  test("reports a rule that the kernel does not take, and runs nothing", async () => {
    const file = join(folder, "refused");
    const image = launcherOf({ ...confinement(touch), hasRuleset: true });
    // Descriptor 3 is not a ruleset.
    expect(await run(image, [file])).toMatchObject({ report: [1n, -77n], exitCode: 127 });
    const wrong = launcherOf({ ...confinement(touch), filter: Buffer.alloc(8) });
    expect(await run(wrong, [file])).toMatchObject({ report: [1n, -22n], exitCode: 127 });
    expect(existsSync(file)).toBe(false);
  });

  test("that ends half way runs nothing", async () => {
    const file = join(folder, "half");
    const image = launcherOf(confinement(touch));
    for (let length = 0; length < image.length - 8; length += 96) {
      // The missing part is zeros. A call with number 0 is read(2), which does not fail here, and the code
      // ends in a fault.
      const half = Buffer.alloc(image.length);
      image.copy(half, 0, 0, length);
      await run(half, [file]).catch(() => {});
      expect(existsSync(file)).toBe(false);
    }
  });
});

test("the code for arm64", () => {
  const code = machines.arm64.code({ table: 0x10000120, statusDescriptor: 4 });
  const words = Array.from({ length: code.length / 4 }, (_, index) =>
    code.readUInt32LE(4 * index).toString(16),
  );
  expect(words).toEqual(
    `d2802413 f2a20013 f94003e9 910023f4 8b090e95 910022b5
     f9400268 f9400660 f9400a61 f9400e62 f9401263 f9401664 f9401a65 f9401e69
     f100093f 54000061 aa1403e1 aa1503e2 d4000001 b13ffc1f 54000062 91010273 17fffff0
     b4ffffc9 a9bf03e9 d2800080 910003e1 d2800202 d2800808 d4000001 d2800fe0 d2800bc8 d4000001`
      .trim()
      .split(/\s+/),
  );
});

describe("what holds", () => {
  test.each([
    [0, true, ["network", "system calls", "sessions", "limits"]],
    [2, true, ["files", "network", "system calls", "sessions", "limits"]],
    [3, false, ["files", "truncation", "limits"]],
    [6, true, ["files", "truncation", "network", "signals", "system calls", "sessions", "limits"]],
  ] as const)("with version %i of Landlock, and seccomp: %s", (landlockAbi, hasSeccomp, expected) => {
    const kept = keptBy({ landlockAbi, hasSeccomp }, false);
    expect(Object.entries(kept).flatMap(([name, holds]) => (holds ? [name] : []))).toEqual([...expected]);
  });

  test("without the network off, none is promised that way", () => {
    expect(keptBy({ landlockAbi: 6, hasSeccomp: false }, true).network).toBe(true);
  });
});

test("a ruleset of an older version of Landlock works", async () => {
  const outside = join(folder, "outside");
  writeFileSync(outside, "there");
  for (const landlockAbi of [1, 2, 3, 4, 5, 6].filter((abi) => abi <= kernel.landlockAbi)) {
    const policy = {
      writable: [join(folder, "none")],
      denied: [],
      network: "none" as const,
      limits: () => [],
      processes: 0,
      maskFolder: folder,
    };
    const sandbox = confineByKernel({ ...kernel, landlockAbi }, architecture, policy);
    using launch = await sandbox.launch({ file: touch, argv: ["touch", join(folder, "new")] });
    const status = openSync("/dev/null", "w");
    const result = await start(
      launch.file,
      [join(folder, "new")],
      launch.descriptor!,
      status,
      ...(launch.inherited ?? []),
    );
    closeSync(status);
    expect(result).toEqual({ exitCode: 1, stderr: expect.stringContaining("Permission denied") });
    sandbox.close();
  }
});

/** Returns the exit codes of programs, each with its arguments, run by launchers. */
async function codesIn(sandbox: OsSandbox, programs: readonly (readonly [file: string, ...string[]])[]) {
  const codes = [];
  for (const [file, ...args] of programs) {
    using launch = await sandbox.launch({ file, argv: [file, ...args] });
    const status = openSync("/dev/null", "w");
    codes.push(
      (await start(launch.file, args, launch.descriptor!, status, ...(launch.inherited ?? []))).exitCode,
    );
    closeSync(status);
  }
  return codes;
}

const touchIn = (sandbox: OsSandbox, names: readonly string[]) =>
  codesIn(
    sandbox,
    names.map((name) => [touch, name]),
  );

describe("a read-only folder in a writable one", () => {
  const root = join(folder, "nested");
  const inner = join(root, "between/inner");
  const writable = join(inner, "writable");
  // In a folder of the policy: commands may not read what else lies beside these, in /dev/shm.
  const text = join(root, "text");
  const [cp, mv, ln] = ["/bin/cp", "/bin/mv", "/bin/ln"].map((path) => realpathSync(path)) as [
    string,
    string,
    string,
  ];
  beforeEach(() => {
    rmSync(root, { recursive: true, force: true });
    mkdirSync(writable, { recursive: true });
    for (const path of [text, join(inner, "file"), join(writable, "secret")]) writeFileSync(path, "text");
  });
  const policy = {
    writable: [root, writable],
    denied: [],
    network: "none" as const,
    limits: () => [],
    processes: 0,
  };
  const open = (more: object, trials: object) =>
    confineByKernel(
      kernel,
      architecture,
      { ...policy, maskFolder: mkdtempSync(join(folder, "masks-")), ...more },
      trials,
    );
  const writes = ["between/new", "between/inner/file", "between/inner/new", "between/inner/writable/new"].map(
    (name) => [cp, text, join(root, name)] as const,
  );
  const systems = [
    ["with mounts, where the system lets a process mount", {}],
    ["without mounts", { canMount: () => false }],
  ] as const;

  test.each(systems)("is not written, and a writable one in it is, %s", async (_, trials) => {
    const control = open({}, trials);
    expect(await codesIn(control, writes)).toEqual([0, 0, 0, 0]);
    control.close();
    for (const path of [join(root, "between/new"), join(inner, "new"), join(writable, "new")]) rmSync(path);
    const sandbox = open({ readOnly: [inner] }, trials);
    // Without mounts, nothing can be made in the folders above it.
    expect(await codesIn(sandbox, writes)).toEqual([sandbox.hasMounts ? 0 : 1, 1, 1, 0]);
    expect(await codesIn(sandbox, [[cp, join(inner, "file"), join(writable, "copy")]])).toEqual([0]);
    sandbox.close();
  });

  test.each(systems)(
    "cannot be moved with the folder above it, nor linked outside, %s",
    async (_, trials) => {
      const moves = [
        [ln, join(inner, "file"), join(root, "linked")],
        [mv, join(root, "between"), join(root, "moved")],
      ] as const;
      const sandbox = open({ readOnly: [inner] }, trials);
      expect(await codesIn(sandbox, moves)).toEqual([1, 1]);
      sandbox.close();
      const control = open({}, trials);
      expect(await codesIn(control, moves)).toEqual([0, 0]);
      control.close();
    },
  );

  test("what is denied in a writable folder in it stays hidden, under every path", async () => {
    const secret = join(writable, "secret");
    const maskFolder = mkdtempSync(join(folder, "masks-"));
    const reads = [
      [cp, secret, join(writable, "copy")],
      [cp, join(maskFolder, "stash-0/secret"), join(writable, "copy")],
    ] as const;
    const sandbox = open({ readOnly: [inner], denied: [secret], maskFolder }, {});
    await codesIn(sandbox, reads);
    const copied = existsSync(join(writable, "copy")) ? readFileSync(join(writable, "copy"), "utf8") : "";
    expect(copied.trim()).toBe("");
    sandbox.close();
    const control = open({ readOnly: [inner], maskFolder: mkdtempSync(join(folder, "masks-")) }, {});
    expect(await codesIn(control, reads.slice(0, 1))).toEqual([0]);
    expect(readFileSync(join(writable, "copy"), "utf8")).toBe("text");
    control.close();
  });
});

describe("what is denied in a writable folder", () => {
  const root = join(folder, "root");
  const secret = join(root, "kept/secret");
  const policy = {
    writable: [root],
    denied: [secret],
    network: "none" as const,
    limits: () => [],
    processes: 0,
    maskFolder: folder,
  };
  beforeAll(() => {
    mkdirSync(join(root, "kept"), { recursive: true });
    writeFileSync(secret, "secret");
  });

  test("without mounts, nothing can be made beside it", async () => {
    const sandbox = confineByKernel(kernel, architecture, policy, { canMount: () => false });
    expect(sandbox.hasMounts).toBe(false);
    expect(await touchIn(sandbox, [join(root, "kept/new"), join(root, "new")])).toEqual([1, 1]);
    sandbox.close();
  });

  test("with mounts, it is hidden and its folder is open, where the system lets a process mount", async () => {
    const sandbox = confineByKernel(kernel, architecture, policy);
    // Without mounts, touch(1) may set the times of the denied file.
    const names = [join(root, "kept/new"), secret];
    expect(await touchIn(sandbox, names)).toEqual(sandbox.hasMounts ? [0, 1] : [1, 0]);
    sandbox.close();
  });

  test("a launch keeps its rules while another makes new ones", async () => {
    const sandbox = confineByKernel(kernel, architecture, policy, { canMount: () => false });
    const program = { file: touch, argv: ["touch"] } as const;
    using first = await sandbox.launch(program);
    writeFileSync(join(root, "kept/another"), "");
    using second = await sandbox.launch(program);
    expect(second.descriptor).not.toBe(first.descriptor!);
    const rulesets = [first, second].map(({ descriptor }) => readlinkSync(`/proc/self/fd/${descriptor}`));
    expect(rulesets).toEqual(["anon_inode:[landlock-ruleset]", "anon_inode:[landlock-ruleset]"]);
    sandbox.close();
  });

  test("with mounts, each of very many is hidden", async () => {
    const many = join(folder, "many");
    mkdirSync(many);
    const secrets = Array.from({ length: 2100 }, (_, index) => join(many, `secret-${index}`));
    for (const path of secrets) writeFileSync(path, "secret");
    const maskFolder = join(folder, "masks");
    mkdirSync(maskFolder);
    const rules = { ...policy, writable: [many], denied: secrets, maskFolder };
    const sandbox = confineByKernel(kernel, architecture, rules);
    const names = [secrets[0]!, secrets[1050]!, secrets.at(-1)!, join(many, "new")];
    expect(await touchIn(sandbox, names)).toEqual(sandbox.hasMounts ? [1, 1, 1, 0] : [0, 0, 0, 1]);
    expect(sandbox.hidden()).toEqual(secrets);
    sandbox.close();
  });

  test("mounts that the system refuses let nothing run", async () => {
    const missing = [{ path: join(folder, "missing"), kind: "file", mask: "/dev/null" }] as const;
    const user = { uid: process.geteuid!(), gid: process.getegid!() };
    const image = launcherOf({
      ...confinement(touch),
      mounts: { covers: runAtOnce(encodeCovers(missing, architecture)), hidesProcesses: false, user },
    });
    const file = join(folder, "unmounted");
    expect(await run(image, [file])).toMatchObject({ exitCode: 127 });
    expect(existsSync(file)).toBe(false);
  });

  test("is not tried where nothing is", () => {
    const elsewhere = { ...policy, denied: ["/etc/shadow", join(folder, "beside")] };
    const fail = () => {
      throw new Error("tried");
    };
    expect(confineByKernel(kernel, architecture, elsewhere, { canMount: fail }).hasMounts).toBe(false);
  });
});

describe("a network of commands alone", () => {
  const policy = {
    writable: [join(folder, "none")],
    denied: [],
    network: "loopback" as const,
    limits: () => [],
    processes: 0,
    maskFolder: folder,
  };

  test("is none where the system has none", () => {
    const sandbox = confineByKernel(kernel, architecture, policy, { openNetwork: () => undefined });
    expect(sandbox.network).toBe("none");
    sandbox.close();
  });

  test("leaves no descriptor behind", async () => {
    const count = () => readdirSync("/proc/self/fd").length;
    const before = count();
    for (let index = 0; index < 3; index++) confineByKernel(kernel, architecture, policy).close();
    // The runtime closes its descriptors once the process that made the network has ended.
    while (count() > before) await Bun.sleep(10);
    expect(count()).toBeLessThanOrEqual(before);
  });
});
