"""Export a trained model.

As Python code -> `python_file.export_python`. As ONNX -> `onnx.export_onnx`. Check an export before it is written
-> `verify`. As an object, `best_estimator_` -> `plain_estimator`. `python_code` and `onnx_blocks` write the parts;
`python_template` and `table_reader` hold text that becomes part of exported files.
"""
