# Runs the programs of the stack language with each collector, and compares what they print. The
# environment says where the commands are (OUT), the programs (PROGRAMS), and options with zeal
# (ZEAL). Called by the Makefile.
set -u
cd "$OUT" || exit 1
failed=0
generational=Collector=shenandoah,ShenandoahGCMode=generational

# run NAME COMMAND OPTIONS PROGRAM..: all programs in one process, with the heap reset between them.
run() {
  name=$1 command=$2 options=$3
  shift 3
  : >expected.txt
  for program; do cat "${program%.st}.out" >>expected.txt; done
  if ! "./$command" --options "$options" "$@" >"$name.txt"; then
    echo "$name: $command --options $options $*: failed"
    failed=1
  elif ! diff expected.txt "$name.txt"; then
    echo "$name: $command --options $options $*: another output"
    failed=1
  else
    echo "$name: well"
  fi
}

# What fills the heap needs a collector that collects.
collected=
for program in $PROGRAMS; do
  case $program in */memory.st) ;; *) collected="$collected $program" ;; esac
done

small=MaxHeapSize=16m
run parallel stack "Collector=parallel,$small" $PROGRAMS
run mark-compact stack "Collector=mark-compact,$small" $PROGRAMS
run shenandoah stack "Collector=shenandoah,$small" $PROGRAMS
run generational stack "$generational,$small,$ZEAL" $PROGRAMS
run epsilon stack Collector=epsilon,MaxHeapSize=2g $collected
run checked stack-checked "$generational,$small,ZealInterval=1000,+ZealMove" $PROGRAMS
exit $failed
