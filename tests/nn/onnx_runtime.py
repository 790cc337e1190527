"""Runs a model of one input and one output in ONNX Runtime.

python onnx_runtime.py MODEL.onnx INPUT.npy OUTPUT.npy    (tests/fuzz/in_venv ../nn/onnx_runtime.py ... has the packages that it needs)
"""
import sys

import numpy as np
import onnx
from harness import ort_run

model = onnx.load(sys.argv[1])
onnx.checker.check_model(model, full_check=True)
np.save(sys.argv[3], ort_run(model, {model.graph.input[0].name: np.load(sys.argv[2])})[0])
