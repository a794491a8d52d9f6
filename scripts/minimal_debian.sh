#!/usr/bin/env bash
# The README's two commands in a Debian that has nothing: debootstrap into a folder, the repository's files, `make demo` and `make test`. As root.
#
#   scripts/minimal_debian.sh [FOLDER]     build/minimal-debian without it; KK_COMMANDS="demo" only that
#
# Packages come from where this machine's own come from. The last line is «N passed, N failed».
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-build/minimal-debian}
commands=${KK_COMMANDS:-demo test}
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
passed=0
failed=0

if [ ! -e "$folder/etc/debian_version" ]; then
    mkdir -p "$folder"
    debootstrap --variant=minbase --include=make,ca-certificates "$release" "$folder" "$mirror" >"$folder.log" 2>&1
fi
folder=$(realpath "$folder")
# how this machine reaches its packages
for path in /etc/apt/apt.conf.d /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/trusted.gpg.d /etc/apt/keyrings /etc/resolv.conf; do
    if [ -e "$path" ]; then
        mkdir -p "$folder$(dirname "$path")"
        rm -rf "${folder:?}$path"
        cp -rL "$path" "$folder$path"
    fi
done
rm -rf "$folder/karakuri"
mkdir "$folder/karakuri"
git ls-files -z | xargs -0 cp --parents -t "$folder/karakuri"
mount --bind /proc "$folder/proc"
trap 'umount "$folder/proc"' EXIT

for command in $commands; do
    if chroot "$folder" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 make -C /karakuri "$command" >"$folder.$command.log" 2>&1; then
        passed=$((passed + 1))
        echo "make $command: $(tail -n 1 "$folder.$command.log")"
    else
        failed=$((failed + 1))
        echo "FAILED make $command"
        tail -n 20 "$folder.$command.log"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
