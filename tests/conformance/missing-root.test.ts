import { afterAll, beforeAll, expect, test } from "bun:test";
import { connectStdio, type McpFixture, textOf } from "../mcp/client.ts";

let connected: McpFixture;

beforeAll(async () => {
  connected = await connectStdio("executable", {
    tree: { "here/a.txt": "a\n" },
    config: { base_path: undefined },
    configure: (base) => ({
      base_path: undefined,
      roots: [
        { name: "here", path: `${base}/here` },
        { name: "absent", path: `${base}/absent` },
      ],
    }),
  });
});

afterAll(() => connected[Symbol.asyncDispose]());

test("the other roots are served", async () => {
  const read = await connected.call("coder_read_file", { path: "here/a.txt" });
  expect(read.isError).toBeUndefined();
  expect(textOf(read)).toBe("a\n");
  const listed = await connected.call("coder_list_folder", {});
  expect(textOf(listed)).toContain("here/");
  expect(textOf(listed)).not.toContain("absent");
});

test("a path in the missing root is refused with the reason", async () => {
  for (const [tool, args] of [
    ["coder_read_file", { path: "absent/a.txt" }],
    ["coder_create_file", { files: [{ path: "absent/a.txt", content: "a" }] }],
    ["coder_search", { path: "absent", query: "a" }],
  ] as const) {
    const result = await connected.call(tool, args);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/C216 \w+: The root "absent" is not served: .* restart the server\./);
  }
});

test("info and the log name it", async () => {
  expect(textOf(await connected.call("coder_info", {}))).toContain(
    "roots: here absent (not served: its folder could not be reached at the start)",
  );
  expect(connected.stderr()).toMatch(/"message":"root not served","root":"absent",.*"reason":"ENOENT"/);
});
