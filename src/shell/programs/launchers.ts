/**
 * Programs that an argument makes run other programs or write files: an allowlist with one of them lets
 * everything run, in another spelling.
 */

const launchers: ReadonlySet<string> = new Set([
  // Shells and interpreters, which run the code in their arguments.
  ..."sh ash bash busybox csh dash fish ksh tcsh toybox zsh".split(" "),
  ..."awk bun deno gawk lua mawk nawk node nodejs perl php python python3 R Rscript ruby tclsh".split(" "),
  // Programs that run the rest of their command line.
  ..."chroot chrt doas env flock ionice nice nohup nsenter parallel script setpriv setsid stdbuf strace sudo su".split(
    " ",
  ),
  ..."systemd-run taskset time timeout unshare watch xargs".split(" "),
  // Options that name a command: `git -c`, `find -exec`, `sed e`, `tar --to-command`, `sort
  // --compress-program`.
  ..."ctags ed emacs ex find gdb git hg less man more nano nvim rg rsync scp sed sftp sort split ssh svn tar vi view vim zip".split(
    " ",
  ),
  // Builds and package managers, by files or by options.
  ..."ant bazel bundle bundler cargo cmake composer docker gem gmake go gradle jar java javac just".split(
    " ",
  ),
  ..."make meson mvn ninja npm npx pip pip3 pnpm podman rake rustc rustup uv yarn".split(" "),
  // Programs that write a file which another program runs.
  ..."cp curl dd install ln mv patch tee truncate uniq unzip wget".split(" "),
]);

/** Returns the entries of a list, names or paths, that lead to such programs. */
export const launchersIn = (allowlist: readonly string[]): string[] =>
  allowlist.filter((name) => launchers.has(name.slice(name.lastIndexOf("/") + 1)));
