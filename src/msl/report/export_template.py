"""Export template: the text around a model in an exported file — reading rows, fitting, predicting, its own test."""

from __future__ import annotations

PLAIN_CLASSES = '''
def fit(X, y):
    """The model, fitted on rows and the places of their classes."""
    return make_model().fit(X, y)


def predict(model, X):
    """The class of each row."""
    return np.array(CLASSES)[{winners}]
'''
PLAIN_NUMBERS = '''
def fit(X, y):
    """The model, fitted on rows and their numbers."""
    return make_model().fit(X, y)


def predict(model, X):
    """The number of each row."""
    return model.predict(X).reshape(len(X))
'''
CHAIN_CLASSES = '''
def fit(X, y):
    """The model, fitted on rows and the places of their classes."""
    model = make_model()
    model.fit_arrays(X, y, len(CLASSES))
    return model


def predict(model, X):
    """The class of each row."""
    return np.array(CLASSES)[model.outputs(X).argmax(axis=1)]
'''
CHAIN_NUMBERS = '''
def fit(X, y):
    """The model, fitted on rows and their numbers."""
    model = make_model()
    model.fit_arrays(X, y, 0)
    return model


def predict(model, X):
    """The number of each row."""
    return model.outputs(X)
'''
#: How the winner is found among the scores of a learner, which are asked for in this order.
WINNERS = {
    "predict_proba": "model.predict_proba(X).argmax(axis=1)",
    "decision_function": "model.decision_function(X).argmax(axis=1)",
    "decision_function of two": "(model.decision_function(X) > 0).astype(int)",
    "predict": "model.predict(X)",
}

READ = '''
def read_rows(path):
    """The rows of a CSV file, each a dictionary from the names of the columns to texts."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        header = file.readline()
        file.seek(0)
        separator = SEPARATOR or max(",;\\t|", key=header.count)
        rows = csv.DictReader(file, delimiter=separator, skipinitialspace=True)
        rows.fieldnames = [name.strip() for name in rows.fieldnames]
        return list(rows)


def features(rows):
    """The features of rows as an array: a symbol is its place among SYMBOLS, what is missing or unknown is NaN."""
    lacking = [name for name in COLUMNS if rows and name not in rows[0]]
    if lacking:
        raise ValueError(f"the table lacks the columns {', '.join(lacking)}")
    columns = [[_value(row[name], SYMBOLS.get(name)) for row in rows] for name in COLUMNS]
    return np.ascontiguousarray(np.array(columns, dtype=float).T)


def _value(cell, symbols):
    text = "" if cell is None else str(cell).strip()
    if text == "" or text in MISSING or _number(text) in [_number(marker) or marker for marker in MISSING]:
        return np.nan
    if symbols is not None:
        place = _place(text, symbols)
        return np.nan if place is None else place
    if text.lower() in NO_NUMBER:
        return np.nan
    return float(text.replace(",", "."))


def _place(text, symbols):
    """The place of a symbol, however a number or a truth value among symbols is spelt."""
    for spelt in (text, {"true": "true", "false": "false"}.get(text.lower()), _number(text)):
        if spelt in symbols:
            return symbols.index(spelt)
    return None


def _number(text):
    try:
        number = float(text)
    except ValueError:
        return None
    return str(int(number)) if number.is_integer() else repr(number)
'''
TARGET_CLASSES = '''

def target(rows):
    """The place of each row's class among CLASSES."""
    labels = [str(label) for label in CLASSES]
    places = [_place(str(row[TARGET]).strip(), labels) for row in rows]
    if None in places:
        raise ValueError(f"row {places.index(None) + 1} has a class that the model does not know")
    return np.array(places, dtype=np.intp)
'''
TARGET_NUMBERS = '''

def target(rows):
    """The number of each row."""
    return np.array([float(str(row[TARGET]).strip().replace(",", ".")) for row in rows])
'''

TEST = '''

def probes():
    """Rows that are made up, each column between its lowest and its highest value in the training data."""
    low, high = np.array(RANGES).T
    places = np.outer(np.arange(1, len(EXPECTED) + 1), 2 * np.arange(len(COLUMNS)) + 1)
    between = low + (high - low) * ((places * 0.6180339887498949) % 1.0)
    symbolic = [name in SYMBOLS for name in COLUMNS]
    return np.where(symbolic, np.rint(between), between)


def self_test(model):
    """Whether the model says of the probes what the winner of the run said."""
    said = predict(model, probes())
'''
SAME_CLASSES = "    return said.tolist() == EXPECTED\n"
SAME_NUMBERS = "    return np.allclose(said, EXPECTED, rtol=1e-6, atol=1e-9 * np.abs(EXPECTED).max())\n"
MAIN = """

if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit("usage: python model.py TRAIN.csv [NEW.csv]")
    training = read_rows(sys.argv[1])
    model = fit(features(training), target(training))
    same = self_test(model)
    print("the same predictions as the run" if same else "NOT the predictions of the run", file=sys.stderr)
    for path in sys.argv[2:]:
        print(TARGET, *predict(model, features(read_rows(path))).tolist(), sep="\\n")
    raise SystemExit(not same)
"""
