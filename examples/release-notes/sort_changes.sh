#!/bin/sh
# One line a change: what kind it is, a tab, what it says. Kinds come from the first word.
set -eu
awk '
  function flush() { if (text != "") print kind "\t" text; text = "" }
  /^[-*] / {
    flush()
    text = substr($0, 3)
    word = tolower(text); sub(/[^a-z].*/, "", word)
    kind = "changed"
    if (word ~ /^(add|added|adds|new)$/) kind = "added"
    if (word ~ /^(fix|fixed|fixes)$/) kind = "fixed"
    if (word ~ /^(remove|removed|removes|drop|dropped)$/) kind = "removed"
    next
  }
  /^  / && text != "" { line = $0; sub(/^ +/, "", line); text = text " " line; next }
  { flush() }
  END { flush() }
' artifacts/release.md | sort > artifacts/changes.tsv
