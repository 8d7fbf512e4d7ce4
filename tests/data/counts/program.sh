# Calls that strace counts in ways of their own: failed ones, interrupted ones, ones that never end.
cat missing 2>/dev/null
head -c 5 program.sh | cat >/dev/null
timeout --signal=KILL 0.2 sleep 5
trap 'sleep 0.1 && exit 3' USR1
(sleep 0.3 && kill -USR1 $$) &
wait
