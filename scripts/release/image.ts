/**
 * The context that the Dockerfile builds: the executable, the parts of Debian's C library that it loads, and
 * nothing else, so that the image has no shell.
 *
 *     node scripts/with-bun.mjs scripts/release/image.ts dist/coder amd64
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { root } from "../build.ts";
import { unpackForeign } from "./debian.ts";

/** The folder that the Dockerfile copies from. */
const context = join(root, "dist/image");

/** The machine's names in Debian, and its loader. */
const machines = {
  amd64: { libraries: "lib/x86_64-linux-gnu", loader: "lib64/ld-linux-x86-64.so.2" },
  arm64: { libraries: "lib/aarch64-linux-gnu", loader: "lib/ld-linux-aarch64.so.1" },
} as const;
export type ImageMachine = keyof typeof machines;

const libraries = ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"];

/** Writes the context for an executable of that machine to dist/image. Needs Debian's apt-get. */
export function prepareImage(executable: string, machine: ImageMachine): void {
  rmSync(context, { recursive: true, force: true });
  const unpacked = join(context, "unpacked");
  const files = join(context, "files");
  mkdirSync(unpacked, { recursive: true });
  unpackForeign("libc6", machine, unpacked);
  const { libraries: folder, loader } = machines[machine];
  for (const path of [
    loader,
    ...libraries.map((name) => `${folder}/${name}`),
    "usr/share/doc/libc6/copyright",
  ])
    copy(resolveIn(unpacked, path), join(files, path));
  copy(executable, join(files, "usr/local/bin/coder"));
  chmodSync(join(files, "usr/local/bin/coder"), 0o755);
  for (const name of ["LICENSE", "THIRD-PARTY-NOTICES.txt"])
    copy(join(root, name), join(files, "usr/share/doc/coder", name));
  mkdirSync(join(files, "etc"));
  writeFileSync(join(files, "etc/passwd"), "coder:x:65532:65532::/state:/\n");
  for (const name of ["state", "project"]) mkdirSync(join(context, name));
  chmodSync(join(context, "state"), 0o700);
  rmSync(unpacked, { recursive: true });
}

/** Returns the path of a file in a package, which may be below /usr since Debian merged the two. */
const resolveIn = (folder: string, path: string): string =>
  existsSync(join(folder, path)) ? join(folder, path) : join(folder, "usr", path);

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

if (import.meta.main) {
  const [executable = "dist/coder", machine = "amd64"] = process.argv.slice(2);
  if (!(machine in machines)) throw new Error(`${machine} is neither of ${Object.keys(machines).join(", ")}`);
  prepareImage(resolve(executable), machine as ImageMachine);
}
