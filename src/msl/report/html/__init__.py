"""The report of a run as one HTML page: `page.record_to_html(run_record.read_record(store, run))`."""
