"""The options that ask for a report, in words: light, because pytest reads them wherever the suite is installed."""

# Each form is the option --report-NAME; all but the JSON are made from the JSON.
WORDS = {
    "json": "write the report as JSON: the receipt that `loaderspec verify` runs again",
    "html": "write the report as a page for a browser",
    "markdown": "write the report as Markdown, for $GITHUB_STEP_SUMMARY",
    "badge": "write the JSON of a badge, as shields.io reads it",
}
OPTIONS = {f"report-{form}": words for form, words in WORDS.items()}
