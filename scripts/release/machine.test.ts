import { expect, test } from "bun:test";
import { readMachine } from "./machine.ts";

function elf(processor: number, text: string): Buffer {
  const file = Buffer.concat([Buffer.alloc(64), Buffer.from(text)]);
  file.write("\x7fELF", "latin1");
  file.writeUInt16LE(processor, 18);
  return file;
}

test.each([
  ["x86_64", 62],
  ["aarch64", 183],
  ["armv7", 40],
])("an ELF file for %s, and the newest versions that it asks for", (processor, code) => {
  const file = elf(code, "GLIBC_2.4\0GLIBC_2.28\0GLIBC_2.9\0GLIBC_PRIVATE\0GLIBCXX_3.4\0GLIBCXX_3.4.9\0");
  expect(readMachine(file)).toEqual({ processor, asksFor: ["GLIBC_2.28", "GLIBCXX_3.4.9"] });
});

test("an ELF file that asks for no versions", () => {
  expect(readMachine(elf(62, "libc.musl-x86_64.so.1\0"))).toEqual({ processor: "x86_64", asksFor: [] });
});

/** Returns a header and one load command. */
function machO(processor: number, command: readonly number[]): Buffer {
  const words = [0xfeedfacf, processor, 0, 2, 1, 0, 0, 0, ...command];
  return Buffer.from(new Uint32Array(words).buffer);
}

const build = (platform: number, system: number) => [0x32, 24, platform, system, 0, 0];

test.each([
  ["x86_64", 0x01000007, 0x000d0000, "macOS 13.0"],
  ["aarch64", 0x0100000c, 0x000b0300, "macOS 11.3"],
])("a Mach-O file for %s", (processor, code, system, name) => {
  expect(readMachine(machO(code, build(1, system)))).toEqual({ processor, asksFor: [name] });
});

test("a Mach-O file for a telephone, and one that does not say", () => {
  const unknown = ["another system than macOS"];
  expect(readMachine(machO(0x0100000c, build(2, 0x000d0000))).asksFor).toEqual(unknown);
  expect(readMachine(machO(0x0100000c, [0x19, 72])).asksFor).toEqual(unknown);
});

test("what is neither is refused", () => {
  expect(() => readMachine(Buffer.from("#!/bin/sh\n"))).toThrow("not a 64-bit Mach-O file");
});
