/**
 * Environment variables that make programs load or run code which the command line does not name. Children
 * never get one of them. HOME, PATH and XDG_* are not among them: little works without those, and the
 * operator allows them by name.
 */

interface CodeVariables {
  /** The manual that documents the variables. */
  readonly source: string;
  readonly names?: string;
  /** Prefixes of families of names. */
  readonly prefixes?: string;
}

/** The programs that read them. */
const table: readonly CodeVariables[] = [
  { source: "ld.so(8), dyld(1)", prefixes: "LD_ DYLD_" },
  { source: "iconv_open(3), getconf(1)", names: "GCONV_PATH GETCONF_DIR" },
  { source: "openssl-env(7)", names: "OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES" },
  {
    source: "bash(1): BASH_ENV, SHELLOPTS with PS4, functions by BASH_FUNC_, plugins of enable -f",
    names: "BASH_ENV SHELLOPTS BASHOPTS PS0 PS1 PS2 PS4 PROMPT_COMMAND BASH_LOADABLES_PATH IFS",
    prefixes: "BASH_FUNC_",
  },
  { source: "sh(1p), dash(1), ksh(1): ENV, FPATH; zsh(1): ZDOTDIR", names: "ENV FPATH ZDOTDIR" },
  { source: "perlrun(1)", names: "PERL5OPT PERL5LIB PERLLIB PERL5DB PERL5SHELL" },
  {
    source: "python(1), webbrowser (BROWSER)",
    names:
      "PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONUSERBASE PYTHONBREAKPOINT PYTHONPYCACHEPREFIX PYTHONWARNINGS PYTHONPLATLIBDIR BROWSER",
  },
  { source: "ruby(1), gem(1)", names: "RUBYOPT RUBYLIB RUBYSHELL GEM_HOME GEM_PATH BUNDLE_GEMFILE" },
  { source: "lua(1)", prefixes: "LUA_" },
  {
    source: "java(1), JVM Tool Interface",
    names: "JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH MAVEN_OPTS GRADLE_OPTS",
  },
  {
    source: "node(1); manual of Bun: the compiled worker itself would obey its variables",
    names: "NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE BUN_OPTIONS BUN_BE_BUN BUN_INSPECT_PRELOAD",
  },
  { source: "php(1)", names: "PHPRC PHP_INI_SCAN_DIR" },
  { source: "erl(1)", names: "ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS" },
  { source: "tclsh(1)", names: "TCLLIBPATH" },
  { source: "gawk(1)", names: "AWKPATH AWKLIBPATH" },
  { source: "go(1): -toolexec", names: "GOFLAGS" },
  { source: "cargo(1)", names: "RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER" },
  { source: ".NET: startup hooks, profilers", names: "DOTNET_STARTUP_HOOKS", prefixes: "CORECLR_ COR_" },
  {
    source: "git(1), git-config(1): programs it runs, and configuration that names some",
    names:
      "GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR GIT_COMMON_DIR",
    prefixes: "GIT_CONFIG",
  },
  { source: "ssh(1), rsync(1)", names: "SSH_ASKPASS RSYNC_RSH RSYNC_CONNECT_PROG" },
  {
    source: "less(1), man(1), environ(7)",
    names: "LESSOPEN LESSCLOSE PAGER MANPAGER SYSTEMD_PAGER EDITOR VISUAL",
  },
  { source: "vi(1), vim(1), emacs(1)", names: "EXINIT VIMINIT GVIMINIT EMACSLOADPATH" },
  {
    source: "tar(1): --to-command; make(1): --eval",
    names: "TAR_OPTIONS MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES",
  },
];

const words = (texts: readonly (string | undefined)[]) => texts.flatMap((text) => text?.split(" ") ?? []);

/** The names, and prefixes of names, that make some program run code. */
export const codeVariables = {
  names: words(table.map(({ names }) => names)),
  prefixes: words(table.map(({ prefixes }) => prefixes)),
};

const names = new Set(codeVariables.names);

/** Returns whether a variable of this name can make a program load or run code. */
export const runsCode = (name: string): boolean =>
  names.has(name) || codeVariables.prefixes.some((prefix) => name.startsWith(prefix));
