import type { Tree } from "../../harness/tree.ts";
import { type Case, failure } from "../case.ts";

const id = "coder::read-file";
const config = { profile: "agent" };
const tree: Tree = { "a.txt": "a", "s/b.txt": "b", ".env": "K=1", out: { link: "/etc/hostname" } };

const refuses = (name: string, path: string, error: ReturnType<typeof failure>): Case => ({
  name: `profile agent: ${name}`,
  config,
  tree,
  call: { function: id, payload: { path } },
  expect: { error },
});

export const cases: readonly Case[] = [
  refuses("an absolute path that is not there", "<base>/none", failure("C211", "not found")),
  refuses(
    "an absolute path to a denied file",
    "<base>/.env",
    failure("C211", "matches the deny rule **/.env"),
  ),
  refuses("an absolute path to the base", "<base>", failure("C210", "not a regular file")),
  refuses("an absolute path beside the base", "<base>-not", failure("C215", "leaves")),
  refuses("an absolute path to somewhere else", "/etc/hostname", failure("C215", "leaves")),
  refuses("an absolute path that leaves the base again", "<base>/../x", failure("C215", "leaves")),
  refuses("an absolute path through a link that leads outside", "<base>/out", failure("C215", "link")),
];
