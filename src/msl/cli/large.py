"""Large: JSON with whole numbers of any length — a space may have 10^30000 models, and Python writes 4,300 digits."""

from __future__ import annotations

import json
import sys
from typing import Any


def large_json(record: dict[str, Any]) -> str:
    """A record as indented JSON, its numbers written out however long they are."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    finally:
        sys.set_int_max_str_digits(limit)
