#!/bin/sh
# The newest section of the changelog that has changes.
set -eu
awk '
  /^## / { if (changes) exit; section = $0; next }
  section != "" && /^[-*] / { if (!changes++) print section }
  section != "" && changes  { print }
' work/repo/CHANGELOG.md > artifacts/release.md
test -s artifacts/release.md || { echo "CHANGELOG.md has no section with changes" >&2; exit 1; }
