/**
 * The files that other programs act on by themselves: when a person opens a folder, enters it, starts a
 * client, or runs any command of git or of a package manager there. A caller that writes one has that person
 * run a command.
 */

interface AutorunFiles {
  /** Globs, each of which covers its matches and everything below them. */
  readonly globs: readonly string[];
  /** The program that acts on them. */
  readonly program: string;
  /** The action of the program, as the end of a sentence. */
  readonly effect: string;
}

/** The table, in the order in which it is shown and matched. */
export const autorunFiles: readonly AutorunFiles[] = [
  {
    globs: ["**/.git", "**/HEAD"],
    program: "git",
    effect:
      "runs the hooks of each repository and the programs that its configuration names; a folder with a file `HEAD` can be one",
  },
  {
    globs: ["**/.gitconfig", "**/.config/git"],
    program: "git",
    effect: "runs the programs that the user's configuration names",
  },
  {
    globs: [
      "**/{.husky,.githooks,.git-hooks,.lefthook,.lefthook-local}",
      "**/{lefthook,lefthook-local,.lefthook,.lefthook-local}.{yml,yaml,toml,json,jsonc}",
      "**/.pre-commit-config.{yaml,yml}",
      "**/{.lintstagedrc,.overcommit.yml}",
      "**/{simple-git-hooks,.simple-git-hooks,.lintstagedrc}.{json,yml,yaml,js,cjs,mjs,ts,mts}",
      "**/lint-staged.config.{js,cjs,mjs,ts}",
    ],
    program: "managers of git hooks",
    effect: "run these, or the commands in them, when git commits, checks out or pushes",
  },
  {
    globs: ["**/.vscode/{settings,tasks,launch,mcp}.json", "**/*.code-workspace"],
    program: "Visual Studio Code and its kin",
    effect: "run tasks, debuggers, interpreters and servers that they name",
  },
  { globs: ["**/.cursor"], program: "Cursor", effect: "starts its servers of MCP and runs its hooks" },
  {
    globs: ["**/{.windsurf,.codeium}"],
    program: "Windsurf",
    effect: "starts their servers of MCP and runs their hooks",
  },
  {
    globs: ["**/.zed", "**/.config/zed"],
    program: "Zed",
    effect: "runs tasks, and starts language servers and servers of MCP",
  },
  {
    globs: ["**/{.idea,.run,.fleet,.junie}", "**/*.{ipr,iws}"],
    program: "JetBrains",
    effect: "run configurations, file watchers and servers of MCP",
  },
  { globs: ["**/.vs"], program: "Visual Studio", effect: "runs tasks and starts servers of MCP" },
  {
    globs: ["**/.externalToolBuilders", "**/*.sublime-{project,workspace}", "**/{.helix,.nova,.theia}"],
    program: "other editors",
    effect: "run builders, tasks and language servers that they name",
  },
  {
    globs: [
      "**/{.vimrc,_vimrc,.gvimrc,.exrc,.nvimrc,.nvim.lua,.lvimrc,.vim,.dir-locals.el,.dir-locals-2.el,.emacs,.emacs.d}",
      "**/.config/{nvim,emacs,helix}",
    ],
    program: "vim, Neovim, Emacs and Helix",
    effect: "run them as code when they start, or open a file beside them",
  },
  {
    globs: ["**/{.devcontainer,.devcontainer.json,.gitpod,.gitpod.yml,.gitpod.Dockerfile}"],
    program: "dev containers, Codespaces and Gitpod",
    effect: "run their commands, on the host too, when the folder is opened",
  },
  {
    globs: ["**/{.mcp.json,mcp.json,claude_desktop_config.json}"],
    program: "clients of MCP",
    effect: "start the servers that they name",
  },
  {
    globs: [
      "**/.claude/{settings*.json,hooks,agents,commands,skills,plugins}",
      "**/{.claude.json,.claude-plugin}",
    ],
    program: "Claude Code",
    effect: "runs hooks, starts servers of MCP, and runs commands of skills and commands",
  },
  {
    globs: [
      "**/{.gemini,.codex,.copilot,.qwen,.opencode}",
      "**/{opencode,.opencode,crush,.crush}.{json,jsonc}",
    ],
    program: "Gemini CLI, Codex, Copilot CLI, Qwen Code, opencode and Crush",
    effect: "run hooks, plugins and commands, and start servers of MCP",
  },
  {
    globs: [
      "**/{.amazonq,.amp,.augment,.clinerules,.continue,.factory,.goose,.kilocode,.kiro,.roo,.trae,.warp}",
      "**/.github/hooks",
      "**/.aider.conf.{yml,yaml}",
    ],
    program: "other agents",
    effect: "run hooks and commands, and start servers of MCP",
  },
  {
    globs: [
      "**/{.envrc,.direnv,.autoenv,.autoenv.zsh,.mise,mise.toml,.mise.toml,mise.local.toml,.mise.local.toml}",
      "**/.config/mise",
    ],
    program: "direnv, autoenv and mise",
    effect: "run them when a shell enters the folder",
  },
  {
    globs: [
      "**/{.bashrc,.bash_profile,.bash_login,.bash_logout,.bash_aliases,.profile,.zshrc,.zshenv,.zprofile,.zlogin,.zlogout,.kshrc,.cshrc,.tcshrc,.login,.inputrc}",
      "**/{.xprofile,.xinitrc,.xsession,.xsessionrc,.pam_environment,.tmux.conf,.screenrc,.ssh}",
      "**/.config/{fish,autostart,systemd,environment.d,tmux}",
      "**/Library/{LaunchAgents,LaunchDaemons}",
    ],
    program: "shells, sessions and ssh",
    effect: "run them, or what they name, when a person logs in or opens a terminal",
  },
  {
    globs: [
      "**/{.gdbinit,.lldbinit,.pdbrc,.pdbrc.py,.Rprofile,.irbrc,.pryrc,.ghci,.iex.exs,.ocamlinit,.psqlrc,.sqliterc}",
      "**/{sitecustomize,usercustomize}.py",
    ],
    program: "debuggers and interpreters",
    effect: "run them as code when they start in the folder",
  },
  {
    globs: [
      "**/{.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,.pnpmfile.mjs,.pnp.cjs,.pnp.loader.mjs}",
      "**/.yarn/{releases,plugins}",
    ],
    program: "npm, pnpm and Yarn",
    effect: "run the shell, the hooks and the copy of themselves that they name",
  },
  {
    globs: ["**/{bunfig.toml,.bunfig.toml}"],
    program: "Bun",
    effect: "runs the files that it preloads",
  },
  {
    globs: ["**/.cargo", "**/{rust-toolchain,rust-toolchain.toml}"],
    program: "cargo and rustup",
    effect:
      "run the compiler, its wrapper, the linker, the aliases and the credential provider that they name",
  },
  {
    globs: [
      "**/.mvn",
      "**/gradle/wrapper",
      "**/{.jvmopts,.sbtopts,.bazelrc,.bazeliskrc,.buckconfig,.gemrc}",
      "**/.bundle/config",
      "**/.config/go",
    ],
    program: "Maven, Gradle, sbt, Bazel, Buck, Bundler and Go",
    effect: "run the copy of themselves, the agent or the tool that they name",
  },
  {
    globs: ["**/{.wgetrc,.curlrc}"],
    program: "wget and curl",
    effect: "run the program, or write the file, that they name",
  },
];

/** The globs of all rows. */
export const autorunGlobs: readonly string[] = autorunFiles.flatMap(({ globs }) => globs);

/** Returns the program that acts on a file with this glob, which is one of `autorunGlobs`. */
export const autorunProgramOf = (glob: string): string | undefined =>
  autorunFiles.find(({ globs }) => globs.includes(glob))?.program;
