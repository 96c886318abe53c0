"""The bounds of what a line of the bridge may hold: its length, and its numbers."""

import pytest

from conformance.bridge.implementation import introduced
from conformance.contract import AdapterError
from conformance.vectors.exchanges import STREAM, one_of_a_stream, played
from tests.harness.bridge.test_lines import command

MIB = 2**20


def introducing(length: int) -> list[str]:
    """A command that introduces itself by a line of this many bytes, without the line feed."""
    head = '{"version":1'
    line = f"print('{head}' + ' ' * {length - len(head) - 1} + '}}', flush=True)"
    return command(f"import sys; sys.stdin.readline(); {line}; sys.stdin.read()")


def test_a_line_of_a_mebibyte_is_understood() -> None:
    """The line feed is not counted."""
    assert introduced(introducing(MIB), 30.0).has == ()


def test_a_byte_more_is_not_understood() -> None:
    """The error says how long a line may be."""
    with pytest.raises(AdapterError, match=f"is longer than {MIB} bytes"):
        introduced(introducing(MIB + 1), 30.0)


def test_a_count_beyond_all_numbers_is_what_is_left() -> None:
    """A stream gives the elements that it has, however many are asked for."""
    said = ("{}", "{}", STREAM, f'{{"pull":1,"count":{2**63}}}', '{"step":[2,3,4]}')
    lines, told = played(one_of_a_stream, said)
    assert ("", '> {"samples":[2,3,4],"end":true}') == (told, lines[-2])
