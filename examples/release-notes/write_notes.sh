#!/bin/sh
# The notes: a heading for each kind that there is, most important first.
set -eu
{
  sed -n '1s/^## */# Release notes: /p' artifacts/release.md
  for kind in removed added changed fixed; do
    awk -F '\t' -v kind="$kind" '
      $1 == kind { if (!n++) printf "\n## %s\n\n", toupper(substr(kind, 1, 1)) substr(kind, 2); print "- " $2 }
    ' artifacts/changes.tsv
  done
} > artifacts/release_notes.md
