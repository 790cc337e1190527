"""What the random tests share: ONNX Runtime as the oracle, folders of models with data, and the tool on them.

A case is a folder in the layout of the ONNX backend tests: model.onnx and test_data_set_N/{input,output}_K.pb.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
from dataclasses import dataclass, replace

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

# Newest version of the file format for an opset: ONNX Runtime refuses a pair that never existed.
IR_VERSION = 10


def parser_of(doc, count, backends):
    """A parser of what every random test takes. `doc`: of the program; the others are what counts if nothing is given."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etch", required=True, help="the tool")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=count, help="how many seeds")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the cases that fail")
    if backends:
        parser.add_argument("--backends", default=backends)
    return parser


class OracleRefuses(Exception):
    """ONNX Runtime does not run this model: it is invalid, or there is no kernel for the type. The text is ONNX Runtime's."""


def ort_session(model):
    """A session that runs the graph as it is written: no optimisation, one thread. `model` is a ModelProto."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exceptions have no common base but this
        raise OracleRefuses(str(error)) from None


def ort_run(model, inputs):
    """The outputs, a list of arrays in the model's order. `inputs` is a dict from name to array."""
    session = ort_session(model)
    try:
        return session.run(None, {i.name: inputs[i.name] for i in session.get_inputs()})
    except Exception as error:
        raise OracleRefuses(str(error)) from None


def write_case(folder, model, data_sets):
    """Writes model.onnx and one test_data_set_N for each (inputs, outputs); both are lists of arrays in the model's order."""
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for number, (inputs, outputs) in enumerate(data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for kind, arrays in (("input", inputs), ("output", outputs)):
            for k, array in enumerate(arrays):
                (data / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(np.asarray(array)).SerializeToString())


@dataclass
class Result:
    """What etch makes of one case. `verdict` is one of

    right     every backend gives what is expected
    wrong     a backend gives something else, or its C does not compile
    refused   an error in the user's terms: not supported, or the model is said to be wrong
    internal  a rule of etch's own does not hold
    crash     the process died, or took longer than the time limit
    """

    name: str
    verdict: str
    text: str = ""  # of a refusal: what is not supported, without the place
    message: str = ""  # all that the tool says


def run_etch(etch, args, timeout=120):
    """(exit status, stdout, stderr) of the tool; the status is negative for a signal, None where the time was up."""
    try:
        done = subprocess.run([etch, *map(str, args)], capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, "", f"ran longer than {timeout} s"
    return done.returncode, done.stdout, done.stderr


def verdict_of(text, backends=("interp", "c", "llvm", "opencl", "cuda")):
    """The verdict for the text of a failure."""
    if "internal error" in text:
        return "internal"
    return "wrong" if text.split(":")[0] in backends else "refused"


def _suite(etch, folder, options, timeout):
    status, out, err = run_etch(etch, ["validate", "--suite", folder, "--json", *options], timeout)
    try:
        cases = json.loads(out)["cases"]
    except (json.JSONDecodeError, KeyError):
        return None, f"exit status {status}: {err.strip() or out.strip()}"
    results = []
    for case in cases:
        text = case.get("text", "")
        message = case.get("error", text)
        verdict = {"passed": "right", "skipped": "refused"}.get(case["verdict"]) or verdict_of(text)
        results.append(Result(case["name"], verdict, text, message))
    return results, ""


def validate_suite(etch, folder, options=(), seconds_each=20):
    """Results by name for every case below `folder`, in one process of the tool; one by one where that process dies."""
    folder = pathlib.Path(folder)
    names = sorted(str(m.parent.relative_to(folder)) for m in folder.rglob("model.onnx"))
    results, problem = _suite(etch, folder, options, 60 + seconds_each * len(names))
    if results is None and len(names) == 1:
        results = [Result(names[0], "crash", problem, problem)]
    elif results is None:
        results = []
        for name in names:
            one, problem = _suite(etch, folder / name, options, 60 + seconds_each)
            results.append(replace(one[0], name=name) if one else Result(name, "crash", problem, problem))
    found = {r.name: r for r in results}
    return {name: found.get(name, Result(name, "crash", "the tool did not report it")) for name in names}
