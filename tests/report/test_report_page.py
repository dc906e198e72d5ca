"""Reports of runs: what the page says is what the store has, and nothing that a user wrote can do harm."""

from __future__ import annotations

import base64
import itertools
import math
import re
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from page_reader import Element, hints_of, read_page, rows_of, section
from report_runs import EVIL, STORIES, Given, Story, long_run, many_classes, record_of, regression, several_objectives
from report_runs import swarm as swarm_story

from msl.report.html.page import record_to_html

Page = Callable[..., Element]


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """The page of a story, read."""
    return lambda story: read_page(record_to_html(record_of(story, tmp_path / "store")))


# --- all pages ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STORIES)
def test_a_page_is_well_formed_and_stands_on_its_own(name: str, page: Page) -> None:
    root = page(STORIES[name]())
    everything = root.all()
    ids = [one.attributes["id"] for one in everything if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    for one in everything:
        assert not [attribute for attribute in one.attributes if attribute == "style" or attribute.startswith("on")]
        assert not one.attributes.get("src", "data:").replace("data:image/svg+xml;base64,", "").startswith("http")
        for named in one.attributes.get("aria-labelledby", "").split():
            assert named in ids
        if "href" in one.attributes:
            assert one.attributes["href"].removeprefix("#") in ids
    assert {one.name for one in everything if one.name in ("link", "iframe", "object", "embed", "form")} == set()


@pytest.mark.parametrize("name", STORIES)
def test_every_picture_is_told_in_words(name: str, page: Page) -> None:
    root = page(STORIES[name]())
    for picture in root.all("svg"):
        if picture.attributes.get("role") == "img":
            assert picture.all("title")[0].words
            assert picture.all("desc")[0].words
    for figure in root.all("figure"):
        assert len(figure.all("figcaption")[0].words) > 20
    assert all(image.attributes["alt"] for image in root.all("img"))


@pytest.mark.parametrize("name", STORIES)
def test_the_policy_allows_the_page_itself_and_nothing_else(name: str, tmp_path: Path) -> None:
    html = record_to_html(record_of(STORIES[name](), tmp_path))
    root = read_page(html)
    (policy,) = [m for m in root.all("meta") if m.attributes.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.split(" ", 1) for rule in policy.attributes["content"].split("; "))
    assert rules["default-src"] == "'none'"
    (style,) = root.all("style")
    scripts = [one for one in root.all("script") if one.attributes.get("type") != "application/json"]
    assert len(scripts) == 1
    for element, rule in ((style, "style-src"), (scripts[0], "script-src")):
        digest = base64.b64encode(sha256(element.text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert html.index("Content-Security-Policy") < html.index("<style")


@pytest.mark.parametrize("name", STORIES)
def test_links_lead_to_every_section(name: str, page: Page) -> None:
    root = page(STORIES[name]())
    links = [link.attributes["href"] for link in root.all("nav")[0].all("a")]
    assert links == [f"#{one.attributes['id']}" for one in root.all("section")]


def test_the_same_run_gives_the_same_page(tmp_path: Path) -> None:
    record = record_of(swarm_story(), tmp_path)
    assert record_to_html(record) == record_to_html(record)


# --- what users wrote ---------------------------------------------------------------------------------------------


def test_texts_of_users_are_shown_and_never_obeyed(tmp_path: Path) -> None:
    html = record_to_html(record_of(STORIES["evil"](), tmp_path))
    root = read_page(html)  # no comment, all nested as we wrote it
    assert "<script>window" not in html
    assert "\u202e" not in html
    assert not [image for image in root.all("img") if image.attributes.get("src") == "x"]
    assert len(root.all("script")) == 1 + len(root.all("script", "hints"))
    shown = EVIL.replace("\u202e", "\ufffd")
    for part in ("search", "comparison", "preferred", "failures", "spec", "reproduce"):
        assert " ".join(shown.split()) in section(root, part).words, part


# --- figures ------------------------------------------------------------------------------------------------------


def _cards(root: Element) -> dict[str, tuple[str, str]]:
    (cards,) = [one for one in root.all("dl") if "cards" in one.attributes["class"]]
    pieces = [[child for child in card.children if isinstance(child, Element)] for card in cards.all("div")]
    return {name.words: (value.words, below.words) for name, value, below in pieces}


def test_the_headline_has_the_figures_of_the_result(page: Page) -> None:
    story = swarm_story()
    root = page(story)
    assert story.result is not None
    cards = _cards(root)
    best = story.result["objectives"]["ber"]
    assert cards["ber by cv(folds = 3)"] == (f"{best:.4g}", "95 % interval 0.02 to 0.12")
    assert cards["test ber"] == ("0.09", f"+{0.09 - best:.4g} against the estimate")
    assert cards["ber of the ensemble"] == ("0.085", "vote of 2 models, not used")
    assert "the best model alone: not better than the best model alone" in section(root, "winner").words
    assert cards["evaluations"] == ("40", "2 from the store, 1 failed, 1 outside the space")
    assert cards["time"] == ("12.5 s", "all evaluations are used")
    assert cards["fits saved"] == ("25 %", "30 of 120 came from the cache")
    head = root.all("header")[0].words
    assert "tried.msl" in head
    assert "on wine.csv (100 rows, 13 features, 2 classes)" in head


def test_the_headline_is_of_the_ensemble_where_it_is_used(page: Page) -> None:
    story = swarm_story()
    assert story.result is not None
    used = {"model": "ensemble", "why": "better than the best model alone"}
    root = page(replace(story, result={**story.result, "used": used, "ensemble_interval": {"ber": [0.01, 0.11]}}))
    cards = _cards(root)
    assert cards["ber by cv(folds = 3) of the vote"] == ("0.085", "95 % interval 0.01 to 0.11")
    assert cards["test ber"] == ("0.08", "−0.005 against the estimate")
    assert cards["ber of the best model"][0] == f"{story.result['objectives']['ber']:.4g}"
    assert cards["test ber of the best model"][0] == "0.09"
    assert "Predictions are made by the vote of 2 models" in section(root, "winner").words
    assert "On the test rows ber is 0.08" in section(root, "comparison").words


def test_a_run_without_a_result_is_counted_from_its_trials(page: Page) -> None:
    story = swarm_story()
    root = page(Story(story.trials, story.events, None, "interrupted"))
    cards = _cards(root)
    best = min(one.losses[0] for one in story.trials if not one.bound)
    assert cards["ber by cv(folds = 3)"] == (f"{best:.4g}", "the best so far")
    assert cards["evaluations"][0] == str(len(story.trials))
    assert "was interrupted after 40 evaluations" in root.all("header")[0].words
    assert section(root, "winner").all("h2")[0].words == "The best model so far"
    steps = {row[0]: row[2:] for row in rows_of(section(root, "preferred").all("table")[0])}
    exact = [one for one in story.trials if math.isfinite(one.losses[0]) and not one.bound]
    quarter = sorted(exact, key=lambda one: one.losses[0])[: len(exact) // 4]
    shares = [100 * sum("svc" in (one.model or "") for one in some) / len(some) for some in (exact, quarter)]
    assert steps["svc"][:2] == [f"{share:.0f} %" for share in shares]


@pytest.mark.slow
@pytest.mark.parametrize("key", list(swarm_story().result or {}))
@pytest.mark.parametrize("how", ["absent", "none"])
def test_every_key_of_a_result_is_optional(key: str, how: str, page: Page) -> None:
    story = swarm_story()
    assert story.result is not None
    result = {name: value for name, value in story.result.items() if name != key} | (
        {key: None} if how == "none" else {}
    )
    root = page(replace(story, result=result))
    assert {"search", "timings", "spec", "reproduce"} <= {one.attributes["id"] for one in root.all("section")}


def test_an_objective_may_have_no_interval(page: Page) -> None:
    story = swarm_story()
    assert story.result is not None
    root = page(replace(story, result={**story.result, "interval": {"ber": None}}))
    assert _cards(root)["ber by cv(folds = 3)"][1] == "estimate"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("failed", "ended with an error after 40 evaluations"),
        ("interrupted", "interrupted after 40"),
        (None, "was still running"),
    ],
)
def test_a_run_that_is_not_finished_says_so(status: str | None, words: str, page: Page) -> None:
    story = swarm_story()
    root = page(Story(story.trials, story.events, None, status))  # type: ignore[arg-type]
    assert words in root.all("p", "notice")[0].words


def test_a_run_of_nothing_still_has_a_page(page: Page) -> None:
    root = page(STORIES["nothing"]())
    assert [one.attributes["id"] for one in root.all("section")] == ["spec", "reproduce"]


# --- the search ---------------------------------------------------------------------------------------------------


def test_the_trace_has_a_dot_for_each_trial_and_a_step_for_each_improvement(page: Page) -> None:
    story = swarm_story()
    figure = section(page(story), "search").all("figure")[0]
    paths = figure.all("svg", "curves")[0].all("path")
    dots = {path.attributes["class"].split()[1]: path.attributes["d"].count("h0") for path in paths}
    bound = sum(one.bound for one in story.trials)
    assert dots["bad"] == 1
    assert dots["k0"] in (bound, 1)
    assert sum(path.attributes["d"].count("h0") for path in paths) == len(story.trials)
    exact = [one.losses[0] if not one.bound else math.inf for one in story.trials]
    lowest = list(itertools.accumulate(exact, min))
    improved = sum(after < before for before, after in itertools.pairwise(lowest))
    (line,) = [path for path in paths if path.attributes["class"] == "line best"]
    assert line.attributes["d"].count("V") == improved
    assert f"with {improved} improvements" in figure.all("figcaption")[0].words
    words = [said for _, _, said in hints_of(figure)]
    assert len(words) == len(story.trials)
    assert words[0] == f"evaluation 1: ber {story.trials[0].losses[0]:.4g}\nstandardize >> svc >> bias"
    assert words[13] == "evaluation 14: failed (exception)\nnormalize >> rf"
    assert words[18] == "evaluation 19: outside the space"
    assert words[23].startswith("evaluation 24: ber at least ")


def test_dots_stand_where_their_values_are(page: Page) -> None:
    """The higher a loss, the higher its dot; the later, the farther to the right."""
    story = Story(
        [Given("rf", (loss,)) for loss in (0.4, 0.1, 0.3, 0.2)], (), {"best": "rf", "objectives": {"ber": 0.1}}
    )
    figure = section(page(story), "search").all("figure")[0]
    points = hints_of(figure)
    (dots,) = [
        path
        for path in figure.all("path")
        if path.attributes["class"].startswith("dot k1") and "M10 6" not in path.attributes["d"]
    ]
    drawn = [tuple(map(float, place)) for place in re.findall(r"M([\d.]+) ([\d.]+)h0", dots.attributes["d"])]
    assert drawn == [pytest.approx((1000 * x, 1000 * y), abs=0.1) for x, y, _ in points]
    assert [x for x, _, _ in points] == [0, pytest.approx(1 / 3, abs=1e-3), pytest.approx(2 / 3, abs=1e-3), 1]
    heights = {said.split("\n")[0]: 1 - y for _, y, said in points}
    low, high = heights["evaluation 2: ber 0.1"], heights["evaluation 1: ber 0.4"]
    assert 0 <= low < high <= 1
    assert heights["evaluation 3: ber 0.3"] == pytest.approx(low + 2 / 3 * (high - low), abs=1e-3)


def test_only_exact_values_on_all_rows_are_the_best_so_far(page: Page) -> None:
    trials = [
        Given("rf", (0.4,)),
        Given("rf", (0.1,), share=0.25),
        Given("rf", (0.05,), bound=True),
        Given("rf", (0.3,)),
    ]
    search = section(page(Story(trials)), "search")
    assert "went from 0.4 to 0.3, found at evaluation 4 of 4, with 1 improvement." in search.words


def test_each_particle_has_its_line(page: Page) -> None:
    story = swarm_story(particles=4, iterations=9)
    figure = section(page(story), "search").all("figure")[1]
    lines = [path for path in figure.all("svg", "curves")[0].all("path") if "line" in path.attributes["class"]]
    assert len({path.attributes["class"].split()[1] for path in lines}) == 4
    assert len(lines) == 6  # two have a gap, where a model failed or is not in the space
    assert "4 particles over 9 iterations; particle 1 found the best ber" in figure.all("figcaption")[0].words


def test_a_large_swarm_shows_who_led(page: Page) -> None:
    figure = section(page(swarm_story(particles=12)), "search").all("figure")[1]
    keys = [key.words for key in figure.all("ul", "legend")[0].all("li")]
    assert keys == ["particle 1, which found the best", "the others"]


def test_stages_and_maximised_metrics(page: Page) -> None:
    root = page(regression())
    search = section(root, "search")
    keys = [key.words for key in search.all("figure")[0].all("ul", "legend")[0].all("li")]
    assert keys == ["model proposed by random", "model proposed by pattern", "the best so far"]
    assert "higher is better" in search.words
    assert "went from 0 to 0.95" in search.words
    assert "4 sweeps tried 12 steps from 0.5 down to 0.0625 of each dimension's range; 2 sweeps" in search.words
    assert (
        "outside the interval of the estimate, 0.9 to 0.97. The estimate was too optimistic"
        in section(root, "comparison").words
    )


def test_levels_are_the_tables_of_the_paper(page: Page) -> None:
    search = section(page(STORIES["levels"]()), "search")
    (levels,) = [one for one in search.all("table") if one.attributes.get("aria-label", "").startswith("Levels")]
    assert rows_of(levels) == [
        ["0", "the start", "0.4", "", "", ""],
        ["1", "k", "0.3", "+0.1", "5", "k = 3"],
        ["1", "distance ★", "0.2", "+0.2", "5", "distance = manhattan"],
    ]


def test_generations_arms_and_rungs(page: Page) -> None:
    search = section(page(STORIES["generations"]()), "search")
    assert "went from 2.5 to 7.5 units in 5 generations; the last one chosen has 6" in search.words
    tables = {one.attributes["aria-label"]: rows_of(one) for one in search.all("table")}
    assert tables["Rungs"] == [["1", "25 %", "3", "0.2", "0.25", "1"], ["2", "100 %", "3", "0.2", "0.25", "1"]]
    arms = {row[0]: row[2:] for row in tables["Arms of the automatic search"]}
    assert arms == {
        "start": ["33 %", "4", "0", "0"],
        "random": ["33 %", "4", "1", "−0.1"],
        "pattern": ["33 %", "4", "1", "−0.3"],
    }
    keys = [key.words for key in search.all("figure")[0].all("ul", "legend")[0].all("li")]
    assert "on a part of the rows" in keys


def test_the_front_is_of_what_nothing_beats(page: Page) -> None:
    story = several_objectives()
    root = page(story)
    table = section(root, "front").all("table")[0]
    losses = {one.losses for one in story.trials}
    unbeaten = [one for one in losses if not any(a <= one[0] and b <= one[1] and (a, b) != one for a, b in losses)]
    assert sorted(row[:2] for row in rows_of(table)) == sorted([f"{a:.4g}", f"{b:g}"] for a, b in unbeaten)
    assert "from 1 to 4" in section(root, "search").words  # the hypervolume


# --- mistakes -----------------------------------------------------------------------------------------------------


def test_few_classes_are_a_table(page: Page) -> None:
    mistakes = section(page(swarm_story()), "mistakes")
    first = mistakes.all("table", "confusion")[0]
    assert rows_of(first) == [["a", "40", "2"], ["b", "5", "53"]]
    assert "93 of 100 rows are classified right, 93 %" in mistakes.words
    assert "The most frequent mistake: 5 of b predicted as a." in mistakes.words
    classes = [one for one in mistakes.all("table") if one.attributes["aria-label"] == "Classes"]
    assert rows_of(classes[0]) == [["a", "42", "95 %", "89 %"], ["b", "58", "91 %", "96 %"]]


def test_many_classes_are_a_map(page: Page) -> None:
    story = many_classes(50)
    assert story.result is not None
    cells = [number for row in story.result["judged"]["confusion"] for number in row]
    (figure,) = section(page(story), "mistakes").all("figure")
    squares = [one for one in figure.all("rect") if "paper" not in one.attributes["class"]]
    assert len(squares) == sum(number > 0 for number in cells)
    assert squares[0].all("title")[0].words == "species number 0 predicted as species number 0: 30"


def test_residuals(page: Page) -> None:
    mistakes = section(page(regression()), "mistakes")
    first, second = mistakes.all("figure")
    assert "On average 0.5 off, half of the rows by at most 0.5, the worst by 0.75" in first.words
    assert len(hints_of(first)) == 60
    assert "Predictions are 0.25 too high on average" in second.words
    assert sum(int(said.split(": ")[1].split()[0]) for _, _, said in hints_of(second)) == 60


# --- failures, time, origin ---------------------------------------------------------------------------------------


def test_failures_are_counted_by_cause(page: Page) -> None:
    root = page(STORIES["failed"]())
    failures = section(root, "failures")
    (row,) = rows_of(failures.all("table")[0])
    assert row[:3] == ["30", "memory", "rf"]
    assert "not enough memory" in row[3]
    assert "No model could be evaluated" in root.all("p", "notice")[0].words
    assert "None of 33 evaluations has a value." in section(root, "search").words


def test_times_and_what_was_saved(page: Page) -> None:
    trials = [Given(f"{'rf' if n % 2 else 'naive'} >> bias", (0.1,), seconds=0.1 * (1 + n % 2)) for n in range(10)]
    time = section(page(Story(trials)), "timings")
    assert "10 evaluations took 1.5 s of work in all" in time.words
    slowest, saved = (rows_of(table) for table in time.all("table"))
    assert [row[:1] + row[2:] for row in slowest] == [
        ["rf", "200 ms", "200 ms", "5"],
        ["bias", "150 ms", "200 ms", "10"],
        ["naive", "100 ms", "100 ms", "5"],
    ]
    assert saved[0][2:] == ["25 %", "10", "40"]


def test_the_spec_and_the_commands_can_be_copied(page: Page) -> None:
    story = Story(
        options={"data": "my data.csv", "test": "test.csv", "chain": "tried", "set": ["seed=7"]},
        sources={"other.msl": "use clop\n"},
    )
    root = page(story)
    spec = section(root, "spec")
    assert [code.text for code in spec.all("code", "msl")] == [story.spec.rstrip("\n"), "use clop"]
    commands = section(root, "reproduce").all("pre")[0].text.splitlines()
    assert commands[1].startswith("msl run tried.msl 'my data.csv' --test test.csv --chain tried --set seed=7 --store ")
    assert "2" * 64 in section(root, "reproduce").words


def test_the_winner_is_drawn_with_its_roles(page: Page) -> None:
    figure = section(page(swarm_story()), "winner").all("figure")[0]
    sources = [figure.all("source")[0].attributes["srcset"], figure.all("img")[0].attributes["src"]]
    for address in sources:
        svg = base64.b64decode(address.partition(",")[2]).decode()
        assert re.findall(r'class="title">(\w+)', svg) == ["tried", "standardize", "svc", "bias"]
        assert {"transformer", "learner"} <= set(re.findall(r'class="label">(\w+)', svg))
    assert "The data pass through 3 steps: standardize, svc, bias." in figure.words


# --- long runs ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_long_run_makes_a_small_page(tmp_path: Path) -> None:
    html = record_to_html(record_of(long_run(20_000), tmp_path))
    assert len(html.encode()) < 3_000_000
    caption = section(read_page(html), "search").all("figcaption")[0].words
    found = re.search(r"([\d,]+) of 20,000 dots are drawn", caption)
    assert found is not None
    assert 2_000 <= int(found[1].replace(",", "")) <= 4_000
