import { expect } from "bun:test";
import { rmSync } from "node:fs";
import { FsCases, jailed, openCaseFolder } from "../fixture.ts";

const ops = ["ls", "stat", "mkdir", "rm", "chmod", "mv", "grep", "sed", "write", "read"];
const content = { channel_id: "c", access_key: "k" };

/** The required fields of each function besides its path. */
const more: Readonly<Record<string, object>> = {
  chmod: { mode: "0644" },
  grep: { pattern: "x" },
  sed: { pattern: "x", replacement: "y" },
  write: { content },
};

const payloadFor = (op: string, path: string): object =>
  op === "mv" ? { src: path, dst: `${path}-2` } : { path, ...more[op] };

const unjailed = new FsCases()
  .refusesOn("88 stat", [{}, { path: "/etc/passwd" }], "S215")
  .refusesOn("88 read", [{}, { path: "/etc/shadow" }], "S215")
  .refusesOn("93 stat", [{}, { path: "<base>/nonexistent/../../../../../../etc/passwd" }], "S215")
  .answersOn("94 stat", [{ "sub/": null, f: "x" }, { path: "<base>/sub/../f" }], { name: "f", size: 1 })
  .answersOn("97 ls", [{ "real/a": "x", link: { link: "real" } }, { path: "<base>/link" }], {
    entries: [{ name: "a" }],
  })
  .answersOn("98 ls", [{ "sub/a": "x" }, { path: "<base>//sub///" }], { entries: [{ name: "a" }] })
  .refusesOn("99 stat", [{}, { path: `/tmp/${"x".repeat(5000)}` }], "S216")
  .refusesOn("102 ls", [{}, { path: "<base>", target: { kind: "wat" } }], "S210", "bad ls payload")
  .refusesOn("102 ls", [{}, { path: "<base>", target: null }], "S210", "bad ls payload")
  .scriptOn(103, "the host is where a call acts by default", { a: "x" }, async ({ answer }) => {
    const path = "<base>";
    expect(await answer("ls", { path })).toEqual(await answer("ls", { path, target: { kind: "host" } }));
  })
  .scriptOn(106, "everything can be reached where that is allowed", {}, async ({ answer }) => {
    const path = `/var/tmp/coder-${process.pid}`;
    expect(await answer("mkdir", { path })).toEqual({ created: true });
    expect(await answer("rm", { path })).toEqual({ removed: true });
    rmSync(path, { recursive: true, force: true });
  });

for (const op of ops) {
  unjailed.refusesOn(`87 ${op}`, [{}, payloadFor(op, "relative/path")], "S210");
  unjailed.refusesOn(`101 ${op}`, [{}, {}], "S210", `bad ${op} payload`);
  unjailed.refusesOn(`101 ${op}`, [{}, "text"], "S210", `bad ${op} payload`);
  unjailed.refusesOn(`101 ${op}`, [{}, null], "S210", `bad ${op} payload`);
  if (op !== "sed" && op !== "write")
    unjailed.refusesOn(`100 ${op}`, [{ f: "x" }, payloadFor(op, "<base>/f/child")], "S216");
}

const inJail = new FsCases(jailed())
  .answersOn("90 ls", [{ "sub/": null }, { path: "<base>/sub" }], { entries: [] })
  .script(91, "a name that only begins like the root", async (served) => {
    await openCaseFolder(served).refused("stat", { path: `${served.folder}-b/x` }, "S215");
  })
  .scriptOn(95, "a link out of the root", { link: { link: "/var/tmp" } }, async ({ refused }) => {
    await refused("mkdir", { path: "<base>/link/coder-new" }, "S215");
    await refused("write", { path: "<base>/link/coder-new", content }, "S215");
    await refused("ls", { path: "<base>/link" }, "S215");
  })
  .scriptOn(96, "a dangling link", { link: { link: "/var/tmp/coder-nowhere" } }, async ({ refused }) => {
    await refused("write", { path: "<base>/link/x", content, parents: true }, "S215", "dangling symlink");
    await refused("stat", { path: "<base>/link" }, "S215");
    await refused("mkdir", { path: "<base>/link/x", parents: true }, "S215");
  });

for (const op of ops) inJail.refusesOn(`89 ${op}`, [{}, payloadFor(op, "/etc")], "S215");

const denied = new FsCases(jailed({ denylist_paths: ["<folder>/denied"] }));
for (const op of ops) {
  denied.script(92, `${op} on the denylist`, async (served) => {
    for (const path of [`${served.folder}/denied`, `${served.folder}/denied/inner`])
      await openCaseFolder(served).refused(op, payloadFor(op, path), "S215");
  });
}

export const cases = [...unjailed.all, ...inJail.all, ...denied.all];
