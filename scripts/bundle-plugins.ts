import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BunPlugin } from "bun";
import { meter } from "../src/text/regex/metering.ts";

/**
 * Writes the version of iii-sdk into it at build time. At run time it would read its own package.json, which
 * is not in an executable.
 */
export const sdkVersion: BunPlugin = {
  name: "iii-sdk-version",
  setup(build) {
    build.onLoad({ filter: /[\\/]iii-sdk[\\/]dist[\\/]index\.mjs$/ }, ({ path }) => {
      const lookup = 'createRequire(import.meta.url)("../package.json")';
      const source = readFileSync(path, "utf8");
      if (!source.includes(lookup))
        throw new Error(`${path} no longer reads its version as ${lookup}; adapt this plugin.`);
      const { version } = JSON.parse(readFileSync(join(dirname(path), "../package.json"), "utf8"));
      return { contents: source.replace(lookup, JSON.stringify({ version })), loader: "js" };
    });
  },
};

/**
 * Lets the bundler leave out parts of the MCP SDK that this program does not use: most of the schemas that it
 * makes when it is imported, their registry (`specTypeSchemas` and `isSpecType`, which are empty then), and
 * its validator of JSON Schema. They take a fifth of the time of a start, and 3.6 MB of each process.
 */
export const unusedSchemas: BunPlugin = {
  name: "unused-schemas",
  setup(build) {
    build.onLoad(
      { filter: /@modelcontextprotocol[\\/]core[\\/]dist[\\/](schemas|auth)-[^\\/]+\.mjs$/ },
      ({ path }) => ({
        contents: changed(
          path,
          /^const (\w+Schema) = (.+?);(?=\n+[^\s}])/gms,
          "const $1 = /* @__PURE__ */ (() => $2)();",
        ),
        loader: "js",
      }),
    );
    build.onLoad(
      { filter: /@modelcontextprotocol[\\/]server[\\/]dist[\\/]src-[^\\/]+\.mjs$/ },
      ({ path }) => ({
        contents: withLateSchemas(path, changed(path, /^for \(const .+\) register\(key, .+\);$/gm, "")),
        loader: "js",
      }),
    );
    build.onLoad({ filter: /@modelcontextprotocol[\\/]server[\\/]dist[\\/]shimsNode\.mjs$/ }, ({ path }) => ({
      contents: changed(path, /^import \{ \w+ as (\w+) \} from "\.\/ajvProvider-.+";$/gm, "class $1 {}"),
      loader: "js",
    }));
  },
};

/** Returns the text of a file with a pattern replaced. Throws if it occurs nowhere. */
function changed(path: string, pattern: RegExp, replacement: string): string {
  const source = readFileSync(path, "utf8");
  const result = source.replace(pattern, replacement);
  if (result === source) throw new Error(`${path} no longer has ${pattern}; adapt this plugin.`);
  return result;
}

/**
 * Rewrites the function that makes the schemas of revision 2025-11-25, and the maps of its methods, so that
 * each schema is made when it is first used: a session uses a third of them. Throws if the function is
 * written differently.
 */
export function withLateSchemas(path: string, source: string): string {
  const [whole, constants, properties] = found(
    path,
    /^function build\$1\(\) \{\n(.+?)^\treturn \{\n(.+?)^\t\};\n\}$/ms,
    source,
  );
  const [maps] = found(path, /^\tmaps\$1 = \{\n.+?^\t\};$/ms, source);
  const names = new Set([...constants.matchAll(/^\tconst (\S+) = /gm)].map(([, name]) => name));
  // A property that repeats a constant has its maker already; the others are schemas of their own.
  const makers = `${constants.replace(/^\tconst (\w+)\S* = (.+?);(?=\n\t?[^\s})\]]|\n$)/gms, "$1: () => $2,")}
${properties.replace(/^\t\t(\w+): \1\S*,?\n/gm, "").replace(/^\t\t(\w+): (?=\S)/gm, "$1: () => ")}`;
  const build = `${late}
function build$1() {
	const schemas = late({
${makers.replace(/(?<![\w$]|[^.]\.)[\w$]+(?!:)/g, (word) => (names.has(word) ? `schemas.${word.replace("$1", "")}` : word))}
	});
	return schemas;
}`;
  const lateMaps = maps
    .replace(/^\t\t(\w+): \{$/gm, "$1: late({")
    .replace(/^\t\t\}/gm, "})")
    .replace(/^\t\t\t(\S+): s\./gm, "$1: () => s.");
  return source.replace(whole, () => build).replace(maps, () => lateMaps);
}

/** The source of a function whose result makes each of its properties when it is first read. */
const late = `function late(makers) {
	const made = {};
	for (const [name, make] of Object.entries(makers)) {
		const get = () => {
			const value = make();
			Object.defineProperty(made, name, { value });
			return value;
		};
		Object.defineProperty(made, name, { get, enumerable: true, configurable: true });
	}
	return made;
}`;

/** Returns the match of a pattern in a file, and its groups. Throws if it occurs nowhere. */
function found(path: string, pattern: RegExp, source: string): [string, string, string] {
  const match = pattern.exec(source);
  if (match === null) throw new Error(`${path} no longer has ${pattern}; adapt this plugin.`);
  return match as unknown as [string, string, string];
}

/**
 * Meters the regex engine at build time, which takes half of the time of its first use. The
 * constant `ENGINE_IS_METERED` has to be set. `isFile`: whether the engine is a file in the executable.
 */
export const meteredEngine = ({ isFile }: { readonly isFile: boolean }): BunPlugin => ({
  name: "metered-engine",
  setup(build) {
    build.onLoad({ filter: /[\\/]rregex\.wasm$/ }, ({ path }) => {
      const metered = meter(readFileSync(path));
      if (isFile) return { contents: metered, loader: "file" };
      const text = Buffer.from(metered).toString("base64");
      return { contents: `export default Buffer.from("${text}", "base64");`, loader: "js" };
    });
  },
});

/** Replaces an imported .wasm file by its bytes, for bundles that can have no file beside them. */
export const wasmBytes: BunPlugin = {
  name: "wasm-bytes",
  setup(build) {
    build.onLoad({ filter: /\.wasm$/ }, ({ path }) => ({
      contents: `export default Buffer.from("${readFileSync(path, "base64")}", "base64");`,
      loader: "js",
    }));
  },
};

/**
 * Returns a plugin with the programs of threads, by room, for a bundle that can have no file beside it to
 * start them from.
 */
export const threadTexts = (texts: Readonly<Record<string, string>>): BunPlugin => ({
  name: "thread-texts",
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]base[\\/]threads[\\/]sources\.ts$/ }, () => ({
      contents: `export const threadSources = ${JSON.stringify(texts)};`,
      loader: "js",
    }));
  },
});
