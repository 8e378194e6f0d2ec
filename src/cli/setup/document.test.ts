import { describe, expect, test } from "bun:test";
import { stringify } from "@decimalturn/toml-patch";
import fc from "fast-check";
import { parse as parseJsonc, stripComments } from "jsonc-parser";
import type { Client } from "./clients.ts";
import { entryIn, withEntry } from "./document.ts";

const fields = { command: "/usr/local/bin/coder", args: ["mcp", "--base-path", "/home/me/a b"] };
const path = ["mcpServers", "coder"];

const add = (text: string, syntax: Client["syntax"] = "jsonc", at = path) =>
  withEntry(text, syntax, { path: at, fields });
const remove = (text: string, syntax: Client["syntax"] = "jsonc", at = path) =>
  withEntry(text, syntax, { path: at, fields: undefined });

describe("JSON with comments", () => {
  test("an entry goes below the last one, whose comment stays on its line", async () => {
    const text = `{
  // the servers of this machine
  "mcpServers": {
    "other": { "command": "x" } // this one is mine alone
    // the end of all servers
  },
  "theme": "dark", // and never the light one
}
`;
    expect(await add(text)).toBe(`{
  // the servers of this machine
  "mcpServers": {
    "other": { "command": "x" }, // this one is mine alone
    "coder": {
      "command": "/usr/local/bin/coder",
      "args": [
        "mcp",
        "--base-path",
        "/home/me/a b"
      ]
    }
    // the end of all servers
  },
  "theme": "dark", // and never the light one
}
`);
    expect(await remove(await add(text))).toBe(text);
  });

  const layouts = {
    tabs: '{\n\t"mcpServers": {\n\t\t"a": {}\n\t}\n}\n',
    "CRLF and a byte order mark": '\uFEFF{\r\n  "mcpServers": {\r\n    "a": {}\r\n  }\r\n}\r\n',
    "one line": '{ "mcpServers": { "a": {} }, "x": 1 }',
    "no spaces": '{"mcpServers":{"a":{}},"x":1}',
    "trailing commas": '{\n  "mcpServers": {\n    "a": {},\n  },\n}\n',
    "commas at the beginning of lines": '{\n  "mcpServers": {\n    "a": {}\n  , "b": {}\n  }\n, "c": 1\n}\n',
    "a comment instead of entries": '{\n  "mcpServers": { "a": 1 /* a */ } /* none */\n}\n',
  };
  test.each(Object.entries(layouts))("%s: removing takes back exactly what was added", async (_, text) => {
    const added = await add(text);
    expect(await entryIn(added, "jsonc", path)).toEqual(fields);
    expect(await add(added)).toBe(added);
    expect(await remove(added)).toBe(text);
  });

  test("fields that the user added stay, and only what differs changes", async () => {
    const text = '{"mcpServers":{"coder":{"command":"old", /* a */ "args":[], "env":{"A":"b"}}}}';
    const added = await add(text);
    expect(await entryIn(added, "jsonc", path)).toEqual({ ...fields, env: { A: "b" } });
    expect(added).toContain("/* a */");
  });

  test.each([
    ['{"mcpServers": [', "line 1"],
    ['{"mcpServers": []}', "mcpServers in it is not"],
    ['{"mcpServers": {}, "mcpServers": {}}', 'the key "mcpServers" twice'],
    ["[1]", "not an object"],
    ["{} {}", "line 1"],
  ])("%s is refused", async (text, reason) => {
    expect(add(text)).rejects.toThrow(reason);
  });

  test("a client that reads no comments gets a file with them back unchanged", async () => {
    expect(add('{ // a\n "mcpServers": {} }', "json")).rejects.toThrow("JSON");
  });
});

describe("TOML", () => {
  const at = ["mcp_servers", "coder"];
  const layouts = {
    empty: "",
    "a table of each server": '# c\nmodel = "x" # why\n\n[mcp_servers.a]\ncommand = "x" # c\n\n# end\n',
    "an inline table": 'mcp_servers = { a = { command = "x" } } # c\n',
    "dotted keys": '[mcp_servers]\na.command = "x"\n',
    CRLF: "a = 1\r\n[b]\r\nc = 2\r\n",
    "no line end at the end": "model = 'x'",
    "arrays of tables, dates and large numbers":
      "[[p]]\na = 1\n[[p]]\na = 1979-05-27T07:32:00Z\nl = 0x7f\nn = nan\n",
  };
  test.each(Object.entries(layouts))("%s: everything else stays", async (_, text) => {
    const added = await add(text, "toml", at);
    expect(await entryIn(added, "toml", at)).toEqual(fields);
    expect(await add(added, "toml", at)).toBe(added);
    expect(Bun.TOML.parse(await remove(added, "toml", at))).toEqual(Bun.TOML.parse(text));
    for (const line of text.trim().split(/\r?\n/))
      if (!line.startsWith("mcp_servers")) expect(added.split(/\r?\n/)).toContain(line);
  });

  test("a changed entry keeps its comments", async () => {
    const text = '[mcp_servers.coder]\ncommand = "old" # mine\nargs = []\nstartup_timeout_sec = 20\n';
    const added = await add(text, "toml", at);
    expect(added).toContain('command = "/usr/local/bin/coder" # mine\n');
    expect(await entryIn(added, "toml", at)).toEqual({ ...fields, startup_timeout_sec: 20 });
  });

  test.each([
    ["a = ", ""],
    ['mcp_servers = "x"', "mcp_servers in it is not a mapping"],
    ["[a]\n[a]\n", ""],
  ])("%j is refused", async (text, reason) => {
    expect(add(text, "toml", at)).rejects.toThrow(reason);
  });
});

/** The runs of a property. */
const numRuns = 60 * Number(process.env["CODER_RUNS"] ?? 1);

const key = fc
  .oneof(
    fc.constantFrom("mcpServers", "coder", "command", "args", "a", "", "a.b", "ä", '"', "//", "/*"),
    fc.string({ maxLength: 4 }),
  )
  .filter((name) => name !== "__proto__");
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, -1.5, "", "// no comment", "/* nor this */", "\u2028", "}"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4 }),
  ),
})).value;
const settings = fc.dictionary(key, value, { maxKeys: 5 });

/** Writes a value as JSON with other spaces, and comments and trailing commas if `isLoose`. */
const layout = fc.record({
  indent: fc.constantFrom("", " ", "  ", "\t", "      "),
  eol: fc.constantFrom("\n", "\r\n"),
  mark: fc.constantFrom("", "\uFEFF"),
  seed: fc.array(fc.nat(11), { minLength: 1, maxLength: 20 }),
  end: fc.constantFrom("", "\n", "\n\n"),
});
type Layout = Parameters<Parameters<typeof layout.map>[0]>[0];

function write(data: unknown, { indent, eol, mark, end, seed }: Layout, isLoose: boolean): string {
  let count = 0;
  const comments = ["", "", "", " // c", "/* c */", " /* c\n c */ ", "\n// own line\n", "\n", "", "", "", ""];
  const noise = () => {
    const text = (isLoose && comments[seed[count++ % seed.length] as number]) || "";
    return text.includes("//") && !text.endsWith("\n") ? `${text}\n` : text;
  };
  const comma = () => (isLoose && (seed[count++ % seed.length] as number) % 2 === 0 ? "," : "");
  const render = (data: unknown, depth: string): string => {
    if (typeof data !== "object" || data === null) return JSON.stringify(data);
    const [open, close] = Array.isArray(data) ? "[]" : "{}";
    const inner = indent === "" ? "" : `\n${depth}${indent}`;
    const items = Object.entries(data).map(([name, item]) => {
      const text = render(item, depth + indent);
      return Array.isArray(data) ? text : `${JSON.stringify(name)}:${noise()} ${text}`;
    });
    if (items.length === 0) return `${open}${noise()}${close}`;
    const body = items.map((item) => `${inner}${item}${noise()}`).join(",");
    return `${open}${noise()}${body}${comma()}${noise()}${indent === "" ? "" : `\n${depth}`}${close}`;
  };
  return mark + (render(data, "") + end).replaceAll("\n", eol);
}

const commentsIn = (text: string) => text.length - stripComments(text).length;
const loose = (text: string) => parseJsonc(text.replace("\uFEFF", ""), [], { allowTrailingComma: true });

/** Checks an edit of `text`, or that it is refused. */
async function checkEdit(text: string, isLoose: boolean): Promise<void> {
  const syntax = isLoose ? "jsonc" : "json";
  const parse = isLoose ? loose : (source: string) => JSON.parse(source.replace("\uFEFF", ""));
  const before = parse(text);
  let added: string;
  try {
    added = await add(text, syntax);
  } catch (error) {
    const servers = before.mcpServers;
    const isRefused = [servers, servers?.coder].some(
      (value) => value !== undefined && (typeof value !== "object" || value === null || Array.isArray(value)),
    );
    expect({ text, isRefused, error: String(error) }).toMatchObject({ isRefused: true });
    return;
  }
  const { mcpServers, ...rest } = parse(added);
  const { mcpServers: old = {}, ...restBefore } = before;
  const { coder, ...others } = mcpServers;
  const { coder: oldEntry, ...othersBefore } = old;
  expect(rest).toEqual(restBefore);
  expect(others).toEqual(othersBefore);
  expect(coder).toEqual({ ...oldEntry, ...fields });
  expect(Object.keys(parse(added)).slice(0, Object.keys(before).length)).toEqual(Object.keys(before));
  expect(await add(added, syntax)).toBe(added);
  if (oldEntry === undefined) {
    expect(commentsIn(added)).toBe(commentsIn(text));
    const removed = await remove(added, syntax);
    expect(commentsIn(removed)).toBe(commentsIn(text));
    const withoutSpaces = (source: string) => source.replaceAll(/\s/g, "");
    if (Object.keys(othersBefore).length > 0) expect(withoutSpaces(removed)).toBe(withoutSpaces(text));
    else expect({ ...parse(removed), mcpServers: {} }).toEqual({ ...restBefore, mcpServers: {} });
  }
}

describe("random configurations", () => {
  const withServers = fc
    .tuple(settings, fc.option(fc.dictionary(key, value, { maxKeys: 3 })))
    .map(([data, servers]) => (servers === null ? data : { ...data, mcpServers: servers }));

  test("strict JSON stays strict JSON with the entry and everything else", async () => {
    await fc.assert(
      fc.asyncProperty(withServers, layout, (data, how) => checkEdit(write(data, how, false), false)),
      { numRuns },
    );
  });

  test("JSON with comments keeps them, and gets no trailing comma that it did not have", async () => {
    await fc.assert(
      fc.asyncProperty(withServers, layout, (data, how) => checkEdit(write(data, how, true), true)),
      { numRuns },
    );
  });

  const tomlKey = fc.oneof(
    fc.constantFrom("mcp_servers", "coder", "a", "a.b", "ä"),
    fc.stringMatching(/^[\w-]{1,4}$/),
  );
  const tomlValue = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(true, 0, -1.5, "", "# no comment", 'a"b', "[x]", "'"),
      fc.array(fc.integer(), { maxLength: 3 }),
      fc.array(fc.dictionary(tomlKey, tie("value"), { maxKeys: 2 }), { maxLength: 2 }),
      fc.dictionary(tomlKey, tie("value"), { maxKeys: 4 }),
    ),
  })).value;
  const tomlText = fc
    .record({
      data: fc.dictionary(tomlKey, tomlValue, { maxKeys: 5 }),
      servers: fc.option(fc.dictionary(tomlKey, fc.record({ command: fc.string() }), { maxKeys: 3 })),
      inlineTableStart: fc.nat(4),
      isWindows: fc.boolean(),
      isCommented: fc.boolean(),
    })
    .map(({ data, servers, inlineTableStart, isWindows, isCommented }) => {
      const text = stringify(servers === null ? data : { ...data, mcp_servers: servers }, {
        inlineTableStart,
      });
      const commented = isCommented ? text.replaceAll(/^(?=[^"'\]]*$)/gm, "# c\n") : text;
      return isWindows ? commented.replaceAll("\n", "\r\n") : commented;
    });

  test("TOML keeps everything else, according to another parser", async () => {
    await fc.assert(
      fc.asyncProperty(tomlText, async (text) => {
        const at = ["mcp_servers", "coder"];
        const before = Bun.TOML.parse(text) as Record<string, Record<string, unknown>>;
        const servers = before["mcp_servers"];
        const isMapping = (value: unknown) =>
          typeof value === "object" && !Array.isArray(value) && value !== null;
        const canAdd =
          servers === undefined ||
          (isMapping(servers) && (servers["coder"] === undefined || isMapping(servers["coder"])));
        if (!canAdd) return expect(add(text, "toml", at)).rejects.toThrow("not a mapping");
        const added = await add(text, "toml", at);
        expect(Bun.TOML.parse(added)).toEqual({
          ...before,
          mcp_servers: { ...servers, coder: { ...(servers?.["coder"] as object), ...fields } },
        });
        expect(await add(added, "toml", at)).toBe(added);
        const removed = Bun.TOML.parse(await remove(added, "toml", at)) as Record<string, object>;
        const { coder: _, ...others } = servers ?? {};
        expect({ ...removed, mcp_servers: { ...removed["mcp_servers"] } }).toEqual({
          ...before,
          mcp_servers: others,
        });
      }),
      { numRuns },
    );
  });
});
