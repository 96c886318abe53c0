"""The badge: decides the few words and the colour that stand for a whole report, in the form that shields.io reads."""

import json
from collections.abc import Mapping
from typing import Any

from conformance.report.matrix import is_matrix, matrix
from conformance.report.stored import Stored, stored


def badge(data: Mapping[str, Any]) -> str:
    """The JSON text of a badge for a report or a matrix. NoReport if the data is neither."""
    message, color = _of_matrix(data) if is_matrix(data) else _of_report(stored(data))
    shown = {"schemaVersion": 1, "label": "loaderspec", "message": message, "color": color}
    return json.dumps(shown, indent=2) + "\n"


def _of_report(found: Stored) -> tuple[str, str]:
    if found.count("INVALID"):
        return "invalid", "lightgrey"
    words = {"VIOLATED": "violated", "NOT EXERCISED": "not exercised", "HOLDS": "hold", "KNOWN": "known"}
    # Green has no violated MUST and nothing that was not exercised; a red badge says what is wrong first.
    counted = [(found.count(status), text) for status, text in words.items()]
    message = ", ".join(f"{number} {text}" for number, text in counted if number) or "nothing judged"
    if not found.passed:
        return message, "red"
    return message, "yellow" if found.count("KNOWN") or found.count("VIOLATED (SHOULD)") else "brightgreen"


def _of_matrix(data: Mapping[str, Any]) -> tuple[str, str]:
    judged = matrix(data).judged
    green = sum(bool(peer.report and peer.report.passed) for peer in judged)
    return f"{green} of {len(judged)} loaders green", "blue"
