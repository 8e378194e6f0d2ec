/** Defaults that differ between the profiles. */
export const shellProfileTable = {
  /** Whether the kernel confines commands, where the configuration does not say. */
  os_sandbox: { contract: "off", agent: "best" },
} as const;
