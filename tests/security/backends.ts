/** The ways in which the jail can hold folders on this system; each must give the same answers. */
export const backends: readonly string[] =
  process.platform === "linux" ? ["openat", "descriptors", "current-directory"] : ["current-directory"];
