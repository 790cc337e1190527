#!/usr/bin/env python3
"""Random networks with one to three open sizes through etch, compared with ONNX Runtime at four sizes each.

    tests/fuzz/in_venv open_sizes/main.py --etch build/etch --count 200           # seeds 0 to 199
    tests/fuzz/in_venv open_sizes/main.py --etch build/etch --first 17 --count 1 --keep DIR

Each network is compiled once for the whole range of its sizes, and run on INTERP and C at the smallest, the largest and two
sizes between. It has to be right at all of them, or refused by an error that names the node and says what to do. Everything
else fails: other numbers, an internal error, a crash, a hang. So that refusing everything is no way out, a least share has to
be right. ONNX Runtime computes a few things in less precision than their types have (coordinates of Resize): where etch gives
other numbers, those of ONNX's reference evaluator are right as well.
"""

import collections
import pathlib
import re
import sys
import tempfile
import warnings

import numpy as np
from onnx.reference import ReferenceEvaluator

import harness
from open_sizes.network import draw

CHUNK = 20  # models for one process of etch
BAD = ("wrong", "internal", "crash", "unnamed")


def verdict(result, network):
    """The harness's verdict, or "unnamed" for a refusal that does not name a node and an open size, or not say what to do."""
    if result.verdict != "refused":
        return result.verdict
    names_node = any(f"'{node.name}'" in result.message for node in network.nodes)
    names_size = any(re.search(rf"\b{dim}\b", result.message.split("node", 1)[-1]) for dim in network.dims)
    return "refused" if names_node and names_size and "help: " in result.message else "unnamed"


def by_reference(network):
    """The data sets with what the reference evaluator gives; None if it can't run the network."""
    model = network.model()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            evaluator = ReferenceEvaluator(model)
            names = [i.name for i in model.graph.input]
            return [(inputs, evaluator.run(None, dict(zip(names, inputs)))) for inputs, _ in network.data_sets()]
    except Exception:  # its exceptions have no common base but this
        return None


def validated(args, cases):
    """What etch makes of {seed: (model, data sets)}."""
    options = ["--backends", args.backends] + (["--cc", args.cc] if args.cc else [])
    with tempfile.TemporaryDirectory(prefix="etch-fuzz-") as folder:
        for seed, (model, data_sets) in cases.items():
            harness.write_case(pathlib.Path(folder) / str(seed), model, data_sets)
        return {int(name): result for name, result in harness.validate_suite(args.etch, folder, options).items()}


def judge(args, networks):
    """{seed: (verdict, message)}"""
    results = validated(args, {seed: (n.model(), n.data_sets()) for seed, n in networks.items()})
    wrong = {seed: by_reference(networks[seed]) for seed, result in results.items() if result.verdict == "wrong"}
    again = {seed: (networks[seed].model(), data_sets) for seed, data_sets in wrong.items() if data_sets is not None}
    if again:
        results.update({seed: r for seed, r in validated(args, again).items() if r.verdict == "right"})
    return {seed: (verdict(results[seed], network), results[seed].message) for seed, network in networks.items()}


def smallest(args, network, kind):
    """The smallest part of the network that fails in the same way, with what etch says of it."""
    best, text = None, ""
    for node in network.nodes:
        for output in node.output:
            part = network.only(output)
            found, said = judge(args, {network.seed: part})[network.seed]
            if found == kind and (best is None or len(part.nodes) < len(best.nodes)):
                best, text = part, said
    return best, text


def describe(network):
    shapes = ", ".join(f"{n} {list(s)}" for n, s in network.inputs.items())
    dims = ", ".join(f"{n}={s[0]}..{s[1]}" for n, s in network.dims.items())
    return f"{' '.join(n.op_type for n in network.nodes)}; {shapes}; {dims}"


def reason(text):
    """What a refusal is about, without what differs from model to model."""
    text = text.split("\n")[0]
    match = re.search(r"node '[^']*' \((\w+)\): (.*)", text)
    what = f"{match.group(1)}: {match.group(2)}" if match else text
    return re.sub(r"-?\d+", "#", re.sub(r"'[^']*'|\([^()]*[+*/%][^()]*\)|\[[^\]]*\]", "...", what))[:110]


def report_failure(args, seed, network, kind, text):
    shown = network
    if args.shrink:
        part, said = smallest(args, network, kind)
        if part is not None:
            shown, text = part, said
    print(f"{kind.upper()} seed {seed}: {describe(shown)}\n    {text[:args.width]}")
    if args.keep:
        folder = args.keep / str(seed)
        harness.write_case(folder, shown.model(), shown.data_sets())
        (folder / "note.txt").write_text(f"{kind}: {describe(shown)}\n{text}\n")


def main():
    parser = harness.parser_of(__doc__, count=200, backends="interp,c,llvm")
    parser.add_argument("--cc", help="C compiler of the C backend")
    parser.add_argument("--least", type=float, default=0.0, help="share of the networks that has to be right")
    parser.add_argument("--shrink", action="store_true", help="look for the smallest part that fails")
    parser.add_argument("--width", type=int, default=400, help="characters shown of a message")
    parser.add_argument("--refusals", action="store_true", help="show each refusal")
    args = parser.parse_args()

    counts, reasons = collections.Counter(), collections.Counter()
    for start in range(args.first, args.first + args.count, CHUNK):
        seeds = range(start, min(start + CHUNK, args.first + args.count))
        networks = {seed: draw(seed) for seed in seeds}
        for seed, (kind, text) in judge(args, networks).items():
            counts[kind] += 1
            if kind == "refused":
                reasons[reason(text)] += 1
                if args.refusals:
                    print(f"refused seed {seed}: {describe(networks[seed])}\n    {text[:args.width]}")
            elif kind in BAD:
                report_failure(args, seed, networks[seed], kind, text)
        sys.stdout.flush()

    print(f"{args.count} networks with open sizes: " + ", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    for text, n in reasons.most_common():
        print(f"  refused {n:4}  {text}")
    if counts["right"] < args.least * args.count:
        print(f"FAILED: {counts['right']} of {args.count} are right, at least {args.least:.0%} have to be")
        return 1
    return 1 if any(counts[kind] for kind in BAD) else 0


if __name__ == "__main__":
    sys.exit(main())
