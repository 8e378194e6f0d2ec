/** Converts the names in a patch to paths on the wire, and describes to the suites how a call uses them. */
import type { RequestPath } from "../../calls/contract/definition.ts";

/**
 * Returns the path on the wire for a name in a patch, which is relative to `baseDir` unless it is absolute.
 */
export const pathBelow = (baseDir: string, name: string): string =>
  isBase.test(baseDir) || name.startsWith("/") ? name : `${baseDir.replace(/\/+$/, "")}/${name}`;

/** Names of the base, which add nothing to a path. */
const isBase = /^(?:\.\/*)+$/;

/** Returns a name in the quotes of C, like git. Any text can be quoted. */
const quoted = (prefix: string, name: string): string =>
  `"${(prefix + name).replace(
    /["\\\u0000-\u001f\u007f]/g,
    (unit) => `\\${unit.charCodeAt(0).toString(8).padStart(3, "0")}`,
  )}"`;

const header = (path: string, ...lines: string[]): string =>
  [`diff --git ${quoted("a/", path)} ${quoted("b/", path)}`, ...lines, ""].join("\n");

/**
 * Renders a patch that applies to any file. V4A has no quotes, and blanks around a name are removed, so other
 * names are rendered in git's form.
 */
function renderUpdate(path: string): string {
  if (path === path.trim() && !/[\u0000-\u001f]/.test(path))
    return `*** Begin Patch\n*** Update File: ${path}\n@@\n+new\n*** End of File\n*** End Patch\n`;
  return header(
    path,
    `--- ${quoted("a/", path)}`,
    `+++ ${quoted("b/", path)}`,
    "@@ -1 +1,2 @@",
    "+new",
    " inside",
  );
}

/** The uses of a path in patches. */
export const patchPaths: readonly RequestPath[] = [
  { at: "/patch", part: "update", access: "write", render: renderUpdate },
  {
    at: "/patch",
    part: "mode",
    access: "write",
    render: (path) => header(path, "old mode 100644", "new mode 100755"),
  },
  {
    at: "/patch",
    part: "add",
    access: "create-tree",
    render: (path) =>
      header(
        path,
        "new file mode 100644",
        "--- /dev/null",
        `+++ ${quoted("b/", path)}`,
        "@@ -0,0 +1 @@",
        "+new",
      ),
  },
  {
    at: "/patch",
    part: "delete",
    access: "remove",
    render: (path) => header(path, "deleted file mode 100644"),
  },
  {
    at: "/patch",
    part: "rename from",
    access: "move",
    render: (path, { free }) =>
      header(path, `rename from ${quoted("", path)}`, `rename to ${quoted("", free)}`),
  },
  {
    at: "/patch",
    part: "rename to",
    access: "create-tree",
    render: (path, { there }) =>
      header(there, `rename from ${quoted("", there)}`, `rename to ${quoted("", path)}`),
  },
  {
    at: "/patch",
    part: "copy from",
    access: "copy",
    render: (path, { free }) => header(path, `copy from ${quoted("", path)}`, `copy to ${quoted("", free)}`),
  },
  {
    at: "/patch",
    part: "copy to",
    access: "create-tree",
    render: (path, { there }) =>
      header(there, `copy from ${quoted("", there)}`, `copy to ${quoted("", path)}`),
  },
];
