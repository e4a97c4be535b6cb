#!/bin/sh
# native_progress.sh FILE COMMAND...: compile, then add a line to FILE, which tools/hatch_run.py reads.
progress=$1
shift
"$@" || exit
echo compiled >>"$progress"
