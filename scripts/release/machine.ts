/** The machine that an executable declares in its headers. */
import { loadCommands } from "./mach-o.ts";

/** The requirements for running a file. */
export interface Machine {
  /** The processor, named like in the first word of a target. */
  readonly processor: string;
  /** The newest version that it names of each versioned library, or of macOS: `GLIBC_2.17`, `macOS 13.0`. */
  readonly asksFor: readonly string[];
}

/** The values of e_machine in elf(5), and of cputype in Apple's mach/machine.h. */
const elfProcessors = new Map([
  [62, "x86_64"],
  [183, "aarch64"],
  [40, "armv7"],
]);
const machProcessors = new Map([
  [0x01000007, "x86_64"],
  [0x0100000c, "aarch64"],
]);

/** Reads the headers of an ELF or a 64-bit Mach-O file. Throws if it is neither. */
export function readMachine(file: Buffer): Machine {
  return file.readUInt32BE(0) === 0x7f454c46
    ? { processor: nameOf(elfProcessors, file.readUInt16LE(18)), asksFor: symbolVersions(file) }
    : { processor: nameOf(machProcessors, file.readUInt32LE(4)), asksFor: [minimumSystem(file)] };
}

const nameOf = (names: ReadonlyMap<number, string>, code: number): string => names.get(code) ?? `no. ${code}`;

/**
 * Finds the library versions in the text of the whole file: without sections their table is harder to find.
 */
function symbolVersions(file: Buffer): string[] {
  const text = file.toString("latin1");
  return ["GLIBC", "GLIBCXX"].flatMap((library) => {
    const found = new Set(text.match(new RegExp(`\\b${library}_\\d[\\d.]*`, "g")));
    return [...found].sort(new Intl.Collator("en", { numeric: true }).compare).slice(-1);
  });
}

const buildVersion = 0x32;

/** Reads LC_BUILD_VERSION of mach-o/loader.h: the platform, then the oldest system as xxxx.yy.zz. */
function minimumSystem(file: Buffer): string {
  const at = loadCommands(file).find(({ kind }) => kind === buildVersion)?.at;
  if (at === undefined || file.readUInt32LE(at + 8) !== 1) return "another system than macOS";
  return `macOS ${file.readUInt16LE(at + 14)}.${file[at + 13]}`;
}
