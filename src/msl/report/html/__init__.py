"""The report of a run as one HTML page: `page.record_to_html(run_record.read_record(store, run))`.

- Its sections, from the top -> `page`, `quality`, `pareto_front`, `search_plot`, `strategy_sections`, `effort`;
  what the run found out -> `insight_sections`
- Objectives and strategies, read from the stored spec -> `goal`; MSL code and models -> `model_view`
- Plots, axes and ticks -> `plot`; HTML elements -> `markup`

A result in a notebook: `insight_sections.result_view`.
"""
