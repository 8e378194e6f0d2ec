import { describe, expect, test } from "bun:test";
import { parseArguments, workerCalled } from "./arguments.ts";
import { type FlagName, flagNames, flags } from "./flags.ts";
import { renderHelp } from "./help.ts";
import { UsageError } from "./usage-error.ts";

const parse = (line: string, environment: NodeJS.ProcessEnv = {}) =>
  parseArguments(line === "" ? [] : line.split(" "), environment);

const source = {
  worker: "coder" as const,
  configFile: undefined,
  basePath: undefined,
  logLevel: "info" as const,
  readOnly: false,
  environment: {},
};

describe("one command", () => {
  test("serving is what it does by itself", () => {
    expect(parse("")).toEqual({
      ...source,
      name: "serve",
      url: "ws://127.0.0.1:49134",
      embedded: undefined,
    });
  });

  test("the address: flag, III_URL, III_ENGINE_URL, default", () => {
    const both = { III_URL: "ws://a", III_ENGINE_URL: "ws://b" };
    expect(parse("--url ws://c", both)).toMatchObject({ url: "ws://c" });
    expect(parse("", both)).toMatchObject({ url: "ws://a" });
    expect(parse("", { III_URL: "", III_ENGINE_URL: "ws://b" })).toMatchObject({ url: "ws://b" });
  });

  test("flags with = and without", () => {
    expect(parse("--config=x.yaml --base-path y --log-level debug")).toMatchObject({
      configFile: "x.yaml",
      basePath: "y",
      logLevel: "debug",
    });
  });

  test("the embedded engine, with and without a port", () => {
    expect(parse("--engine embedded")).toMatchObject({ embedded: { port: 49134, token: undefined } });
    expect(parse("--engine embedded:0")).toMatchObject({ embedded: { port: 0 } });
  });

  test("the token of the embedded engine comes from --token, else CODER_TOKEN", () => {
    const token = "0123456789abcdef";
    const environment = { CODER_TOKEN: "fedcba9876543210" };
    expect(parse(`--engine embedded --token ${token}`, environment)).toMatchObject({ embedded: { token } });
    expect(parse("--engine embedded", environment)).toMatchObject({
      embedded: { token: environment.CODER_TOKEN },
    });
    expect(parse("", { CODER_TOKEN: "short" })).toMatchObject({ embedded: undefined });
  });

  test("a call, in process or through an engine", () => {
    expect(parse("call read-file")).toEqual({
      ...source,
      name: "call",
      function: "coder::read-file",
      payload: "{}",
      url: undefined,
      isJson: false,
    });
    expect(parse("call tree --json")).toMatchObject({ isJson: true });
    expect(parse("call coder::tree - --url ws://x")).toMatchObject({
      function: "coder::tree",
      payload: "-",
      url: "ws://x",
    });
    expect(parse("call tree", { III_URL: "ws://y" })).toMatchObject({ url: "ws://y" });
    expect(parse("call tree", { III_ENGINE_URL: "ws://y" })).toMatchObject({ url: undefined });
  });

  test("a call on a folder that is named stays there, whatever address the environment has", () => {
    const environment = { III_URL: "ws://y" };
    for (const line of ["call f", "undo 3", "checkpoints"]) {
      expect(parse(`${line} --base-path x`, environment)).toMatchObject({ url: undefined, basePath: "x" });
      expect(parse(`${line} --config x`, environment)).toMatchObject({ url: undefined, configFile: "x" });
      expect(() => parse(`${line} --read-only`, environment)).toThrow("--read-only does not go with III_URL");
      expect(parse(`${line} --read-only --base-path x`, environment)).toMatchObject({
        url: undefined,
        readOnly: true,
      });
    }
  });

  test("a flag may be repeated with the same value", () => {
    expect(parse("--base-path x --base-path x")).toMatchObject({ basePath: "x" });
  });

  test("the worker: flag, what the program is called as, coder", () => {
    const call = (line: string, argv0: string) =>
      parseArguments(line.split(" "), {}, workerCalled(argv0)) as { function: string; worker: string };
    expect(call("call list", "/opt/bin/shell")).toMatchObject({ worker: "shell", function: "shell::list" });
    expect(call("call tree --worker coder", "shell")).toMatchObject({
      worker: "coder",
      function: "coder::tree",
    });
    expect(call("call list --worker shell", "bun")).toMatchObject({ worker: "shell" });
    expect(call("call tree", "")).toMatchObject({ worker: "coder" });
    expect(call("call fs::ls", "shell")).toMatchObject({ function: "shell::fs::ls" });
    expect(call("call fs::ls", "coder")).toMatchObject({ function: "fs::ls" });
  });

  test("MCP, on stdio or over HTTP", () => {
    expect(parse("mcp --base-path x --read-only")).toEqual({
      ...source,
      basePath: "x",
      readOnly: true,
      name: "mcp",
      http: undefined,
      isStructured: false,
      tools: "usual",
      hasReview: false,
    });
    expect(parse("mcp a")).toMatchObject({ basePath: "a" });
    expect(parse("mcp a --read-only b")).toMatchObject({ basePath: undefined, folders: ["a", "b"] });
    const http = (line: string, environment = {}) => parse(`mcp --http ${line}`, environment);
    const token = "0123456789abcdef";
    expect(http("8080")).toMatchObject({
      http: { host: "127.0.0.1", port: 8080, token: undefined, needsToken: true },
    });
    expect(http("localhost:0")).toMatchObject({ http: { host: "localhost", port: 0 } });
    expect(http("[::1]:1")).toMatchObject({ http: { host: "::1", port: 1 } });
    expect(http(`0.0.0.0:1 --token ${token}`)).toMatchObject({ http: { host: "0.0.0.0", token } });
    expect(http("1", { CODER_TOKEN: token })).toMatchObject({ http: { token, needsToken: true } });
    expect(http("1 --no-token", { CODER_TOKEN: token })).toMatchObject({
      http: { token: undefined, needsToken: false },
    });
  });

  test("completions of a shell", () => {
    const command = { name: "completions", worker: "coder", shell: "zsh" } as const;
    expect(parse("completions zsh")).toEqual(command);
    expect(parse("--completions zsh")).toEqual(command);
    expect(() => parse("completions")).toThrow("completions are for bash, zsh, fish");
    expect(() => parse("--completions tcsh")).toThrow('"tcsh" is none of these');
  });

  test.each(["help", "version", "manifest", "man", "licenses", "print-schema"])("--%s", (does) => {
    expect(parse(`--${does}`) as unknown).toEqual({ name: does, worker: "coder" });
  });

  test("CODER_READ_ONLY, as clients pass a switch of their settings, holds for mcp only", () => {
    const readOnly = (line: string, value: string) => parse(line, { CODER_READ_ONLY: value });
    expect(readOnly("mcp", "true")).toMatchObject({ readOnly: true });
    for (const value of ["false", ""]) expect(readOnly("mcp", value)).toMatchObject({ readOnly: false });
    expect(readOnly("", "true")).toMatchObject({ readOnly: false });
    expect(() => readOnly("mcp", "yes")).toThrow('CODER_READ_ONLY is "yes"; it must be true or false');
    expect(() => readOnly("mcp --commands", "true")).toThrow("CODER_READ_ONLY does not go with --commands");
  });

  test("setup of a client, with the flags of the server that it starts", () => {
    expect(parse("setup cursor --base-path x --read-only --log-level warn")).toEqual({
      name: "setup",
      worker: "coder",
      client: "cursor",
      basePath: "x",
      configFile: undefined,
      serverArguments: ["--read-only", "--log-level", "warn"],
      isPrint: false,
      isRemove: false,
      environment: {},
    });
    expect(parse("setup codex --commands --allow node,npm --print")).toMatchObject({
      serverArguments: ["--commands", "--allow", "node,npm"],
      isPrint: true,
    });
    expect(parse("setup codex --approval all")).toMatchObject({ serverArguments: ["--approval", "all"] });
    expect(() => parse("setup codex --approval some")).toThrow('--approval is "some"');
    expect(parse("setup codex --remove")).toMatchObject({ isRemove: true });
    expect(parse("setup codex a")).toMatchObject({ basePath: "a" });
    expect(parse("setup codex a b")).toMatchObject({ basePath: undefined, folders: ["a", "b"] });
  });

  test("--print-schema --api", () => {
    expect(parse("--print-schema --api 0.2.0")).toEqual({
      name: "print-schema",
      worker: "coder",
      api: "0.2.0",
    });
  });
});

describe.each(flagNames.map((name) => [name, flags[name]] as const))("--%s", (name, flag) => {
  const values: Readonly<Record<string, string>> = {
    engine: "embedded",
    http: "1",
    token: "0123456789abcdef",
    url: "ws://x",
  };
  const given = (flagName: string) =>
    flags[flagName as FlagName].value === undefined
      ? `--${flagName}`
      : `--${flagName} ${values[flagName] ?? "x"}`;
  const words = { serve: "", mcp: "mcp ", setup: "setup cursor ", review: "review ", call: "call f " };
  /** The other flag of a conflict may itself need another. */
  const needed: Readonly<Record<string, string>> = { token: " --http 1" };

  test("the help of each worker names it, its value, and the variables that stand in for it", () => {
    for (const worker of ["coder", "shell"] as const) {
      const help = renderHelp(worker);
      expect(help).toContain(`--${name}${flag.value === undefined ? " " : ` ${flag.value}`}`);
      for (const variable of flag.environment ?? []) expect(help).toContain(`$${variable.name}`);
    }
  });

  test("takes a value, or none", () => {
    const line = flag.value === undefined ? `--${name}=x` : `--${name}`;
    expect(() => parse(line)).toThrow(flag.value === undefined ? "takes no value" : "needs a value");
  });

  test.each([...(flag.conflicts ?? [])])("is refused: %o", (conflict) => {
    const others =
      conflict.with === undefined ? "" : `${needed[conflict.with] ?? ""} ${given(conflict.with)}`;
    for (const mode of conflict.in)
      expect(() => parse(`${words[mode]}${given(name)}${others}`)).toThrow(`--${name} ${conflict.why}; `);
  });
});

test("the help names no flag that there is not", () => {
  const named = renderHelp("coder").matchAll(/--([a-z][a-z-]*)/g);
  expect([...new Set(Array.from(named, ([, name]) => name))].sort()).toEqual([...flagNames].sort());
});

describe("misuse names the flag", () => {
  const cases: [string, string][] = [
    ["--conf x", "--conf is not a flag"],
    ["-x", "-x is not a flag"],
    ["--config", "--config needs a value"],
    ["--config --url ws://x", "--config needs a value"],
    ["--url=", "--url needs a value"],
    ["--url nonsense", '--url (or III_URL) is "nonsense"; it must look like ws://'],
    ["call tree --url http://x", '--url (or III_URL) is "http://x"'],
    ["--version=1", "--version takes no value"],
    ["--api 0.2.0", "--api only goes with --print-schema"],
    ["--worker x", '--worker is "x"; it must be one of coder, shell'],
    ["--engine other", '--engine is "other"'],
    ["--engine embedded:99999", '--engine is "embedded:99999"'],
    ["--log-level loud", '--log-level (or CODER_LOG) is "loud"'],
    ["serve", '"serve" is not a command'],
    ["call", "call needs the name of a function"],
    ["call a {} {}", 'call takes one payload; "{}" is one argument too many'],
    ["setup", "setup needs the name of a client"],
    ["setup cursor --url ws://x", "--url does not go with setup"],
    ["setup cursor a --base-path b", 'setup: name folders either as words, such as "a", or with --base-path'],
    ["setup cursor --print --remove", "--print does not go with --remove"],
    ["setup cursor --allow node", "--allow only goes with --commands"],
    ["setup cursor --http 1", "--http does not go with setup"],
    ["setup cursor --tools some", '--tools is "some"'],
    ["setup cursor --log-level loud", '--log-level (or CODER_LOG) is "loud"'],
    ["setup cursor --worker shell", '"setup" is not a command'],
    ["mcp --remove", "--remove only goes with setup"],
    ["mcp a --base-path b", 'mcp: name folders either as words, such as "a", or with --base-path, not both'],
    ["mcp a b --worker shell", 'the worker shell serves one folder; "b" is one argument too many'],
    ["mcp --url ws://x", "--url does not go with mcp"],
    ["mcp --engine embedded", "--engine does not go with mcp"],
    ["mcp --token 0123456789abcdef", "--token only goes with --http"],
    ["--structured", "--structured only goes with mcp"],
    ["mcp --tools some", '--tools is "some"; it must be all, or left out'],
    ["--tools all", "--tools only goes with mcp"],
    ["mcp --json", "--json only goes with call"],
    ["call tree --structured", "--structured only goes with mcp"],
    ["mcp --no-token", "--no-token only goes with --http"],
    ["--no-token", "--no-token only goes with mcp"],
    ["mcp --http 1 --no-token --token 0123456789abcdef", "--no-token does not go with --token"],
    ["mcp --http 0.0.0.0:1 --no-token", "needs a bearer token"],
    ["mcp --http 99999", '--http is "99999"'],
    ["mcp --http ::1:80", '--http is "::1:80"'],
    ["mcp --http localhost", '--http is "localhost"'],
    ["mcp --http 0.0.0.0:1", "needs a bearer token"],
    ["mcp --http 127.0.0.1.evil.example:1", "needs a bearer token"],
    ["mcp --http 1 --token short", "--token (or CODER_TOKEN) needs at least 16 characters"],
    ["--engine embedded --token short", "--token (or CODER_TOKEN) needs at least 16 characters"],
    [
      "mcp --http 1 --token абвгдежзийклмнопрст",
      "--token (or CODER_TOKEN) has a blank or a character that no header can carry",
    ],
    ["--token 0123456789abcdef", "--token only goes with --http, --engine embedded or review"],
    ["--http 1", "--http only goes with mcp"],
    ["--read-only=no", "--read-only takes no value"],
    ["call a --engine embedded", "--engine does not go with call"],
    ["call a --base-path x --url ws://y", "leave --url out to run the function in this process"],
    ["call a --config x --url ws://y", "--config does not go with --url"],
    ["call a --read-only --url ws://y", "--read-only does not go with --url"],
    ["undo --base-path x --url ws://y", "--base-path does not go with --url"],
    ["checkpoints --read-only --url ws://y", "--read-only does not go with --url"],
    ["--engine embedded --url ws://y", "--url does not go with --engine"],
    [
      "--base-path a --base-path b",
      "--base-path is given twice, with two values; leave one of them out, or name all folders as words, as in coder mcp a b",
    ],
    ["--config a --config b", "--config is given twice, with two values; leave one of them out"],
    ["undo a 3", 'undo takes several folders or none, and "a" is one; name it with --base-path'],
    ["undo a b 3 4", 'undo takes one payload; "4" is one argument too many'],
    ["undo 3 4", 'undo takes one payload; "4" is one argument too many'],
    ["undo a", "to name the folder that is served, use --base-path"],
    ["undo a {}", 'undo takes several folders or none, and "a" is one; name it with --base-path'],
    [
      "checkpoints a {}",
      'checkpoints takes several folders or none, and "a" is one; name it with --base-path, or put a path in it into the JSON, as {"path":"a"}',
    ],
    ['undo {"seq": 3}', 'undo takes one payload; "3}" is one argument too many (quote the JSON)'],
    ["checkpoints a b --base-path c", "checkpoints: name folders either as words"],
    ["checkpoints a b --url ws://y", "folders do not go with --url"],
    ["--print-schema --read-only", "does not go with --read-only"],
    ["--manifest call tree", 'does not go with "call"'],
  ];
  test.each(cases)("%s", (line, sentence) => {
    expect(() => parse(line)).toThrow(UsageError);
    expect(() => parse(line)).toThrow(sentence);
  });

  test("a token that no client can send is refused, from the environment too", () => {
    for (const token of ["sixteen-letters-x ", "with a blank inside", "абвгдежзийклмнопрст"])
      expect(() => parse("mcp --http 1", { CODER_TOKEN: token })).toThrow(
        "a character that no header can carry",
      );
    expect(parse("mcp --http 1", { CODER_TOKEN: "0123456789+/=.~_-!" })).toMatchObject({ name: "mcp" });
  });

  test("CODER_LOG is checked like the flag", () => {
    expect(() => parse("", { CODER_LOG: "loud" })).toThrow("CODER_LOG");
    expect(parse("", { CODER_LOG: "error" })).toMatchObject({ logLevel: "error" });
  });
});

test("undo and checkpoints take several folders", () => {
  const call = (line: string, environment = {}) => parse(line, environment);
  expect(call("undo a b")).toMatchObject({ folders: ["a", "b"], function: "coder::undo", payload: "{}" });
  expect(call("undo a 12 b")).toMatchObject({ folders: ["a", "b"], payload: '{"seq":12}' });
  expect(call("checkpoints a b c")).toMatchObject({ folders: ["a", "b", "c"], payload: "{}" });
  expect(call('checkpoints a b {"limit":1}')).toMatchObject({ folders: ["a", "b"], payload: '{"limit":1}' });
  expect(call("checkpoints 1 2")).toMatchObject({ folders: ["1", "2"] });
  expect(call("undo a b", { III_URL: "ws://y" })).toMatchObject({ url: undefined, basePath: undefined });
  expect(call("checkpoints a")).not.toHaveProperty("folders");
});

test("undo and checkpoints are short for calls of coder", () => {
  const call = (...argv: string[]) => {
    const command = parseArguments(argv, {});
    return command.name === "call" && [command.function, command.payload];
  };
  expect(call("undo")).toEqual(["coder::undo", "{}"]);
  expect(call("undo", "41")).toEqual(["coder::undo", '{"seq":41}']);
  expect(call("undo", '{"steps":2}', "--json")).toEqual(["coder::undo", '{"steps":2}']);
  expect(call("checkpoints")).toEqual(["coder::checkpoints", "{}"]);
  expect(call("checkpoints", "src/a")).toEqual(["coder::checkpoints", '{"path":"src/a"}']);
  expect(call("checkpoints", "-")).toEqual(["coder::checkpoints", "-"]);
  expect(call("undo", "#41")).toEqual(["coder::undo", '{"seq":41}']);
  expect(() => call("undo", "src/a")).toThrow(`send '{"paths":["src/a"]}'`);
  expect(() => call("undo", "1", "2")).toThrow(/one payload/);
  expect(() => parseArguments(["undo"], {}, "shell")).toThrow(/not a command of shell/);
});
