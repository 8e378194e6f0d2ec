/** The access rights of landlock(7), and which version of its interface brought them. */

/** LANDLOCK_ACCESS_FS_*, by the version of the interface. */
const rights = {
  EXECUTE: { bit: 0, since: 1 },
  WRITE_FILE: { bit: 1, since: 1 },
  READ_FILE: { bit: 2, since: 1 },
  READ_DIR: { bit: 3, since: 1 },
  REMOVE_DIR: { bit: 4, since: 1 },
  REMOVE_FILE: { bit: 5, since: 1 },
  MAKE_CHAR: { bit: 6, since: 1 },
  MAKE_DIR: { bit: 7, since: 1 },
  MAKE_REG: { bit: 8, since: 1 },
  MAKE_SOCK: { bit: 9, since: 1 },
  MAKE_FIFO: { bit: 10, since: 1 },
  MAKE_BLOCK: { bit: 11, since: 1 },
  MAKE_SYM: { bit: 12, since: 1 },
  REFER: { bit: 13, since: 2 },
  TRUNCATE: { bit: 14, since: 3 },
  IOCTL_DEV: { bit: 15, since: 5 },
} as const;

type Right = keyof typeof rights;

const names = Object.keys(rights) as Right[];

const bits = (chosen: readonly Right[]): bigint =>
  chosen.reduce((sum, name) => sum | (1n << BigInt(rights[name].bit)), 0n);

/** The rights to read files, list folders and run programs. */
export const readAccess = bits(["EXECUTE", "READ_FILE", "READ_DIR"]);

/** All rights to a folder except making devices. */
export const writeAccess = bits(names.filter((name) => name !== "MAKE_CHAR" && name !== "MAKE_BLOCK"));

/** The right to list a folder and all folders below it. */
export const listAccess = bits(["READ_DIR"]);

/** The rights that can be granted for a file. The kernel refuses a rule with others. */
export const fileAccess = bits(["EXECUTE", "WRITE_FILE", "READ_FILE", "TRUNCATE", "IOCTL_DEV"]);

/**
 * Returns all rights that a version of the interface knows. A ruleset handles them, so the kernel refuses
 * those that no rule grants.
 */
export const handledAccess = (abi: number): bigint => bits(names.filter((name) => rights[name].since <= abi));

/** The versions that introduced rules other than rights to files. */
export const landlockSince = { truncate: 3, network: 4, scopes: 6 } as const;

const bindTcp = 1n;
const connectTcp = 2n;
const abstractSockets = 1n;
const signals = 2n;

/**
 * Returns a `struct landlock_ruleset_attr` of the length that the version knows. Without `network`, no TCP
 * port is granted.
 */
export function rulesetAttributes(abi: number, network: boolean): Uint8Array {
  const attributes = Buffer.alloc(abi >= landlockSince.scopes ? 24 : abi >= landlockSince.network ? 16 : 8);
  attributes.writeBigUInt64LE(handledAccess(abi), 0);
  if (abi >= landlockSince.network) attributes.writeBigUInt64LE(network ? 0n : bindTcp | connectTcp, 8);
  if (abi >= landlockSince.scopes) attributes.writeBigUInt64LE(abstractSockets | signals, 16);
  return attributes;
}
