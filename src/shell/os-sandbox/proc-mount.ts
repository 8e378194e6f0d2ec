/**
 * Mounts a /proc that shows a process only those that it may trace: under Landlock, the processes of its own
 * domain.
 */
import { closeSync } from "node:fs";
import { openErrno, openLibc } from "../../base/bun.ts";
import { requireNoShortage } from "../../base/shortage.ts";

interface TextCalls {
  syscall(number: number, name: Uint8Array, flags: number): number;
}

interface SettingCalls {
  syscall(
    number: number,
    context: number,
    command: number,
    key: Uint8Array | null,
    value: Uint8Array | null,
    unused: number,
  ): number;
}

interface NumberCalls {
  syscall(number: number, context: number, flags: number, attributes: number): number;
}

/**
 * The numbers of fsopen(2), fsconfig(2) and fsmount(2), the same on every architecture, and their constants.
 */
const openContext = 430;
const configure = 431;
const makeMount = 432;
const closeOnExec = 1;
const setText = 1;
const create = 6;

/** MOUNT_ATTR_*: without set-user-ID, devices and programs. */
const plain = 0xe;

const text = (value: string) => Buffer.from(`${value}\0`);

/**
 * Makes such a mount of proc(5), attached nowhere, and returns its descriptor; `undefined` for users without
 * that right, before Linux 5.8, and if the C library cannot be called. Throws a `ShortageError` if too little
 * is left to find out.
 */
export function makeProcMount(): number | undefined {
  const texts = openLibc<TextCalls>({ syscall: { args: ["i64", "ptr", "i64"], returns: "i64" } });
  const settings = openLibc<SettingCalls>({
    syscall: { args: ["i64", "i64", "i64", "ptr", "ptr", "i64"], returns: "i64" },
  });
  const numbers = openLibc<NumberCalls>({ syscall: { args: ["i64", "i64", "i64", "i64"], returns: "i64" } });
  const errno = openErrno();
  if (texts === undefined || settings === undefined || numbers === undefined) return undefined;
  const context = Number(texts.syscall(openContext, text("proc"), closeOnExec));
  if (context < 0) {
    requireNoShortage(errno?.());
    return undefined;
  }
  try {
    const set = settings.syscall(configure, context, setText, text("hidepid"), text("ptraceable"), 0);
    const made = settings.syscall(configure, context, create, null, null, 0);
    if (set < 0 || made < 0) return undefined;
    const mount = Number(numbers.syscall(makeMount, context, closeOnExec, plain));
    if (mount >= 0) return mount;
    requireNoShortage(errno?.());
    return undefined;
  } finally {
    closeSync(context);
  }
}
