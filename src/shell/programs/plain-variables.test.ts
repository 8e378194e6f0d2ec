import { expect, test } from "bun:test";
import { codeVariables, runsCode } from "./code-variables.ts";
import { isPlainVariable, plainVariables } from "./plain-variables.ts";

/** Variables that run code or name programs, in addition to those in `code-variables.ts`. */
const others =
  "CC CXX LD AR CFLAGS COMPILER_PATH GCC_EXEC_PREFIX CARGO_BUILD_RUSTC_WRAPPER CARGO_HOME GOCACHEPROG GOTOOLDIR GOPATH JAVACMD JAVA_HOME MAKE SHELL PYTEST_ADDOPTS PYTEST_PLUGINS RIPGREP_CONFIG_PATH PATH HOME TMPDIR XDG_CONFIG_HOME npm_config_script_shell NPM_CONFIG_USERCONFIG PIP_CONFIG_FILE GIT_DIR GIT_CONFIG_COUNT DOCKER_HOST SSH_AUTH_SOCK TERMINFO TERMCAP LOCPATH NLSPATH LESS VIM";

test("no variable on the list runs code or names what is run", () => {
  const all = [...codeVariables.names, ...codeVariables.prefixes, ...others.split(" ")];
  expect(all.filter(isPlainVariable)).toEqual([]);
  const listed = plainVariables.split(", ").map((name) => name.replace("*", "X"));
  expect(listed.filter((name) => !isPlainVariable(name) || runsCode(name))).toEqual([]);
});

test("a prefix takes names of the usual form only", () => {
  expect(["LC_ALL", "LC_", "APP_KEY", "APP_key", "APP_()", "LC_A=B", "lc_all"].map(isPlainVariable)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
