"""The table of the README: customers of a subscription, as messy as tables of real customers are.

`python -m benchmarks.messy_table FOLDER` writes `subscriptions.csv` and `subscriptions_test.csv`. Nothing is real:
it has an identifier, a date, amounts with a currency sign, words, gaps, free text, and answers that are yes or no.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from math import exp
from pathlib import Path
from random import Random

COLUMNS = ("customer", "signed_up", "plan", "region", "fee", "hours", "devices", "paperless", "note", "cancelled")
ROWS = {"subscriptions.csv": 900, "subscriptions_test.csv": 600}
_FIRST_DAY, _LAST_DAY = date(2021, 1, 1), date(2024, 6, 30)
_PLANS = {"Basic": 8.9, "Standard": 13.9, "Premium": 19.9}
_REGIONS = ("North", "East", "South", "West", "Coast", "Islands")
#: What the notes of customer service say, and how much each makes a customer want to leave.
_NOTES = {
    "": 0.0,
    "asked how to change the plan": 0.3,
    "asked for an invoice by post": -0.2,
    "app crashes on start, wants a refund": 1.6,
    "refund refused, was not happy": 2.0,
    "praised the new series": -1.2,
    "password reset, works again": -0.1,
    "moved house, keeps the account": -0.5,
}
_ABOUT = ("called about the bill", "wrote a mail", "called twice", "chat, solved", "will call again", "left a message")


def _customer(rng: Random, number: int) -> list[str]:
    signed_up = _FIRST_DAY + timedelta(days=rng.randrange((_LAST_DAY - _FIRST_DAY).days))
    plan = rng.choices(list(_PLANS), weights=(5, 3, 2))[0]
    region = rng.choice(_REGIONS)
    fee = _PLANS[plan] + rng.choice((0.0, 0.0, 2.0, -1.0))
    hours = rng.lognormvariate(2.2, 0.8)
    devices = rng.randint(1, 6)
    paperless = rng.random() < 0.6
    note = rng.choices(list(_NOTES), weights=(8, 2, 2, 2, 1, 2, 2, 1))[0]
    leaning = _NOTES[note] - 1.6
    leaning += 1.5 if signed_up.month in (11, 12) else 0.0  # signed up for an offer at the end of the year
    leaning += 1.2 if hours < 5 else -0.6 if hours > 20 else 0.0
    leaning += 1.4 if plan == "Premium" and devices < 3 else 0.0
    leaning += 0.5 if region in ("Islands", "Coast") and not paperless else 0.0
    cancelled = rng.random() < 1 / (1 + exp(-leaning))
    return [
        f"C{number:05d}",
        signed_up.isoformat(),
        plan,
        "" if rng.random() < 0.05 else region,
        f"${fee:.2f}",
        "" if rng.random() < 0.08 else f"{hours:.1f}",
        str(devices),
        "yes" if paperless else "no",
        f"{rng.choice(_ABOUT)}; {note}, ticket {rng.randint(1000, 9999)}" if note else "",
        "yes" if cancelled else "no",
    ]


def tables() -> Iterator[tuple[str, list[list[str]]]]:
    """The name and the rows of each table, with the names of the columns first."""
    rng = Random(7)
    number = 0
    for name, rows in ROWS.items():
        yield name, [list(COLUMNS), *(_customer(rng, number + row) for row in range(rows))]
        number += rows


if __name__ == "__main__":
    for name, rows in tables():
        with open(Path(sys.argv[1]) / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
