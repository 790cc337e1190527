"""What an emitted project has that random networks of images are there to try, as far as its report.json and its C tell. Each is looked for
in what was written, not in what was asked for: a step INTERIOR may find no border that is worth a body, and then nothing is counted."""

import json
import re

# What is counted, and the least share of many networks in which it has to be so.
LEAST = {"blocks": 0.2, "overlaps": 0.35, "borders": 0.2, "shared": 0.15}
MANY = 200  # of fewer networks too little is known

KERNEL = re.compile(r"^/\*(?P<comment>(?:(?!\*/).)*)\*/\nstatic void k\d+_\w+\([^)]*\) \{\n(?P<body>.*?)^\}", re.MULTILINE | re.DOTALL)
# const int y = y_tile < 11 ? y_tile * 4 : 43;
TILE = re.compile(r"= (\w+) < (\d+) \? \1 \* (\d+) : (\d+);")
# Around the inside of an image, or the inside itself where it begins behind a border.
BORDER = re.compile(r"for \(int (?:border\w* = 0|\w+ = [1-9]\d*);")


def overlaps(kernel):
    """Whether the last tile of a loop begins before the one in front of it ends."""
    cuts_loops = "OVERLAP" in kernel["comment"] or "VECTOR" in kernel["comment"]
    return cuts_loops and any(int(last) < int(before) * int(size) for _, before, size, last in TILE.findall(kernel["body"]))


def traits_of(folder):
    """The names in LEAST that hold for the project in `folder`, a set.

    blocks    an intermediate lies in blocks of an axis
    overlaps  tiles of a kernel overlap, as they don't divide its axis
    borders   a kernel has bodies of their own for the inside and for what lies at a border
    shared    workers share the loops of at least two kernels, so that one waits for what others wrote
    """
    report = json.loads((folder / "report.json").read_text())
    kernels = list(KERNEL.finditer((folder / (report["name"] + ".c")).read_text()))
    assert len(kernels) == len({k["name"] for k in report["kernels"]}), f"{len(kernels)} kernels are found, not all of them"
    found = {
        "blocks": any(tensor.get("block", 0) > 1 for tensor in report["arena"]),
        "overlaps": any(overlaps(k) for k in kernels),
        "borders": any("INTERIOR" in k["comment"] and BORDER.search(k["body"]) for k in kernels),
        "shared": sum("shared_loop" in k for k in report["kernels"]) >= 2,
    }
    return {name for name in LEAST if found[name]}
