#!/usr/bin/env bash
# Judges the loader $IMPL, writes every report into $FOLDER, shows the Markdown in the summary of the job, and ends with
# the code of the run. $OPTIONS are words for pytest; $TIER is quick, gate or deep.
set -uo pipefail

mkdir -p "$FOLDER" || exit 2
read -r -a options <<<"${OPTIONS:-}"
python -m pytest --pyargs conformance "--impl=$IMPL" "--tier=${TIER:-gate}" \
    "--report-json=$FOLDER/report.json" "--report-html=$FOLDER/report.html" \
    "--report-markdown=$FOLDER/report.md" "--report-badge=$FOLDER/badge.json" \
    "--junitxml=$FOLDER/junit.xml" "${options[@]}"
code=$?

# An adapter that is wrong leaves no report; the log of the job has the sentence.
if [ -f "$FOLDER/report.md" ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$FOLDER/report.md" >>"$GITHUB_STEP_SUMMARY"
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    echo "report=$FOLDER/report.json" >>"$GITHUB_OUTPUT"
fi
exit "$code"
