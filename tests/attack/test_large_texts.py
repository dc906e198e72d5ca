"""Texts of megabytes that a slip or a stranger leaves open: answered within bounded memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

SIZE = 3_000_000
MOST_KILOBYTES = 300_000
_MEASURED = r"""
import re, sys
from pathlib import Path
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
text = eval(sys.argv[1])
found = check_source(Source("big.msl", text))
peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
print(peak[1], *{d.code for d in found.diagnostics if d.is_error})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (f"'data(target = \"' + 'a' * {SIZE}", {"MSL005"}),
        (f"'data(target = \"' + chr(92) * {SIZE}", {"MSL005"}),
        (f"'chain k = ' + '(' * {SIZE}", {"MSL017"}),
        (f"'chain k = (' + 'a ' * {SIZE // 2}", {"MSL017"}),
        (f"'use clop' + '#' + chr(10) + ('#' + chr(10)) * {SIZE // 2}", {"MSL017"}),
        (f"(chr(34) + chr(10)) * {SIZE // 2}", {"MSL017"}),
        ("'chain k = (' + 'a | ' * 199_000", {"MSL003"}),
    ],
    ids=["text", "backslashes", "brackets", "words", "comments", "quotes", "just within"],
)
def test_what_is_never_closed_takes_little_memory(text: str, codes: set[str]) -> None:
    command = [sys.executable, "-c", _MEASURED, text]
    kilobytes, *found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(kilobytes) < MOST_KILOBYTES
    assert set(found) == codes
