"""Random quantised graphs against a reference in integers: main.py --etch FILE --count 2000 [--first N] [--jobs N] [--keep DIR]

Every graph has to give the reference's bits on INTERP and C; every second is made for little RAM (--optimize ram --io-in-arena), where
results lie over parts of what they are computed from, half of these in two memory pools. Fails with a line for each one that does not;
its number makes it again, and --keep saves it together with the smallest part that fails. With --oracle, ONNX Runtime is compared with
the reference as well, and where it differs is told: that is no failure.
"""

import collections
import concurrent.futures
import pathlib
import shutil
import sys
import tempfile
import traceback
from dataclasses import dataclass, field

import numpy as np
import onnxruntime

import harness
from quantised import make

BACKENDS = "interp,c"
POOLS = pathlib.Path(__file__).resolve().parents[2] / "data" / "pools"  # a target with a small pool and a large one
LITTLE_RAM = ["--optimize", "ram", "--io-in-arena"]
GOALS = {
    "speed": [],
    "ram": LITTLE_RAM,
    "pools": [*LITTLE_RAM, "--targets-dir", POOLS],
    "vectors": ["--target", "cortex-m55"],
    "pairs": ["--target", "cortex-m4f"],
    "lanes": ["--target", "x86-64-vnni"],
    "short lanes": ["--target", "cortex-a55"],
    "lanes of pairs": ["--target", "x86-64-v3"],
}
CHUNK = 30
FAILURES = ("wrong", "internal", "crash", "refused", "generator")


@dataclass
class Outcome:
    number: int
    verdict: str  # of harness.Result; generator (no model)
    text: str = ""
    kinds: list = field(default_factory=list)
    oracle: dict = field(default_factory=dict)  # kind of a layer -> (elements, elements where ONNX Runtime differs)


def difference(got, want, doubt=None):
    """What is wrong with an array; "" if nothing is. Where it is doubtful, a difference of 1 is right."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"is {got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    wrong = got != want
    if doubt is not None:
        wrong &= ~(doubt & (np.abs(got.astype(np.float64) - want.astype(np.float64)) <= 1))
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{list(at)} is {got[at]}, expected {want[at]} ({int(wrong.sum())} of {wrong.size} elements)"


def goal_of(number):
    """What the graph is made for: of those for little RAM about half have a result over a part of an input, with one arena or with two; of
    those for speed five of six have the kernels of a target, vectors of integers or dot products, on this machine."""
    if number % 2 == 1:
        return ("ram", "pools")[number // 2 % 2]
    return ("vectors", "pairs", "lanes", "short lanes", "lanes of pairs", "speed")[number // 2 % 6]


def rejudge(etch, case, folder, text, work, goal):
    """(verdict, text) of a graph that the tool's own comparison calls wrong."""
    for backend in BACKENDS.split(","):
        for k, (_, values, doubts) in enumerate(case.data_sets):
            shutil.rmtree(work, ignore_errors=True)
            args = ["run", folder / "model.onnx", "--backend", backend, *GOALS[goal], "--output", work]
            args += ["--dim", f"batch=1..{make.MOST}"] if case.graph.open else []
            for i in range(len(case.graph.inputs)):
                args += ["--input", folder / f"test_data_set_{k}" / f"input_{i}.pb"]
            status, _, err = harness.run_etch(etch, args)
            if status != 0:
                return harness.verdict_of(err), err
            found = {v.name: np.load(work / f"{v.name}.npy") for v in case.outputs}
            problem = next((f"{n} {p}" for n, a in found.items() if (p := difference(a, values[n], doubts.get(n)))), "")
            if not problem:
                continue
            return "wrong", f"{backend}: test_data_set_{k}: {problem}"
    return "right", text


def alone(case, layers):
    """(model, data sets) of these consecutive layers, whose inputs come from outside."""
    g = case.graph
    by_name = {v.name: v for v in g.values + g.inputs}
    made = [n for layer in layers for n in layer.outputs]
    inputs = [by_name[n] for n in dict.fromkeys(n for layer in layers for n in layer.inputs) if n not in made]
    outputs = [by_name[n] for n in layers[-1].outputs]
    model = g.model(outputs, layers, inputs)
    data = [([values[v.name] for v in inputs], [values[v.name] for v in outputs]) for _, values, _ in case.data_sets]
    return model, data


def smallest(etch, case, work, keep, goal):
    """The first layer, or pair of layers, that fails alone; its text."""
    layers = case.graph.layers
    parts = [[layer] for layer in layers]
    parts += [[a, b] for a in layers for b in layers if a is not b and set(a.outputs) & set(b.inputs)]
    shutil.rmtree(work, ignore_errors=True)
    for i, part in enumerate(parts):
        harness.write_case(work / f"{i:02}", *alone(case, part))
    results = harness.validate_suite(etch, work, options(goal))
    for i, part in enumerate(parts):
        result = results[f"{i:02}"]
        if result.verdict not in ("right",):
            if keep:
                shutil.copytree(work / f"{i:02}", keep / "smallest", dirs_exist_ok=True)
            return f"\n    alone: {' -> '.join(layer.kind for layer in part)}: {result.text}"
    return ""


def options(goal):
    return ["--backends", BACKENDS, *GOALS[goal], "--rtol", "0", "--atol", "0"]


def by_oracle(case):
    """Of each layer alone: how many elements ONNX Runtime, optimised, gives, and how many differ from the reference."""
    found = collections.Counter()
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.log_severity_level = 4
    for layer in case.graph.layers:
        model, data = alone(case, [layer])
        try:
            session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
            for inputs, outputs in data:
                got = session.run(None, dict(zip([i.name for i in session.get_inputs()], inputs)))
                found[layer.kind, "elements"] += sum(o.size for o in outputs)
                found[layer.kind, "differ"] += sum(int((a != o).sum()) for a, o in zip(got, outputs))
                found[layer.kind, "graphs"] += any((a != o).any() for a, o in zip(got, outputs))
        except Exception:  # its exceptions have no common base but this
            found[layer.kind, "refused"] += 1
    return found


def check_chunk(etch, numbers, keep, oracle, only):
    """Outcomes of these graphs."""
    np.seterr(all="ignore")
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="etch-quantised-") as work:
        work = pathlib.Path(work)
        cases = {}
        for number in numbers:
            try:
                cases[number] = make.make(number)
                if only and not any(layer.kind.startswith(only) for layer in cases[number].graph.layers):
                    del cases[number]
                    continue
                harness.write_case(work / goal_of(number) / str(number), cases[number].model, cases[number].written())
            except Exception:
                cases.pop(number, None)
                outcomes.append(Outcome(number, "generator", traceback.format_exc()))
        results = {}
        for goal in {goal_of(number) for number in cases}:
            results |= harness.validate_suite(etch, work / goal, options(goal))
        for number, case in cases.items():
            goal = goal_of(number)
            result, folder = results[str(number)], work / goal / str(number)
            verdict, text = result.verdict, result.text
            if verdict == "wrong":
                verdict, text = rejudge(etch, case, folder, text, work / "outputs", goal)
            if verdict in FAILURES and keep:
                shutil.copytree(folder, keep / str(number), dirs_exist_ok=True)
            if verdict in FAILURES:
                text += smallest(etch, case, work / "parts", keep and keep / str(number), goal)
            found = by_oracle(case) if oracle else {}
            outcomes.append(Outcome(number, verdict, text, [layer.kind for layer in case.graph.layers], found))
    return outcomes


def report(outcomes):
    """Prints the figures; the number of failures."""
    verdicts = collections.Counter(o.verdict for o in outcomes)
    found = sum((collections.Counter(o.oracle) for o in outcomes), collections.Counter())
    kinds = collections.Counter(k for o in outcomes if o.verdict == "right" for k in o.kinds)
    if found:
        print("ONNX Runtime, layers alone: elements, of which differ from the reference; layers that it refuses; graphs")
        for kind in sorted({k for k, _ in found}):
            where = [o.number for o in outcomes if o.oracle.get((kind, "graphs")) or o.oracle.get((kind, "refused"))]
            print(f"  {kind:40} {found[kind, 'elements']:8} {found[kind, 'differ']:6} {found[kind, 'refused']:4}  {where[:6] or ''}")
    for o in outcomes:
        if o.verdict in FAILURES:
            print(f"FAILED graph {o.number}: {o.verdict}: {o.text} ({', '.join(o.kinds)})")
            print(f"    again: tests/fuzz/in_venv quantised/main.py --etch ETCH --first {o.number} --count 1 --keep FOLDER")
    failures = sum(verdicts[v] for v in FAILURES)
    layers = sum(len(o.kinds) for o in outcomes)
    print(
        f"{len(outcomes)} quantised graphs of {layers} layers of {len(kinds)} kinds: {verdicts['right']} equal to the reference in every bit, "
        f"{failures} failures"
    )
    return failures


def main():
    parser = harness.parser_of(__doc__, count=60, backends="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="only graphs with a layer whose kind begins so")
    parser.add_argument("--oracle", action="store_true", help="compare ONNX Runtime with the reference, too")
    args = parser.parse_args()
    has_vnni = "vnni" in pathlib.Path("/proc/cpuinfo").read_text() if pathlib.Path("/proc/cpuinfo").exists() else False
    if args.oracle and not has_vnni:
        print("no VNNI: ONNX Runtime's sums of 8 bits saturate here, it is not compared")
        args.oracle = False
    numbers = list(range(args.first, args.first + args.count))
    chunks = [numbers[i : i + CHUNK] for i in range(0, len(numbers), CHUNK)]
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(check_chunk, args.etch, c, args.keep, args.oracle, args.only) for c in chunks]
        outcomes = [o for job in jobs for o in job.result()]
    sys.exit(1 if report(outcomes) else 0)


if __name__ == "__main__":
    main()
