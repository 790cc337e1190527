"""Writes ONNX's operator tests into a folder, in the layout of its backend tests: node/NAME/model.onnx and test_data_set_0.

python node_tests.py DIR    (tests/fuzz/in_venv ../onnx/node_tests.py DIR has the packages that it needs)

In onnx 1.23.2 the package's own command, python -m onnx.backend.test.cmd_tools generate-data -o DIR, takes the model tests
alone; the operator tests are collected by the same package and written by the same function.
"""
import argparse
import sys
import warnings

warnings.simplefilter("ignore")  # tests of infinities and of overflows are meant

from onnx.backend.test import cmd_tools  # noqa: E402
from onnx.backend.test.case import node  # noqa: E402

cases = node.collect_testcases()
cmd_tools.model_test.collect_testcases = lambda: cases
cmd_tools.generate_data(argparse.Namespace(output=sys.argv[1]))
print(len(cases))
