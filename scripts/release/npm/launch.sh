#!/bin/sh
":" /* To Node, in which Yarn runs this file whatever its first line says, the program for sh is a comment.

# Becomes the executable that npm has installed beside this package. All other cases are for launch.cjs, which starts as
# slowly as Node does, but finds packages wherever Node would, and explains why there is none.

# The names are unusual because the executable would get a variable that the environment has too.
_coder=$0
case $_coder in /*) ;; *) _coder=./$_coder ;; esac
while [ -L "$_coder" ]; do
  _coder_link=$(readlink "$_coder")
  case $_coder_link in
    /*) _coder=$_coder_link ;;
    *) _coder=${_coder%/*}/$_coder_link ;;
  esac
done
_coder=$(CDPATH= cd -P -- "${_coder%/*}/.." && pwd) || exit

case $(uname -sm) in
  Darwin*) _coder_machines="darwin-arm64 darwin-x64" ;; # Rosetta
  "Linux x86_64") _coder_machines="linux-x64 linux-x64-musl" ;;
  "Linux aarch64") _coder_machines="linux-arm64 linux-arm64-musl linux-arm" ;; # a 32-bit system on a 64-bit kernel
  "Linux armv"*) _coder_machines=linux-arm ;;
  *) _coder_machines= ;;
esac
_coder_found=
for _coder_machine in $_coder_machines; do
  [ -x "$_coder-$_coder_machine/bin/coder" ] || continue
  # Some package managers install the packages for both C libraries.
  if [ -n "$_coder_found" ]; then _coder_found= && break; fi
  _coder_found=$_coder-$_coder_machine/bin/coder
done

# With packages inside this one, those beside it are of another version.
if [ -n "$_coder_found" ] && [ ! -d "$_coder/node_modules" ]; then exec "$_coder_found" "$@"; fi
exec node "$_coder/bin/launch.cjs" "$@"
*/
require("./launch.cjs");
