#!/bin/sh
# Every change is in the notes, once, and nothing is left to be done.
set -eu
changes=$(wc -l < artifacts/changes.tsv)
notes=$(grep -c '^- ' artifacts/release_notes.md)
test "$changes" -eq "$notes" || { echo "$changes changes, but $notes notes" >&2; exit 1; }
if grep -n -E 'TODO|TBD|FIXME' artifacts/release_notes.md >&2; then
  echo "the notes are not finished" >&2
  exit 1
fi
