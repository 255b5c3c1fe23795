# Runs a program with load barriers and with bare reads, five times each and by turns, under
# Collector=parallel, and prints what the barriers cost. Called by the Makefile: OUT has the two
# commands, PROGRAM is the program, ROUNDS its argument.
set -eu
# once COMMAND: the milliseconds of a run.
once() {
  from=$(date +%s%N)
  "$OUT/$1" --options Collector=parallel --argument "$ROUNDS" "$PROGRAM" >/dev/null
  echo $((($(date +%s%N) - from) / 1000000))
}
median() { tr ' ' '\n' | grep . | sort -n | sed -n 3p; }

with= bare=
for turn in 1 2 3 4 5; do
  one=$(once stack)
  other=$(once stack-bare)
  echo "turn $turn: with barriers $one ms, with bare reads $other ms"
  with="$with $one" bare="$bare $other"
done
one=$(echo "$with" | median)
other=$(echo "$bare" | median)
awk -v one="$one" -v other="$other" 'BEGIN {
  printf "medians: %d ms and %d ms; ", one, other
  printf "load barriers cost %.1f %%\n", (one / other - 1) * 100
}'
