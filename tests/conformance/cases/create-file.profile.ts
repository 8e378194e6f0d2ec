import { type Case, contentRevision, errorWith, failure } from "../case.ts";

const id = "coder::create-file";
const agent = { profile: "agent" };

const written = (path: string, content: string) => {
  const revision = contentRevision(content);
  return { results: [{ path, success: true, bytes_written: content.length, revision }] };
};

/** Returns a new file created without a mode, under the umask 027 of the worker. */
const underUmask = (text: string) => ({ text, mode: 0o640 });

export const cases: readonly Case[] = [
  {
    name: "profile agent: the flat envelope",
    config: agent,
    tree: {},
    call: { function: id, payload: { path: "a", content: "a" } },
    expect: { answer: written("a", "a"), tree: { a: underUmask("a") } },
  },
  {
    name: "profile agent: the flat envelope with an absolute path inside the base",
    config: agent,
    tree: {},
    call: { function: id, payload: { path: "<base>/s/a", content: "a" } },
    expect: { answer: written("<base>/s/a", "a"), tree: { "s/a": underUmask("a") } },
  },
  {
    name: "profile agent: an absolute path that ends in a slash names no file either",
    config: agent,
    tree: { "a.txt": "a" },
    call: { function: id, payload: { files: [{ path: "<base>/a/", content: "a" }] } },
    expect: {
      answer: {
        results: [
          { path: "<base>/a/", success: false, bytes_written: 0, error: errorWith("C210", "ends with") },
        ],
      },
      tree: {},
    },
  },
  {
    name: "profile agent: a flat envelope beside files is refused, and nothing is written",
    config: agent,
    tree: {},
    call: { function: id, payload: { path: "b", content: "b", files: [{ path: "a", content: "a" }] } },
    expect: { error: failure("C210", "entry of `files`") },
  },
  {
    name: "profile agent: a path without content is no flat envelope",
    config: agent,
    tree: {},
    call: { function: id, payload: { path: "a" } },
    expect: { error: failure("C210", "content is missing") },
  },
  {
    name: "content in base64",
    tree: {},
    call: { function: id, payload: { files: [{ path: "a", content: "/wAx\r\nCg==", encoding: "base64" }] } },
    expect: {
      answer: { results: [{ path: "a", success: true, bytes_written: 4 }] },
      tree: { a: Buffer.from([0xff, 0, 0x31, 0x0a]) },
    },
  },
  {
    name: "content that is not base64",
    tree: {},
    call: { function: id, payload: { files: [{ path: "a", content: "a", encoding: "base64" }] } },
    expect: {
      answer: {
        results: [
          {
            path: "a",
            success: false,
            bytes_written: 0,
            error: errorWith("C210", "base64", "multiple of 4"),
          },
        ],
      },
      tree: {},
    },
  },
  {
    name: "profile agent: an encoding that cannot be written is refused",
    config: agent,
    tree: {},
    call: { function: id, payload: { path: "a", content: "a", encoding: "utf-99" } },
    expect: {
      answer: {
        results: [
          { path: "a", success: false, bytes_written: 0, error: errorWith("C210", "encoding", "base64") },
        ],
      },
      tree: {},
    },
  },
  {
    name: "profile contract: the flat envelope is refused",
    config: { profile: "contract" },
    tree: {},
    call: { function: id, payload: { path: "a", content: "a" } },
    expect: { error: failure("C210", "files") },
  },
  {
    name: "profile contract: an absolute path inside the base is refused",
    config: { profile: "contract" },
    tree: {},
    call: { function: id, payload: { files: [{ path: "<base>/a", content: "a" }] } },
    expect: {
      answer: {
        results: [
          { path: "<base>/a", success: false, bytes_written: 0, error: errorWith("C210", "absolute") },
        ],
      },
    },
  },
];
