import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { unpackForeign } from "./debian.ts";
import { run } from "./packages.ts";
import type { Musl } from "./targets.ts";

/** The symbols that Debian's libstdc++ and libgcc expect of glibc, but that musl lacks. */
const missingInMusl = `
__attribute__((visibility("hidden"))) void *__dso_handle = 0;
char __libc_single_threaded = 0;
int _dl_find_object(void *address, void *found) { return -1; }
long getrandom(void *, unsigned long, unsigned);
unsigned long getauxval(unsigned long);
unsigned long __getauxval(unsigned long type) { return getauxval(type); }
unsigned arc4random(void) { unsigned number = 0; getrandom(&number, sizeof number, 0); return number; }
`;

/** The vtables of type information, which an executable copies, so that they become symbols of its own. */
const copied = ["17__class", "20__si_class", "21__vmi_class"].map(
  (name) => `_ZTVN10__cxxabiv1${name}_type_infoE`,
);

/**
 * Makes `folder` the root of a musl system that can start `executable`: with Debian's musl, and with a
 * libstdc++ for musl, which Debian lacks, that has the symbols this one executable uses. For trials only.
 */
export function makeMuslRoot({ architecture, compiler }: Musl, executable: string, folder: string): void {
  unpackForeign("musl", architecture, folder);
  const [library = ""] = new Bun.Glob("lib/*-linux-musl/libc.so").scanSync({ cwd: folder, absolute: true });
  const names = (file: string, kind: string) =>
    run(["nm", "--dynamic", kind, "--format=just-symbols", file]).split("\n");
  const inMusl = new Set(names(library, "--defined-only"));
  const wanted = names(executable, "--undefined-only").filter((name) => name !== "" && !inMusl.has(name));
  const source = join(folder, "missing.c");
  writeFileSync(source, missingInMusl);
  run([
    ...[compiler, "-shared", "-nostdlib", "-fPIC", source, "-o", join(dirname(library), "libstdc++.so.6")],
    ...["-Wl,-soname,libstdc++.so.6", "-Wl,--gc-sections", "-Wl,--unresolved-symbols=ignore-all"],
    ...[...wanted, ...copied].map((name) => `-Wl,-u,${name}`),
    ...["libstdc++_pic.a", "libgcc_eh.a", "libgcc.a"].map((name) =>
      run([compiler, `-print-file-name=${name}`]).trim(),
    ),
  ]);
}
