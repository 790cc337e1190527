#!/usr/bin/env python3
"""Random networks of images against ONNX Runtime, as kernels for targets with vectors.

    tests/fuzz/in_venv images/main.py --etch build/etch --count 200 [--first N] [--targets x86-64-v4,x86-64-v3] [--keep DIR]

Each has to be right on INTERP, C and LLVM for every target. Where this machine lacks a target's instructions, the same kernels are compiled
for those that it has. For the first target convolutions take fewer products along both axes where they may (--winograd 2d). Three workers
share the kernels of every second network, for the last target those of all networks.

At the end it is told in how many networks there was what they are drawn for (traits.py). Of many networks a least share has to have it for
each target, so that a change after which nothing lies in blocks any more, say, does not pass as 1000 networks that are right.
"""

import collections
import pathlib
import sys
import tempfile

import harness
from images import traits
from images.network import Images

CHUNK = 24  # models that are written at once; one process of etch takes half of them
WORKERS = 3
# Sums in another order, of values that layers may have made large.
TOLERANCE = ("--rtol", "0.001", "--atol", "0.0002")


def describe(network):
    return f"{' '.join(n.op_type for n in network.nodes)}; x {list(network.shape)}"


def half_of(seed):
    return "odd" if seed % 2 else "even"


def options_of(targets, target, half):
    options = ["--target", target]
    if target == targets[0]:
        options += ["--winograd", "2d"]
    if half == "odd" or target == targets[-1]:
        options += ["--workers", WORKERS]
    return options


def compiled(etch, case, options):
    """What the case's project has; None and what etch says where it writes none."""
    with tempfile.TemporaryDirectory(prefix="etch-images-") as folder:
        project = pathlib.Path(folder) / "net"
        written = ["--name", "net", "--selftest", "checksum", "--no-measure", "-o", project]
        status, out, err = harness.run_etch(etch, ["compile", case / "model.onnx", *options, *written])
        return (traits.traits_of(project), "") if status == 0 else (None, f"exit status {status}: {err.strip() or out.strip()}")


class Run:
    """Verdicts of all networks, and for each target in how many of them there was what."""

    def __init__(self, args):
        self.args, self.targets = args, args.targets.split(",")
        self.verdicts = collections.Counter()
        self.counts = {target: collections.Counter() for target in self.targets}

    def failed(self, network, seed, target, verdict, text):
        print(f"{verdict.upper()} seed {seed} for {target}: {describe(network)}\n    {text[:400]}")
        if self.args.keep:
            harness.write_case(self.args.keep / str(seed), network.model(), [network.data()])

    def validate(self, folder, networks):
        for target in self.targets:
            for half in sorted({half_of(seed) for seed in networks}):
                options = [*options_of(self.targets, target, half), "--backends", self.args.backends, *TOLERANCE]
                for seed, result in harness.validate_suite(self.args.etch, folder / half, options).items():
                    self.verdicts[result.verdict] += 1
                    if result.verdict != "right":
                        self.failed(networks[int(seed)], seed, target, result.verdict, result.text)

    def count(self, folder, networks):
        for seed, network in networks.items():
            for target in self.targets:
                half = half_of(seed)
                found, text = compiled(self.args.etch, folder / half / str(seed), options_of(self.targets, target, half))
                if found is None:
                    self.verdicts["not compiled"] += 1
                    self.failed(network, seed, target, "not compiled", text)
                else:
                    self.counts[target].update(found)

    def lacks(self):
        """Prints the counts. True where many networks have too little of something."""
        is_short = False
        for target, count in self.counts.items():
            print(f"  {target}: " + ", ".join(f"{name} {count[name]}" for name in traits.LEAST))
            for name, share in traits.LEAST.items():
                if self.args.count >= traits.MANY and count[name] < share * self.args.count:
                    print(f"  FAILED: {name} in {count[name]} of {self.args.count} networks for {target}, at least {share:.0%} have to be")
                    is_short = True
        return is_short


def main():
    parser = harness.parser_of(__doc__, count=200, backends="interp,c,llvm")
    parser.add_argument("--targets", default="x86-64-v4,x86-64-v3,host")
    args = parser.parse_args()

    run = Run(args)
    end = args.first + args.count
    for start in range(args.first, end, CHUNK):
        with tempfile.TemporaryDirectory(prefix="etch-images-") as folder:
            networks = {seed: Images(seed) for seed in range(start, min(start + CHUNK, end))}
            for seed, network in networks.items():
                harness.write_case(pathlib.Path(folder) / half_of(seed) / str(seed), network.model(), [network.data()])
            run.validate(pathlib.Path(folder), networks)
            run.count(pathlib.Path(folder), networks)
        sys.stdout.flush()
    verdicts = ", ".join(f"{n} {kind}" for kind, n in run.verdicts.most_common())
    print(f"{args.count} networks for {', '.join(run.targets)}: {verdicts}. In so many networks there are:")
    is_short = run.lacks()
    return 0 if set(run.verdicts) <= {"right"} and not is_short else 1


if __name__ == "__main__":
    sys.exit(main())
