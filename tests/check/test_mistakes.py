"""The mistakes that newcomers made or will make: each has an answer of its own, at the right place."""

from __future__ import annotations

import pytest

from specs import codes, errors, only_error, underlined

LEARNER = 'block svm: learner for classification "sklearn.svm:SVC"'

MISTAKES = [
    # (what was written, code, what is underlined, what the help says)
    ("use clop\nchain m = standardize >> svc | rf", "MSL009", "|", "(standardize >> svc) | rf"),
    ("use sbm\nchain m = knn(distance = angle | euclidean)", "MSL089", "angle | euclidean", ": angle | euclidean"),
    (f"{LEARNER} {{ C: 1.0 }}", "MSL087", "1.0", "C = 1.0"),
    (f"{LEARNER} {{ C: 1e-3..1e2 }}", "MSL081", "1e-3..1e2", "real 1e-3..1e2"),
    ("use clop\nchain m = svc | rf\nrequire svc | rf", "MSL013", "|", "`or`"),
    ("use clop\nchain m = svc | rf\nrequire svc && rf", "MSL013", "&&", "`and`"),
    ("use clop\nchain m = svc | rf\nrequire not svc | rf", "MSL013", "|", "`or`"),
    ("use clop\nchain m = svc\nsearch random(evaluations = 5,000)", "MSL012", "5,000", "5_000"),
    ("use clop\nchain m = svc\nsearch random(5,000)", "MSL012", "5,000", "5_000"),
    ("use clop\nchain m = svc\nbudget(time = 15 minutes)", "MSL011", "15 minutes", "15min"),
    ("use clop\nchain m = svc\nbudget(time = 20 sec)", "MSL011", "20 sec", "20s"),
    ("use clop\nchain m = standardize(center = True) >> svc", "MSL090", "True", "`true`"),
    ("use clop\nchain m = None >> svc", "MSL021", "None", "`none`"),
    (f"{LEARNER} {{ kernel = 'rbf' }}", "MSL006", "'rbf'", "`rbf`"),
    ("use sbm\nchain m = knn(k: [1, 3, 5])", "MSL088", "[1, 3, 5]", "1 | 3 | 5"),
    ("use clop\npart search = svc\nchain m = svc", "MSL008", "search", "another name"),
    ("use clop\nchain m = svc\nminimize auc", "MSL153", "auc", "maximize auc"),
    ("use clop\nchain m = svc\nmaximize ber", "MSL153", "ber", "minimize ber"),
    ("use clop\ndata(task = classification)\nchain m = svc\nminimize rmse", "MSL151", "rmse", "`ber`"),
    ("use clop\nchain m = svc(gama = 1)", "MSL096", "gama", "`gamma`"),
    ("use clop\nchain m = svc(gamma = 1e9)", "MSL091", "1e9", "block my_svc = svc { gamma: real 1e-4..1e9 }"),
    ("use clop\nchain m = svc(gamma: 1e-9..1)", "MSL091", "1e-9", "block my_svc = svc { gamma: 1e-9..1 }"),
    ("use clop\nchain m = svcc", "MSL021", "svcc", "`svc`"),
    ("use clop\nchain m = knn", "MSL021", "knn", "add `use sbm`"),
    ("chain m = svc", "MSL021", "svc", "add `use clop`"),
    ("use clop\nchain m = clop.scv", "MSL021", "scv", "`svc`"),
    ("use clop\nchain m = svc\nsearch psoo", "MSL141", "psoo", "`pso`"),
    ("use clop\nchain m = svc\nsearch pso(swarms = 3)", "MSL096", "swarms", "`swarm`"),
    ("use clop\nchain m = svc\nsearch pso(swarm = 0)", "MSL091", "0", "1..10000"),
    ("use clop\nchain m = svc\nminimize ber by kfold(folds = 3)", "MSL142", "kfold", "`cv`"),
    ("use clop\nchain m = svc\nminimize zero_one_loss", "MSL150", "zero_one_loss", "minimize error"),
    ("use clop\nchain m = svc\nensemble voting(top = 3)", "MSL143", "voting", "`vote`"),
    ("use clop\nchain m = svc\nbudget(times = 3s)", "MSL096", "times", "`time`"),
    ("use clop\nchain m = svc\ndata(ignored = [a])", "MSL096", "ignored", "`ignore`"),
    ("import clop\nchain m = clop.svc", "MSL007", "import", "`use`"),
    ("use clop\nminimise ber\nchain m = svc", "MSL007", "minimise", "`minimize`"),
    ("use clop\nchain m = svc\nrequire svc.gamm < 1", "MSL096", "gamm", "`gamma`"),
    ("use clop\nchain m = svc\nrequire gamma < 1", "MSL124", "gamma", "`svc.gamma`"),
    ("use clop\nchain m = svc >> standardize", "MSL063", "standardize", "exactly one learner"),
    ("use clop\nchain m = standardize", "MSL061", "m", "exactly one learner"),
]


@pytest.mark.parametrize(("text", "code", "where", "help"), MISTAKES, ids=[m[0][-40:] for m in MISTAKES])
def test_each_mistake_gets_its_own_answer(text: str, code: str, where: str, help: str) -> None:
    error = only_error(text)
    assert error.code == code
    assert underlined(error) == where
    assert error.help is not None
    assert help in error.help


def test_several_errors_in_one_go() -> None:
    text = """use clop
part select = ftest | relif
part learn  = svc(gama = 1) | rf(units: 5..50)
chain m = selct >> learn
minimize auc
search psso
"""
    assert [(e.code, underlined(e)) for e in errors(text)] == [
        ("MSL021", "relif"),
        ("MSL096", "gama"),
        ("MSL091", "5"),
        ("MSL021", "selct"),
        ("MSL153", "auc"),
        ("MSL141", "psso"),
    ]


def test_a_broken_statement_is_not_complained_about_twice() -> None:
    text = "use clop\npart learn = svc(gamma: 1e-3..1\nchain m = standardize >> learn\nrequire learn is svc\n"
    assert codes(text) == ["MSL003"]


def test_a_misspelt_keyword_still_declares_its_name() -> None:
    assert codes("use clop\nprat learn = svc | rf\nchain m = learn") == ["MSL007"]


def test_a_missing_file_silences_the_names_it_may_declare() -> None:
    assert codes('use "gone.msl"\nchain m = scaler >> mystery') == ["MSL043"]


def test_the_declaration_is_shown_beside_the_mistake() -> None:
    error = only_error("use clop\nchain m = svc(gamma: 1e-9..1)")
    (declared,) = error.secondary
    assert declared.text == "declared here"
    assert declared.source.slice(declared.span).startswith("gamma: real 1e-4..100")
