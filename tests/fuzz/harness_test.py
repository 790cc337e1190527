"""The helpers tell apart what is right, wrong, refused and a crash. Usage: harness_test.py --etch FILE"""

import argparse
import pathlib
import stat
import tempfile
import unittest

import numpy as np
from onnx import TensorProto, helper

import harness

etch = None


def model_of(operator, opset=17, **attributes):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"], **attributes)], "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=harness.IR_VERSION)


class Harness(unittest.TestCase):
    x = np.array([[-1, 0, 2], [np.inf, -np.inf, np.nan]], np.float32)

    def test_verdicts(self):
        model = model_of("Relu")
        (y,) = harness.ort_run(model, {"x": self.x})
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            harness.write_case(folder / "good", model, [([self.x], [y])])
            harness.write_case(folder / "bad", model, [([self.x], [y + 1])])
            harness.write_case(folder / "unknown", model_of("Frobnicate"), [([self.x], [y])])
            results = harness.validate_suite(etch, folder, ["--backends", "interp,c"])
        self.assertEqual({n: r.verdict for n, r in results.items()}, {"good": "right", "bad": "wrong", "unknown": "refused"})
        self.assertIn("interp: test_data_set_0", results["bad"].text)
        self.assertIn("Frobnicate", results["unknown"].text)

    def test_a_crash_is_credited_to_its_case(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name in ("a", "b"):
                harness.write_case(folder / "cases" / name, model_of("Abs"), [([self.x], [abs(self.x)])])
            tool = folder / "tool"  # dies on b, alone or among others
            tool.write_text(f'#!/bin/sh\ncase "$3" in */cases|*/b) kill -SEGV $$ ;; esac\nexec "{etch}" "$@"\n')
            tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
            results = harness.validate_suite(tool, folder / "cases", ["--backends", "interp"])
        self.assertEqual({n: r.verdict for n, r in results.items()}, {"a": "right", "b": "crash"})

    def test_internal_errors_have_their_own_verdict(self):
        self.assertEqual(harness.verdict_of("internal error: the rule 'x' does not hold"), "internal")
        self.assertEqual(harness.verdict_of("c: internal error: the rule 'x' does not hold"), "internal")
        self.assertEqual(harness.verdict_of("model.onnx: node 'n' (Conv): attribute"), "refused")

    def test_what_the_oracle_can_not_run_is_its_own_exception(self):
        with self.assertRaises(harness.OracleRefuses):
            harness.ort_run(model_of("Frobnicate"), {"x": self.x})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--etch", required=True)
    args, rest = parser.parse_known_args()
    etch = args.etch
    unittest.main(argv=["harness_test.py", *rest])
