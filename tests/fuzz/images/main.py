#!/usr/bin/env python3
"""Random networks of images against ONNX Runtime, as kernels for targets with vectors.

    tests/fuzz/in_venv images/main.py --etch build/etch --count 200 [--first N] [--targets x86-64-v4,x86-64-v3] [--keep DIR]

Each has to be right on INTERP, C and LLVM for every target. Where this machine lacks a target's instructions, the same kernels are compiled
for those that it has. For the first target convolutions take fewer products along both axes where they may (--winograd 2d), for the last
one three workers share the kernels.
"""

import collections
import pathlib
import sys
import tempfile

import harness
from images.network import Images

CHUNK = 25  # models for one process of etch
# Sums in another order, of values that layers may have made large.
TOLERANCE = ("--rtol", "0.001", "--atol", "0.0002")


def describe(network):
    return f"{' '.join(n.op_type for n in network.nodes)}; x {list(network.shape)}"


def main():
    parser = harness.parser_of(__doc__, count=200, backends="interp,c,llvm")
    parser.add_argument("--targets", default="x86-64-v4,x86-64-v3,host")
    args = parser.parse_args()

    targets = args.targets.split(",")
    counts = collections.Counter()
    for start in range(args.first, args.first + args.count, CHUNK):
        with tempfile.TemporaryDirectory(prefix="etch-images-") as folder:
            networks = {}
            for seed in range(start, min(start + CHUNK, args.first + args.count)):
                networks[seed] = Images(seed)
                harness.write_case(pathlib.Path(folder) / str(seed), networks[seed].model(), [networks[seed].data()])
            for target in targets:
                options = ["--target", target, "--backends", args.backends, *TOLERANCE]
                if target == targets[0]:
                    options += ["--winograd", "2d"]
                if target == targets[-1]:
                    options += ["--workers", "3"]
                for seed, result in harness.validate_suite(args.etch, folder, options).items():
                    counts[result.verdict] += 1
                    if result.verdict == "right":
                        continue
                    network = networks[int(seed)]
                    print(f"{result.verdict.upper()} seed {seed} for {target}: {describe(network)}\n    {result.text[:400]}")
                    if args.keep:
                        harness.write_case(args.keep / seed, network.model(), [network.data()])
        sys.stdout.flush()
    print(f"{args.count} networks for {', '.join(targets)}: " + ", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    return 0 if set(counts) <= {"right"} and targets else 1


if __name__ == "__main__":
    sys.exit(main())
