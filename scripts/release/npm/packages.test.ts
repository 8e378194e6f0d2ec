import { expect, test } from "bun:test";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { about, npmPackage } from "../../../src/base/about.ts";
import { run } from "../packages.ts";
import { targets } from "../targets.ts";
import { npmMachine, packLauncher, packPlatformPackage, platformPackageName } from "./packages.ts";

/** Unpacks an archive with tar, as a package manager would, and passes the folder on. */
function unpacked<Result>(archive: Buffer, look: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), "coder-npm-"));
  try {
    writeFileSync(join(folder, "package.tgz"), archive);
    run(["tar", "-xzf", "package.tgz"], folder);
    return look(join(folder, "package"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const manifestOf = (archive: Buffer) =>
  unpacked(archive, (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));

test("each target has a package of its own, for the machines that npm knows it by", () => {
  const names = targets.map(({ triple }) => platformPackageName(triple));
  expect(new Set(names).size).toBe(targets.length);
  expect(names).toContain(`${npmPackage}-darwin-arm64`);
  expect(npmMachine("x86_64-unknown-linux-musl")).toEqual({ os: "linux", cpu: "x64", libc: "musl" });
  expect(npmMachine("armv7-unknown-linux-gnueabihf")).toEqual({ os: "linux", cpu: "arm", libc: "glibc" });
  expect(() => npmMachine("sparc-sun-solaris")).toThrow("processor");
});

test("a platform package holds the executable and no script, and is the same when made again", () => {
  const target = { triple: "x86_64-unknown-linux-gnu", needs: "glibc" };
  const contents = Buffer.from("#!/bin/sh\necho here\n");
  const { archive, file } = packPlatformPackage(target, contents);
  const scoped = npmPackage.replace("@", "").replace("/", "-");
  expect(file).toBe(`${scoped}-linux-x64-${about.version}.tgz`);
  expect(packPlatformPackage(target, contents).archive).toEqual(archive);
  unpacked(archive, (folder) => {
    expect(run([join(folder, "bin/coder")])).toBe("here\n");
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    expect(manifest).toMatchObject({ version: about.version, os: ["linux"], cpu: ["x64"], libc: ["glibc"] });
    for (const key of ["scripts", "dependencies", "bin"]) expect(manifest).not.toHaveProperty(key);
  });
});

test("the launcher depends on every platform package, in this version, and on nothing else", () => {
  const manifest = manifestOf(packLauncher().archive);
  expect(manifest.optionalDependencies).toEqual(
    Object.fromEntries(targets.map(({ triple }) => [platformPackageName(triple), about.version])),
  );
  expect(manifest).toMatchObject({ bin: { coder: "bin/launch.sh" }, os: ["darwin", "linux"] });
  for (const key of ["scripts", "dependencies", "private"]) expect(manifest).not.toHaveProperty(key);
});

test("the launcher says for which machines there are packages, and how to get a missing one", () => {
  unpacked(packLauncher().archive, (folder) => {
    const start = (setting: string) =>
      Bun.spawnSync([
        "node",
        "--eval",
        `${setting}; require(${JSON.stringify(join(folder, "bin/launch.cjs"))})`,
      ]);
    const unknown = start('Object.defineProperty(process, "arch", { value: "riscv64" })');
    expect(unknown.exitCode).toBe(1);
    expect(unknown.stderr.toString()).toStartWith(
      `${npmPackage}: there is no executable for ${process.platform}-riscv64, only for darwin-x64, `,
    );
    const missing = start("");
    expect(missing.exitCode).toBe(1);
    expect(missing.stderr.toString()).toContain(` is not installed; install ${npmPackage}@`);
  });
});

/** The packages that a package manager has installed. */
interface Layout {
  /** The packages of each folder of `node_modules`. */
  readonly packages: Readonly<Record<string, readonly string[]>>;
  /** The folder of the package whose executable starts. */
  readonly chosen: string;
  readonly needsNode?: true;
}

const own = `${npmPackage}-${process.platform}-${process.arch}`;
const layouts: Readonly<Record<string, Layout>> = {
  "one package": { packages: { "": [own] }, chosen: own },
  "another machine's too": { packages: { "": [own, `${npmPackage}-sunos-sparc`] }, chosen: own },
  "one for each C library": { packages: { "": [own, `${own}-musl`] }, chosen: own, needsNode: true },
  "two versions": {
    packages: { "": [own], [npmPackage]: [own] },
    chosen: `${npmPackage}/node_modules/${own}`,
    needsNode: true,
  },
};

test.each(Object.entries(layouts))("the launcher starts the right executable, with %s", (_, layout) => {
  unpacked(packLauncher().archive, (unpackedLauncher) => {
    const modules = join(dirname(realpathSync(unpackedLauncher)), "my project", "node_modules");
    cpSync(unpackedLauncher, join(modules, npmPackage), { recursive: true });
    for (const [folder, names] of Object.entries(layout.packages))
      for (const name of names) {
        const bin = join(modules, folder && join(folder, "node_modules"), name, "bin");
        mkdirSync(bin, { recursive: true });
        // Prints its path, its arguments, and the names of its variables.
        const program = '#!/bin/sh\nprintf "%s\\n" "$0" "$@"; env | cut -d= -f1 | sort; exit 7\n';
        writeFileSync(join(bin, "coder"), program, { mode: 0o755 });
      }
    mkdirSync(join(modules, ".bin"));
    symlinkSync(`../${npmPackage}/bin/launch.sh`, join(modules, ".bin/coder"));
    writeFileSync(join(modules, "node"), "#!/bin/sh\nexit 9\n", { mode: 0o755 });
    const path = process.env["PATH"] ?? "";
    const env = { PATH: layout.needsNode ? path : `${modules}:${path}`, CDPATH: "/" };
    const started = (command: readonly string[]) => {
      const options = { env, cwd: modules };
      const { exitCode, stdout, stderr } = Bun.spawnSync([...command, "a  b", "", "*"], options);
      return { exitCode, lines: stdout.toString().split("\n"), stderr: stderr.toString() };
    };
    const executable = join(modules, layout.chosen, "bin/coder");
    const direct = started([executable]);
    expect(direct).toMatchObject({ exitCode: 7, stderr: "" });
    expect(direct.lines.slice(0, 4)).toEqual([executable, "a  b", "", "*"]);
    for (const command of [join(modules, ".bin/coder"), ".bin/coder"])
      expect(started([command])).toEqual(direct);
    if (layout.needsNode) expect(started(["node", ".bin/coder"])).toEqual(direct);
  });
});
