/** Calls with the `fs_scope` that iii's harness adds to each call of a session (coder §26). */
import type { Case } from "./case.ts";
import { file, outside, scopeTree } from "./fs-scope-case.ts";
import { anything, type Outcome, refused } from "./roots-case.ts";

/** Returns a scope with all fields of that harness, one of which is for another worker. */
const session = (fields: object): object => ({
  root: "<base>/app",
  grants: [],
  boundary: "workspace",
  session_id: "s1",
  ...fields,
});

const tree = { ...scopeTree, "workspace/w.txt": "needle in workspace\n" };

const contents: Readonly<Record<string, string>> = {
  "a.txt": "needle in app\n",
  "../docs/d.txt": "needle in docs\n",
  "../top.txt": "needle at the top\n",
};

const call = (name: string, id: string, payload: object, expect: Outcome): Case => ({
  name,
  tree,
  call: { function: `coder::${id}`, payload: { fs_scope: session({}), ...payload } },
  expect,
});

const read = (name: string, path: string, fields: object, expect?: Outcome): Case =>
  call(
    name,
    "read-file",
    { path, fs_scope: session(fields) },
    expect ?? file(path, contents[path] ?? "needle in app\n"),
  );

/** Adds the fields of the profile `agent` to the outcome. */
function withAgentFields(outcome: Outcome): Outcome {
  if (!("answer" in outcome)) return outcome;
  const answer = outcome.answer as object;
  const more =
    "content" in answer
      ? { revision: anything }
      : { index: anything, not_searched: anything, searched: anything, skipped: anything };
  return { ...outcome, answer: { ...answer, ...more } };
}

const profiles = ["contract", "agent"];

/** Cases of each form of a scope, in both profiles. */
const inBothProfiles: readonly Case[] = profiles.flatMap((profile) =>
  [
    read("a path of the session", "a.txt", {}),
    read("an absolute path of the session", "<base>/app/a.txt", {}),
    read("an absolute path beside it", "<base>/top.txt", {}, outside),
    read("an absolute path outside", "<root>/outside/x", {}, refused("C215")),
    read("beside the session", "../top.txt", {}, outside),
    read("a link to another folder", "to-docs", {}, outside),
    read("what is denied in it", ".env", {}, refused("C211")),
    read("a relative root", "a.txt", { root: "app" }),
    read("a granted folder", "../docs/d.txt", { grants: ["<base>/docs"] }),
    read("what is denied in that", "../docs/.env", { grants: ["<base>/docs"] }, refused("C211")),
    read("a grant of a file that is denied", ".env", { grants: ["<base>/app/.env"] }, refused("C211")),
    read("grants that lead nowhere here", "a.txt", { grants: ["/", "<root>/outside", "", "<base>/../x"] }),
    read("and give nothing", "../top.txt", { grants: ["/", "<root>", "<base>/.."] }, outside),
    read("the whole base", "../top.txt", { boundary: "configured_roots" }),
    read("and nothing else", "../../x", { boundary: "configured_roots", grants: ["/"] }, refused("C215")),
    read("a root outside", "a.txt", { root: "<root>/outside" }, refused("C215")),
    read("a root above", "a.txt", { root: "/", boundary: "configured_roots" }, refused("C215")),
    read("a root that is denied", "a", { root: "<base>/app/.env" }, refused("C211")),
    read("grants that are not a list", "a.txt", { grants: "app" }, refused("C210", "grants")),
    call(
      "a search starts at the session",
      "search",
      { query: "needle", search_paths: false },
      {
        answer: {
          content_matches: ["app/a.txt", "app/src/b.txt"].map((path) => ({
            path,
            line: 1,
            column: 1,
            text: anything,
          })),
          path_matches: [],
          truncated: false,
        },
      },
    ),
  ].map((one) => ({
    ...one,
    name: `${profile}: ${one.name}`,
    config: { profile },
    expect: profile === "agent" ? withAgentFields(one.expect) : one.expect,
  })),
);

const folderOfThatName: readonly Case[] = [
  call(
    "a folder called workspace is ./workspace",
    "read-file",
    { path: "w.txt", fs_scope: { root: "workspace", boundary: "./workspace" } },
    file("w.txt", "needle in workspace\n"),
  ),
  call("and the word is another thing", "read-file", { path: "../workspace/w.txt" }, outside),
  call(
    "or an absolute path",
    "read-file",
    { path: "../top.txt", fs_scope: { root: "workspace", boundary: "<base>/workspace" } },
    outside,
  ),
  call(
    "string grants without the words are grants as ever",
    "read-file",
    { path: "a.txt", fs_scope: { root: "app", grants: ["<base>/app/src"] } },
    outside,
  ),
];

/** Cases of functions that no scope limits, because their requests do not name paths. */
const withoutPaths: readonly Case[] = [
  call("commit has the scope of its dry run", "commit", { plan: "none" }, refused("C210", "plan")),
  call("info", "info", {}, { answer: anything }),
  call("config-status", "config-status", {}, { answer: anything }),
];

const writing: readonly Case[] = [
  call(
    "the session's folder stays",
    "delete-file",
    { paths: ["."], recursive: true },
    {
      answer: { results: [{ path: ".", success: false, removed: false, error: anything }] },
    },
  ),
  call(
    "a new file in a granted folder",
    "create-file",
    {
      files: [{ path: "<base>/docs/new.txt", content: "new" }],
      fs_scope: session({ grants: ["<base>/docs"] }),
    },
    {
      answer: { results: [{ path: "<base>/docs/new.txt", success: true, bytes_written: 3 }] },
      tree: { "docs/new.txt": "new" },
    },
  ),
  call(
    "and in no other",
    "create-file",
    { files: [{ path: "<base>/docs/new.txt", content: "new" }] },
    {
      answer: {
        results: [{ path: "<base>/docs/new.txt", success: false, bytes_written: 0, error: anything }],
      },
    },
  ),
];

const unknownField: Case = {
  name: "unknown fields of another scope are refused",
  tree,
  config: { profile: "agent" },
  call: { function: "coder::read-file", payload: { path: "a.txt", fs_scope: { root: "app", boundry: "." } } },
  expect: refused("C210", "boundry"),
};

export const sessionScopeCases: readonly Case[] = [
  ...inBothProfiles,
  ...folderOfThatName,
  ...withoutPaths,
  ...writing,
  unknownField,
];
