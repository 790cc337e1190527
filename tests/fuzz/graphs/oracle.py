"""What one node gives: ONNX Runtime's answer, or the reference evaluator's where ONNX Runtime has no kernel or is known to be wrong."""

import warnings

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

import harness
from graphs import excuses


class Rejected(Exception):
    """This node can't be: invalid for the oracle, or its result is not defined."""


def model_of_node(node, inputs, opset):
    """A model of one node; `inputs` maps names to arrays."""
    values = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in inputs.items()]
    graph = helper.make_graph([node], "g", values, [onnx.ValueInfoProto(name=n) for n in node.output if n])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=harness.IR_VERSION)


def no_kernel(text):
    return "NOT_IMPLEMENTED" in text or "Could not find an implementation" in text


def _reference(model, inputs):
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outputs = ReferenceEvaluator(model).run(None, inputs)
    except Exception as error:
        raise Rejected(f"reference: {error}") from None
    if any(not isinstance(o, (np.ndarray, np.generic)) for o in outputs):
        raise Rejected("reference: not a tensor")
    return [np.asarray(o) for o in outputs]


SINGLE = "ort in single precision"


def _single_precision(node, inputs, opset):
    """The outputs in double of what ONNX Runtime gives for the inputs rounded to float32."""
    with np.errstate(over="ignore"):
        rounded = {n: a.astype(np.float32) if a.dtype == np.float64 else a for n, a in inputs.items()}
    if any(np.isfinite(a).sum() != np.isfinite(rounded[n]).sum() for n, a in inputs.items()):
        raise Rejected("beyond single precision")
    try:
        outputs = harness.ort_run(model_of_node(node, rounded, opset), rounded)
    except harness.OracleRefuses as error:
        raise Rejected(f"ort: {error}") from None
    return [o.astype(np.float64) if o.dtype == np.float32 else o for o in outputs]


def evaluate(node, inputs, opset):
    """(outputs by name, which oracle, name of an excuse or None). Raises Rejected."""
    arrays = [inputs[n] if n else None for n in node.input]
    try:
        excuse = excuses.excuse_of(node, arrays, opset)
    except ValueError as error:  # numpy's: the shapes don't fit
        raise Rejected(str(error)) from None
    if excuse and excuse.dangerous:
        raise Rejected(excuse.name)
    model = model_of_node(node, inputs, opset)
    oracle = "reference" if excuses.is_for_reference(node, arrays, opset) else "ort"
    if oracle == "ort":
        try:
            outputs = harness.ort_run(model, inputs)
        except harness.OracleRefuses as error:
            if not no_kernel(str(error)):
                raise Rejected(f"ort: {error}") from None
            oracle = "reference"
    if oracle == "reference" and excuses.is_reference_wrong(node, arrays, opset):
        outputs, oracle = _single_precision(node, inputs, opset), SINGLE
    elif oracle == "reference":
        outputs = _reference(model, inputs)
        types = [t.type.tensor_type.elem_type for t in onnx.shape_inference.infer_shapes(model).graph.output]
        wanted = [helper.tensor_dtype_to_np_dtype(t) if t else None for t in types]
        if any(w is not None and w != o.dtype for w, o in zip(wanted, outputs)):
            raise Rejected("reference: another type than the standard's")
    if node.op_type in excuses.SINGLE_IN_DOUBLE:
        oracle = SINGLE
    return dict(zip([n for n in node.output if n], outputs)), oracle, excuse and excuse.name
