import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArguments } from "../../../src/config/arguments/arguments.ts";
import { root } from "../../build.ts";
import { channels, summary } from "../channels.ts";
import { links, manifests, registryEntry, renderManifests } from "./manifests.ts";

test.each([...renderManifests()])("%s is as npm run reference writes it", (path, text) => {
  expect(readFileSync(join(root, path), "utf8")).toBe(text);
});

test("every client starts a server that the command line accepts", () => {
  const claude = manifests[".claude-plugin/plugin.json"];
  const gemini = manifests["gemini-extension.json"];
  const decode = (link: string) => JSON.parse(Buffer.from(link, "base64").toString());
  const entries = [
    ...[claude, gemini].map((manifest) => (manifest as typeof served).mcpServers.coder),
    JSON.parse(decodeURIComponent(links.vscode.replace(/^.*\?/, ""))),
    decode(decodeURIComponent(links.cursor.replace(/^.*config=/, ""))),
  ];
  for (const { command, args } of entries) {
    expect([command, ...args.slice(0, 2)]).toEqual(["npx", "-y", channels.npm]);
    expect(parseArguments(args.slice(2), {})).toMatchObject({ name: "mcp", basePath: args.at(-1) });
  }
});

declare const served: { mcpServers: { coder: { command: string; args: string[] } } };

/** The rules of the registry that its schema and its publisher check. */
test("the entry in the registry of MCP keeps its rules", () => {
  const bundle = { url: "https://example.com/coder.mcpb", digest: "0".repeat(64) };
  const { name, title, description, version, packages } = registryEntry([bundle]);
  expect(name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(title.length).toBeLessThanOrEqual(100);
  expect(description).toBe(summary);
  expect(description.length).toBeLessThanOrEqual(100);
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  for (const { registryType, identifier, transport } of packages)
    expect({ registryType, identifier, transport }).toEqual({
      registryType: expect.stringMatching(/^(npm|mcpb)$/),
      identifier: expect.stringMatching(/./),
      transport: { type: "stdio" },
    });
  expect(packages[1]).toMatchObject({ fileSha256: bundle.digest });
});

test("docs/install.md has the links, and the names of the channels", () => {
  const page = readFileSync(join(root, "docs/install.md"), "utf8");
  for (const text of [links.cursor, links.vscode, `npx -y ${channels.npm}`]) expect(page).toContain(text);
});

test.each(["README.md", "CHANGELOG.md", "docs/install.md"])(
  "%s has no other names of the channels",
  (page) => {
    const text = readFileSync(join(root, page), "utf8");
    const { npm, repository } = channels;
    const named = text.matchAll(/@[\w-]+\/coder\b|(?:github\.com\/|\badd |--repo )[\w-]+\/coder\b/g);
    const known = [
      npm,
      ...["github.com/", "add ", "--repo "].map((before) =>
        repository.replace("https://github.com/", before),
      ),
    ];
    expect([...named].map(([name]) => name).filter((name) => !known.includes(name))).toEqual([]);
  },
);
