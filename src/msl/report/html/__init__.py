"""The report of a run: one HTML page that stands on its own, for browsers, phones and paper."""
