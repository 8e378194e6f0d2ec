import { type Case, contentRevision, errorWith } from "../case.ts";

const id = "coder::create-file";
const emptyRevision = contentRevision("");
const agent = { profile: "agent" };
const protectedError = errorWith("C222", "protects", "can be read");

const refused = (path: string) => ({ path, success: false, bytes_written: 0, error: protectedError });

const refuses = (name: string, config: Case["config"], [path, fields = {}]: [string, object?]): Case => ({
  name: `protected: ${name}`,
  ...(config && { config }),
  tree: { ".envrc": "old", "a/b": "" },
  call: { function: id, payload: { files: [{ path, content: "new", ...fields }] } },
  expect: { answer: { results: [refused(path)] }, tree: {} },
});

export const cases: readonly Case[] = [
  refuses("a file that is there", { write_deny_globs: [".envrc"] }, [".envrc", { overwrite: true }]),
  refuses("a file that is not there", { write_deny_globs: ["a/c"] }, ["a/c"]),
  refuses("a file in a folder that is not there", { write_deny_globs: ["**/c"] }, [
    "x/c/d",
    { parents: true },
  ]),
  refuses("another spelling of the path", { write_deny_globs: ["a/c"] }, ["a/../a/./c"]),
  refuses("what the profile agent names", agent, [".git/hooks/pre-commit", { parents: true }]),
  refuses("settings of editors, in the profile agent", agent, ["p/.vscode/settings.json", { parents: true }]),
  {
    name: "protected: nothing in the profile contract",
    tree: {},
    call: { function: id, payload: { files: [{ path: ".envrc", content: "new" }] } },
    expect: {
      answer: { results: [{ path: ".envrc", success: true, bytes_written: 3 }] },
      tree: { ".envrc": "new" },
    },
  },
  {
    name: "protected: an empty list frees what the profile agent names",
    config: { profile: "agent", write_deny_globs: [] },
    tree: {},
    call: { function: id, payload: { files: [{ path: ".envrc", content: "" }] } },
    expect: {
      answer: { results: [{ path: ".envrc", success: true, bytes_written: 0, revision: emptyRevision }] },
      tree: { ".envrc": { text: "", mode: 0o640 } },
    },
  },
];
