#!/bin/sh
# Makes the logs in this folder: `sh record.sh`, with strace, coreutils, grep, bsdutils (script),
# moreutils (ts) and dos2unix. strace.log and ftrace.log are the clean forms; every other file is
# one of them after a tool that people use before they paste.
set -eu
cd "$(dirname "$0")"
export LC_ALL=C TZ=UTC

env -i strace -f -tt -e trace=execve,openat,read,close,vfork,clone,wait4,exit_group \
    -o strace.log /bin/sh -c '/usr/bin/head -c 20 /etc/passwd | /usr/bin/wc -c' >/dev/null
head -60 ../ftrace/default.ftrace > ftrace.log

for kind in strace ftrace; do
    log=$kind.log
    cat -n $log > $kind-cat-n.log
    grep -n '' $log > $kind-grep-n.log
    grep -Hn '' $log > $kind-grep-Hn.log
    grep -H '' $log > $kind-grep-H.log
    grep --color=always -E 'read|$' $log > $kind-grep-color.log
    pr -t -o 4 $log > $kind-pr-o.log
    sed 's/^/> /' $log > $kind-quoted.log
    diff -u /dev/null $log | tail -n +4 > $kind-diff.log || true
    ts '%Y-%m-%dT%H:%M:%.SZ' < $log > $kind-ts-iso.log
    ts '%b %d %H:%M:%S host app[123]:' < $log > $kind-ts-syslog.log
    sed 's/^/app_1  | /' $log > $kind-compose.log
    ts '%Y-%m-%dT%H:%M:%.SZ stdout F' < $log > $kind-cri.log
    sed 's/^/[stderr] /' $log > $kind-stderr.log
    unix2dos -q -n $log $kind-unix2dos.log
    unix2dos -q -m -n $log $kind-unix2dos-bom.log
    awk '{ printf "%-100s\t\n", $0 }' $log > $kind-padded.log
    { printf '# It hangs\n\nSee close(fd) below.\n\n```\n'; cat $log; printf '```\nAny idea?\n'; } > $kind-fenced.log
    script -qec "cat $log" /dev/null > $kind-script.log < /dev/null
done
fold -w 80 strace.log > strace-fold.log
fold -s -w 80 strace.log > strace-fold-s.log
