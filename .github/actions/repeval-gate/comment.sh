#!/usr/bin/env bash
# Write the answer as a comment of the pull request, or update the one that stands there.
set -euo pipefail

key=$(printf '%s' "${KEY:-}" | tr -cd 'A-Za-z0-9 ._')
export MARKER="<!-- repeval-gate${key:+: $key} -->"
body="$RUNNER_TEMP/repeval-gate-comment.md"
{ printf '%s\n' "$MARKER"; tail -n +2 "$RUNNER_TEMP/repeval-gate.md"; } > "$body"

comments="repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments"
found=$(gh api --paginate "$comments" --jq '.[] | select(.body | startswith(env.MARKER)) | .id')
first=${found%%$'\n'*}
if [[ -n $first ]]; then
  gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$first" -F "body=@$body" --silent
else
  gh api --method POST "$comments" -F "body=@$body" --silent
fi
