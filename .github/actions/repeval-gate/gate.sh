#!/usr/bin/env bash
# Ask the gate; the answer goes to the job's summary and to files, the exit code to an output.
set -uo pipefail

read -r -a data <<< "$DATA"
read -r -a options <<< "$OPTIONS"
json="$RUNNER_TEMP/repeval-gate.json" markdown="$RUNNER_TEMP/repeval-gate.md"

repeval gate "$BASELINE" "$CANDIDATE" "${data[@]}" --margin "$MARGIN" --question "$QUESTION" \
  --looks "$LOOKS" --unsure "$UNSURE" "${options[@]}" --json "$json" --markdown > "$markdown"
code=$?
# 2 and above: nothing was decided, and the reason is printed.
((code <= 1)) || exit "$code"

cat "$markdown"
cat "$markdown" >> "$GITHUB_STEP_SUMMARY"
verdict=$(python -c 'import json, sys; print(json.load(open(sys.argv[1]))["verdict"])' "$json")
printf '%s\n' "code=$code" "verdict=$verdict" "json=$json" >> "$GITHUB_OUTPUT"
