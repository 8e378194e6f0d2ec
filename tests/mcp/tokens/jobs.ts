/**
 * Common jobs of an agent, as calls of our tools and of the tools of the reference filesystem server. Each
 * side uses the fewest calls that its tools allow. The reference server gets paths relative to its folder,
 * which it accepts. Its side knows from the start the files that contain a text, because it has no tool to
 * find them.
 */

export interface JobCall {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** Whether the call is meant to fail. */
  readonly misses?: boolean;
}

export interface Job {
  readonly name: string;
  readonly ours: readonly JobCall[];
  readonly theirs: readonly JobCall[];
}

const call = (tool: string, args: Record<string, unknown>): JobCall => ({ tool, args });

type Fields = Readonly<Record<string, unknown>>;

/** Returns an exact replacement for our server. `swap` returns one for the reference server. */
const replace = (old_str: string, new_str: string, more: Fields = {}) => ({
  op: "str_replace",
  old_str,
  new_str,
  ...more,
});
const swap = (oldText: string, newText: string) => ({ oldText, newText });

const modules = ["src/orders.ts", "src/invoices.ts", "src/carts.ts"];

/** The edits of the reference server. It replaces only the first occurrence, so each one needs an edit. */
const renaming = [
  swap("import { getUser }", "import { loadUser }"),
  swap("getUser(id).name", "loadUser(id).name"),
  swap("getUser(id).mail", "loadUser(id).mail"),
];

const weight = ['rule-1733", weight: 31', 'rule-1733", weight: 13'] as const;
const misremembered = [
  "items.reduce((sum, it) => sum + it, 0)",
  "items.reduce((sum, item) => sum + item, 1)",
] as const;
const corrected = ["sum + item, 0", "sum + item, 1"] as const;

export const jobs: readonly Job[] = [
  {
    name: "read lines 1480 to 1520 of 3,000",
    ours: [call("coder_read_file", { path: "src/rules.ts", line_from: 1480, line_to: 1520 })],
    theirs: [call("read_text_file", { path: "src/rules.ts", head: 1520 })],
  },
  {
    name: "rename a symbol in three files",
    ours: [
      call("coder_search", { query: "getUser" }),
      call("coder_update_file", {
        files: modules.map((path) => ({
          path,
          ops: [replace("getUser", "loadUser", { replace_all: true })],
        })),
      }),
    ],
    theirs: [
      call("read_multiple_files", { paths: modules }),
      ...modules.map((path) => call("edit_file", { path, edits: renaming })),
    ],
  },
  {
    name: "fix line 1733 of 3,000",
    ours: [
      call("coder_read_file", { path: "src/rules.ts", line_from: 1730, line_to: 1736 }),
      call("coder_update_file", { path: "src/rules.ts", ops: [replace(...weight)] }),
    ],
    theirs: [
      call("read_text_file", { path: "src/rules.ts", head: 1736 }),
      call("edit_file", { path: "src/rules.ts", edits: [swap(...weight)] }),
    ],
  },
  {
    name: "an edit that misses, and its repair",
    ours: [
      {
        ...call("coder_update_file", { path: "src/prices.ts", ops: [replace(...misremembered)] }),
        misses: true,
      },
      call("coder_update_file", { path: "src/prices.ts", ops: [replace(...corrected)] }),
    ],
    theirs: [
      { ...call("edit_file", { path: "src/prices.ts", edits: [swap(...misremembered)] }), misses: true },
      call("read_text_file", { path: "src/prices.ts" }),
      call("edit_file", { path: "src/prices.ts", edits: [swap(...corrected)] }),
    ],
  },
  {
    name: "list a folder of 24 files",
    ours: [call("coder_list_folder", { path: "src/pages" })],
    theirs: [call("list_directory", { path: "src/pages" })],
  },
  {
    name: "the tree of the project",
    ours: [call("coder_tree", {})],
    theirs: [call("directory_tree", { path: "." })],
  },
  {
    name: "the places where a text stands",
    ours: [call("coder_search", { query: "getUser(" })],
    theirs: [call("read_multiple_files", { paths: modules })],
  },
  {
    name: "create a file",
    ours: [call("coder_create_file", { path: "src/pages/new.ts", content: "export const page = 24;\n" })],
    theirs: [call("write_file", { path: "src/pages/new.ts", content: "export const page = 24;\n" })],
  },
  {
    name: "move a file",
    ours: [call("coder_move", { files: [{ from: "docs/setup.md", to: "docs/install.md" }] })],
    theirs: [call("move_file", { source: "docs/setup.md", destination: "docs/install.md" })],
  },
  {
    name: "read three files",
    ours: [call("coder_read_file", { paths: modules })],
    theirs: [call("read_multiple_files", { paths: modules })],
  },
  {
    name: "preview an edit",
    ours: [
      call("coder_update_file", { path: "src/user.ts", ops: [replace("user-12", "user-21")], dry_run: true }),
    ],
    theirs: [call("edit_file", { path: "src/user.ts", edits: [swap("user-12", "user-21")], dryRun: true })],
  },
  {
    name: "look at an image",
    ours: [call("coder_read_file", { path: "docs/images/logo.png" })],
    theirs: [call("read_media_file", { path: "docs/images/logo.png" })],
  },
];
