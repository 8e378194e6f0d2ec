/** The choice of the configuration: each step of the search order, and each reason for a refusal to start. */
import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSubjects, type RunOptions, runCoder } from "../harness/subject.ts";
import { expectRefusal, projectOf, removeProjects, serveArgs, serving } from "./projects.ts";

afterAll(removeProjects);

/** For each worker: the flags that select it, a configuration that serves a folder, the default folder. */
const kinds = {
  coder: {
    flags: [] as readonly string[],
    keys: (folder: string) => `base_path: ${folder}`,
    byDefault: (project: string) => project,
  },
  shell: {
    flags: ["--worker", "shell"],
    keys: (folder: string) => `fs: {host_root: ${folder}}`,
    byDefault: undefined,
  },
} as const;

const engineFile = (name: string, block: string, list = "workers") =>
  `${list}:\n  - name: iii-worker-manager\n    config:\n      port: 49134\n  - name: ${name}\n    config:\n      ${block}\n  - name: other\n    config:\n      base_path: /\n`;

const bareFile = (name: string) => `workers:\n  - name: ${name}\n`;

const comment = (name: string) =>
  `# '${name}': value now lives in the configuration worker at ./config/${name}.yaml. Edit at runtime via 'configuration::set'; this block is no longer read.`;

const ofEngine = { III_WORKER_NAME: "", III_URL: "ws://127.0.0.1:9" };

describe.each(defaultSubjects)("%s", (subject) => {
  describe.each(["coder", "shell"] as const)("%s", (worker) => {
    const { flags, keys } = kinds[worker];
    const byEngine = { ...ofEngine, III_WORKER_NAME: worker };
    const serve = (args: readonly string[], options: RunOptions) =>
      serving(subject, [...flags, ...args], options);
    const refuses = (options: RunOptions & { words: readonly string[]; args?: readonly string[] }) =>
      expectRefusal(subject, { ...options, args: [...serveArgs, ...flags, ...(options.args ?? [])] });

    test("--config before everything else", async () => {
      const cwd = projectOf({
        "named.yaml": keys("a"),
        "other.yaml": keys("b"),
        "config.yaml": engineFile(worker, keys("b")),
      });
      const env = { ...byEngine, III_CONFIG: "other.yaml", III_CONFIG_PATH: join(cwd, "config.yaml") };
      expect(await serve(["--config", "named.yaml"], { cwd, env })).toMatchObject({
        base_path: join(cwd, "a"),
        config: join(cwd, "named.yaml"),
      });
    });

    test("$III_CONFIG, which iii compose sets", async () => {
      const cwd = projectOf({ "named.yaml": keys("a"), "config.yaml": keys("b") });
      const env = { ...byEngine, III_CONFIG: join(cwd, "named.yaml") };
      expect(await serve([], { cwd, env })).toMatchObject({
        base_path: join(cwd, "a"),
        config: join(cwd, "named.yaml"),
      });
    });

    test("the block of the entry in $III_CONFIG_PATH", async () => {
      const cwd = projectOf({ "iii.yaml": engineFile(worker, keys("a")), "config.yaml": keys("b") });
      const env = { ...byEngine, III_CONFIG_PATH: join(cwd, "iii.yaml") };
      expect(await serve([], { cwd, env })).toMatchObject({
        base_path: join(cwd, "a"),
        config: `${join(cwd, "iii.yaml")}, entry ${worker}`,
      });
    });

    test.each([
      ["with the environment of iii-worker", byEngine],
      ["by hand", {}],
    ])("the block of the entry in the engine's ./config.yaml, %s", async (_, env) => {
      for (const list of ["workers", "modules"]) {
        const cwd = projectOf({ "config.yaml": engineFile(worker, keys("a"), list) });
        expect(await serve([], { cwd, env })).toMatchObject({
          base_path: join(cwd, "a"),
          config: `${join(cwd, "config.yaml")}, entry ${worker}`,
        });
      }
    });

    test("the entry is the one that III_WORKER_NAME names", async () => {
      const cwd = projectOf({
        "config.yaml": engineFile("second", keys("a")).replace("other", worker),
      });
      const env = { ...byEngine, III_WORKER_NAME: "second" };
      expect(await serve([], { cwd, env })).toMatchObject({ base_path: join(cwd, "a") });
    });

    test("variables of the engine's file are expanded as the engine does", async () => {
      const block = keys("${PROJECT_FOLDER:a}").replace(
        "fs: {host_root: ${PROJECT_FOLDER:a}}",
        "fs:\n        host_root: ${PROJECT_FOLDER:a}",
      );
      const most = worker === "coder" ? "max_read_bytes" : "max_finished_jobs";
      const text = `${engineFile(worker, `${block}\n      ${most}: \${MOST:7}`)}  - name: last\n    config: {url: "\${NOT_SET_ANYWHERE}"}\n`;
      const cwd = projectOf({ "config.yaml": text });
      expect(await serve([], { cwd, env: byEngine })).toMatchObject({ base_path: join(cwd, "a") });
      const env = { ...byEngine, PROJECT_FOLDER: "b" };
      expect(await serve([], { cwd, env })).toMatchObject({ base_path: join(cwd, "b") });
      await refuses({ cwd, env: { ...byEngine, MOST: "many" }, words: [most] });
    });

    test("anchors and tags of other entries are nothing to us", async () => {
      const text = `workers:\n  - &one {name: first, config: !theirs {a: 1}}\n  - *one\n  - name: ${worker}\n    config: {${keys("a").replace(/^fs: /, "fs: ")}}\n`;
      const cwd = projectOf({ "config.yaml": text });
      expect(await serve([], { cwd })).toMatchObject({ base_path: join(cwd, "a") });
    });

    test("./config.yaml that holds keys of this worker, by hand and under an engine with another file", async () => {
      const cwd = projectOf({ "config.yaml": keys("a"), "iii.yaml": bareFile(worker) });
      const expected = { base_path: join(cwd, "a"), config: join(cwd, "config.yaml") };
      expect(await serve([], { cwd })).toMatchObject(expected);
      const env = { ...byEngine, III_CONFIG_PATH: join(cwd, "iii.yaml") };
      expect(await serve([], { cwd, env })).toMatchObject(expected);
    });

    test.each([
      ["an application's file", "server:\n  port: 80\n"],
      ["a template that is no YAML", "{{ .Values.server }}\nport: {{ 80 }}\n"],
      ["a list", "- one\n- two\n"],
      ["an empty file", ""],
      ["an engine's file without an entry", "workers:\n  - name: other\n    config: {base_path: /}\n"],
      ["an engine's file with a bare entry", bareFile(worker)],
      ["an engine's file with an empty block", `workers:\n  - name: ${worker}\n    config:\n`],
      ["an engine's file with an empty list", "workers: []\n"],
      ["an engine's file of older days", "modules:\n  - class: modules::api::RestApiModule\n"],
      ["an engine's file with keys of ours beside", "workers: []\nbase_path: /\nallowlist: []\n"],
    ])("%s is passed over with an info line", async (_, text) => {
      const cwd = projectOf({ "config.yaml": text });
      for (const env of [{}, byEngine]) {
        const said = await serve(["--base-path", "a"], { cwd, env });
        expect(said).toMatchObject({ base_path: join(cwd, "a"), config: "defaults" });
        expect(said.stderr).toMatch(
          /"level":"info","message":"not read","file":"[^"]*\/config.yaml","reason":"/,
        );
      }
    });

    test("./config.yaml with a key one typo away from one of ours is passed over with a warning", async () => {
      const key = worker === "coder" ? "max_read_bytes" : "max_output_bytes";
      for (const typo of [key.replace("max", "mxa"), key.slice(0, -1), `${key.slice(0, -1)}z`]) {
        const cwd = projectOf({ "config.yaml": `${typo}: 70000\n` });
        const { stderr, config } = await serve(["--base-path", "a"], { cwd });
        expect(config).toBe("defaults");
        expect(stderr).toContain(
          `"level":"warn","message":"not read","file":"${cwd}/config.yaml","reason":"it has no key of this worker; did you mean ${key} by \\"${typo}\\"?"`,
        );
      }
    });

    test("./config.yaml that is not YAML is passed over for that reason", async () => {
      const cwd = projectOf({ "config.yaml": "server: [\n" });
      const { stderr } = await serve(["--base-path", "a"], { cwd });
      expect(stderr).toMatch(
        /"message":"not read","file":"[^"]*","reason":"it has no key of this worker, and is not YAML: [^"]*[^:"]"/,
      );
    });

    test("a folder of that name is nothing", async () => {
      const cwd = projectOf({ "config.yaml/x": "" });
      expect(await serve(["--base-path", "a"], { cwd })).toMatchObject({ config: "defaults" });
    });

    test("--base-path wins over the block's folder", async () => {
      const cwd = projectOf({ "config.yaml": engineFile(worker, keys("a")) });
      expect(await serve(["--base-path", "b"], { cwd, env: byEngine })).toMatchObject({
        base_path: join(cwd, "b"),
        config: `${join(cwd, "config.yaml")}, entry ${worker}`,
      });
    });

    describe("does not start", () => {
      test.each(["--config", "III_CONFIG"])("with an engine's file as %s", async (how) => {
        const cwd = projectOf({ "iii.yaml": engineFile(worker, keys("a")) });
        const words = ["iii.yaml", "engine", "workers", "--config"];
        if (how === "--config") await refuses({ cwd, args: ["--config", "iii.yaml"], words });
        else await refuses({ cwd, env: { III_CONFIG: "iii.yaml" }, words });
      });

      test.each(["III_CONFIG", "III_CONFIG_PATH"])("with %s that cannot be read", async (name) => {
        const cwd = projectOf({});
        await refuses({
          cwd,
          env: { ...byEngine, [name]: join(cwd, "none.yaml") },
          words: [name, "none.yaml", "ENOENT"],
        });
      });

      test.each(["III_CONFIG", "III_CONFIG_PATH"])("with %s that is no YAML", async (name) => {
        const cwd = projectOf({ "broken.yaml": "workers: [" });
        await refuses({ cwd, env: { ...byEngine, [name]: "broken.yaml" }, words: ["broken.yaml", "YAML"] });
      });

      test("with III_CONFIG_PATH that is no mapping", async () => {
        const cwd = projectOf({ "iii.yaml": "just words\n" });
        await refuses({
          cwd,
          env: { ...byEngine, III_CONFIG_PATH: "iii.yaml" },
          words: ["iii.yaml", "engine"],
        });
      });

      test.each([
        ["a wrong key", "base_pth: a", "base_pth"],
        ["a block that is no mapping", "- 7", "mapping"],
      ])("with %s in the block", async (_, block, word) => {
        const cwd = projectOf({ "config.yaml": engineFile(worker, block) });
        for (const env of [{}, byEngine]) {
          await refuses({ cwd, env, words: [`config.yaml, entry ${worker}`, word] });
        }
      });

      test("with an engine's ./config.yaml that is no YAML", async () => {
        const cwd = projectOf({ "config.yaml": `${engineFile(worker, keys("a"))}  - [\n` });
        for (const env of [{}, byEngine]) await refuses({ cwd, env, words: ["config.yaml", "YAML"] });
      });

      test("with two entries of its name", async () => {
        const text = engineFile(worker, keys("a")).replace("other", worker);
        await refuses({ cwd: projectOf({ "config.yaml": text }), words: [`2 entries named ${worker}`] });
      });

      test("with a block that went to the configuration worker", async () => {
        const cwd = projectOf({ "config.yaml": `${bareFile(worker)}    ${comment(worker)}\n` });
        const words = [
          `the configuration of ${worker} was moved to the configuration worker, which ${worker} does not read; put the block back`,
        ];
        for (const env of [{}, byEngine, { ...byEngine, III_CONFIG_PATH: "config.yaml" }])
          await refuses({ cwd, env, words });
      });

      test.each([
        ["a key that is wrong", (own: string) => `${own}\nbase_pth: a\n`, "base_pth"],
        ["no YAML", (own: string) => `${own}\nother: [\n`, "YAML"],
        ["no UTF-8", (own: string) => `${own}\nother: \xff\n`, "UTF-8"],
      ])("with a ./config.yaml of its own that has %s", async (_, textOf, word) => {
        const cwd = projectOf({});
        writeFileSync(join(cwd, "config.yaml"), Buffer.from(textOf(keys("a")), "latin1"));
        await refuses({ cwd, words: ["config.yaml", word] });
      });
    });

    test("a block that was put back beside the comment is used", async () => {
      const text = `${engineFile(worker, keys("a"))}${comment(worker)}\n`;
      const cwd = projectOf({ "config.yaml": text });
      expect(await serve([], { cwd, env: byEngine })).toMatchObject({ base_path: join(cwd, "a") });
    });

    test("mcp and call read what --config names, and nothing else", async () => {
      const cwd = projectOf({ "config.yaml": "base_pth: [", "named.yaml": keys("a") });
      const env = { ...byEngine, III_CONFIG: "none.yaml", III_CONFIG_PATH: "none.yaml", III_URL: "" };
      const mcp = (...args: string[]) => runCoder(subject, ["mcp", ...flags, ...args], { cwd, env });
      expect((await mcp("--base-path", "b")).stderr).toContain(`"base_path":"${cwd}/b","config":"defaults"`);
      expect((await mcp("--config", "named.yaml")).stderr).toContain(
        `"base_path":"${cwd}/a","config":"${cwd}/named.yaml"`,
      );
      expect((await mcp("--config", "config.yaml")).stderr).toContain("YAML");
      const id = worker === "coder" ? "list-folder" : "list";
      const call = (...args: string[]) => runCoder(subject, ["call", id, ...flags, ...args], { cwd, env });
      expect((await call("--base-path", "b")).code).toBe(0);
      expect((await call("--config", "named.yaml")).code).toBe(0);
      expect((await call("--config", "config.yaml")).stderr).toContain("YAML");
    });
  });
});
