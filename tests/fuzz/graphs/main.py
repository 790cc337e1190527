"""Random graphs against ONNX Runtime: main.py --etch FILE --count 3000 [--first N] [--jobs N] [--keep DIR]

Every graph has to be right on INTERP and C, or refused by name, or excused by the name of an excuse (excuses.py). Fails with a line
for each one that is not; its number makes it again.
"""

import collections
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass, field

import numpy as np
from onnx import helper, numpy_helper

import harness
from graphs import excuses, judge, make, oracle

BACKENDS = "interp,c,llvm"  # --backends
CHUNK = 50
FAILURES = ("wrong", "internal", "crash", "oracle")


@dataclass
class Outcome:
    number: int
    verdict: str  # of harness.Result; excused, rounding (right as far as its own rounding goes), oracle (no valid model)
    text: str
    operators: list = field(default_factory=list)
    oracles: list = field(default_factory=list)


def whole_model(model, inputs, outputs, graph):
    """What is wrong if ONNX Runtime gives something else for the whole model than for its nodes one by one; "" if nothing is."""
    if any(s.oracle != "ort" for s in graph.steps) or graph.excuse():
        return ""
    try:
        got = harness.ort_run(model, dict(zip([i.name for i in model.graph.input], inputs)))
    except harness.OracleRefuses as error:
        return "" if oracle.no_kernel(str(error)) else f"an invalid model: {error}"
    tolerance = judge.TOLERANCE[judge.narrowest(graph)]
    if judge.narrowest(graph) == np.float16:
        return ""  # a chain of 16-bit nodes is computed in single precision, without rounding between them
    if not any(judge.difference(array, value, [], tolerance) for value, array in zip(outputs, got)):
        return ""
    nudged = judge.runs_nudged(graph)
    problems = [judge.difference(array, value, nudged, tolerance) for value, array in zip(outputs, got)]
    return next((f"ONNX Runtime on the whole model: {p}" for p in problems if p), "")


def outputs_of_tool(etch, folder, backend, values, work):
    """What `etch run` gives for a case's inputs: arrays, or the text of an error."""
    shutil.rmtree(work, ignore_errors=True)
    files = sorted((folder / "test_data_set_0").glob("input_*.pb"), key=lambda f: int(f.stem.split("_")[1]))
    args = ["run", folder / "model.onnx", "--backend", backend, "--output", work]
    for file in files:
        args += ["--input", file]
    status, _, err = harness.run_etch(etch, args)
    if status != 0:
        return err
    found = []
    for value in values:
        array = np.load(work / f"{value.name}.npy")
        if array.dtype != value.dtype:
            return f"{value.name} is {array.dtype}, expected {value.dtype}"
        found.append(array)
    return found


def rejudge(etch, folder, graph, outputs, text, work):
    """(verdict, text) of a graph that the tool's own comparison calls wrong."""
    nudged = judge.runs_nudged(graph)
    tolerance = judge.TOLERANCE[judge.narrowest(graph)]
    for backend in BACKENDS.split(","):
        found = outputs_of_tool(etch, folder, backend, outputs, work)
        if isinstance(found, str):
            return "wrong", found
        for value, array in zip(outputs, found):
            problem = judge.difference(array, value, nudged, tolerance)
            if problem:
                return "wrong", f"{backend}: {problem}; the tool says: {text}"
    return "rounding", text.splitlines()[0]


def culprit(etch, graph, work):
    """The first node that is wrong when it is alone and gets the oracle's values; "" where all are right."""
    values = {v.name: v.array for v in graph.values}
    cases = work / "alone"
    shutil.rmtree(cases, ignore_errors=True)
    for i, step in enumerate(graph.steps):
        inputs = {n: values[n] for n in step.node.input if n}
        runtime = {n: a for n, a in inputs.items() if not any(v.constant and v.name == n for v in graph.initializers)}
        model = oracle.model_of_node(step.node, inputs, graph.opset)
        kept = [i for i in model.graph.input if i.name in runtime]
        del model.graph.input[:]
        model.graph.input.extend(kept)
        model.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in inputs.items() if n not in runtime)
        outputs = [n for n in step.node.output if n]
        for info, name in zip(model.graph.output, outputs):
            info.CopyFrom(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(values[name].dtype), values[name].shape))
        harness.write_case(cases / f"{i:02}", model, [(list(runtime.values()), [values[n] for n in outputs])])
    relative, absolute = judge.TOLERANCE[judge.narrowest(graph)]
    results = harness.validate_suite(etch, cases, ["--backends", BACKENDS, "--rtol", relative, "--atol", absolute])
    for i, step in enumerate(graph.steps):
        result = results[f"{i:02}"]
        if result.verdict not in ("right", "refused"):
            shapes = [f"{values[n].dtype}{list(values[n].shape)}" if n else "-" for n in step.node.input]
            attributes = {a.name: helper.get_attribute_value(a) for a in step.node.attribute}
            return f"\n    alone: {step.node.op_type}-{graph.opset} {' '.join(shapes)} {attributes} by {step.oracle}: {result.text}"
    return ""


def check_chunk(etch, numbers, keep):
    """Outcomes of these graphs."""
    np.seterr(all="ignore")
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="etch-graphs-") as work:
        work = pathlib.Path(work)
        graphs, batches = {}, collections.defaultdict(list)
        for number in numbers:
            try:
                graph = make.make(number)
                outputs = make.outputs_of(graph)
                model, inputs = graph.model(outputs)
                problem = whole_model(model, inputs, outputs, graph)
            except Exception:
                outcomes.append(Outcome(number, "oracle", traceback.format_exc()))
                continue
            if problem:
                outcomes.append(Outcome(number, "oracle", problem, [s.node.op_type for s in graph.steps]))
                continue
            kind = judge.narrowest(graph)
            folder = work / kind.name / str(number)
            harness.write_case(folder, model, [(inputs, [v.array for v in outputs])])
            graphs[number] = (graph, outputs, folder)
            batches[kind].append(number)
        results = {}
        for kind in batches:
            relative, absolute = judge.TOLERANCE[kind]
            options = ["--backends", BACKENDS, "--rtol", relative, "--atol", absolute]
            found = harness.validate_suite(etch, work / kind.name, options)
            results.update({int(n): r for n, r in found.items()})
        for number, (graph, outputs, folder) in graphs.items():
            result = results[number]
            verdict, text = result.verdict, result.text
            if graph.excuse() and verdict in ("right", "wrong", "refused"):
                verdict, text = "excused", graph.excuse()
            if verdict == "wrong":
                verdict, text = rejudge(etch, folder, graph, outputs, text, work / "outputs")
            if verdict in FAILURES:
                text += culprit(etch, graph, work)
            if keep and verdict in FAILURES:
                shutil.copytree(folder, keep / str(number), dirs_exist_ok=True)
            operators = [s.node.op_type for s in graph.steps]
            outcomes.append(Outcome(number, verdict, text, operators, [s.oracle for s in graph.steps]))
    return outcomes


def reason_of(text):
    """A refusal without names and numbers, so that equal ones are counted together."""
    line = text.splitlines()[0] if text else ""
    line = re.sub(r"^.*?model\.onnx: ", "", line)
    line = re.sub(r"node '[^']*' ", "", line)
    line = re.sub(r"'[a-z]+\d+'", "a tensor", line)
    return re.sub(r"-?\d+(\.\d+)?", "N", line)[:150]


def tool_operators(etch):
    """Those of ai.onnx: ONNX Runtime has none of another domain."""
    lines = subprocess.run([etch, "ops"], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[0] for line in lines[1:] if line.strip() and "ai.onnx." not in line}


def report(outcomes, operators):
    """Prints the figures; the number of failures."""
    by_verdict = collections.Counter(o.verdict for o in outcomes)
    reasons = collections.Counter(reason_of(o.text) for o in outcomes if o.verdict == "refused")
    excused = collections.Counter(o.text for o in outcomes if o.verdict == "excused")
    for title, counter in (("refused", reasons), ("excused", excused)):
        for text, count in counter.most_common():
            print(f"  {title} {count:4}  {text}")
    bad = [o for o in outcomes if o.verdict in FAILURES]
    failures = [f"graph {o.number}: {o.verdict}: {o.text} ({' '.join(o.operators)})" for o in bad]
    right = collections.Counter(n for o in outcomes if o.verdict in ("right", "rounding") for n in set(o.operators))
    if len(outcomes) >= 5 * len(make.NAMES):
        failures += [f"operator {n} is in no graph that is right" for n in sorted(operators) if not right[n]]
    failures += [f"excuse '{n}' quotes what the standard does not say" for n in excuses.missing_quotes()]
    failures += [f"operator {n} has no generator" for n in sorted(operators - set(make.NAMES))]
    nodes = collections.Counter(w for o in outcomes for w in o.oracles)
    for line in failures:
        print("FAILED", line)
    print(
        f"{len(outcomes)} graphs: {by_verdict['right']} right, {by_verdict['rounding']} right as far as their rounding goes, "
        f"{by_verdict['refused']} refused by name, {by_verdict['excused']} excused, "
        f"{len(failures)} failures; "
        f"{nodes['ort']} nodes by ONNX Runtime, {nodes['reference']} by the reference evaluator, {nodes[oracle.SINGLE]} in single precision"
    )
    return len(failures)


def main():
    global BACKENDS
    parser = harness.parser_of(__doc__, count=200, backends=BACKENDS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="only graphs whose first operator is one of these")
    args = parser.parse_args()
    BACKENDS = args.backends
    numbers = [n for n in range(args.first, args.first + args.count) if not args.only or make.NAMES[n % len(make.NAMES)] in args.only]
    chunks = [numbers[i : i + CHUNK] for i in range(0, len(numbers), CHUNK)]
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        outcomes = [o for part in pool.map(check_chunk, *zip(*((args.etch, c, args.keep) for c in chunks))) for o in part]
    sys.exit(1 if report(outcomes, tool_operators(args.etch)) else 0)


if __name__ == "__main__":
    main()
