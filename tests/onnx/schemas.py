"""Prints the rows of generator/onnx/schemas.def as ONNX's own definitions give them.

python schemas.py OPERATOR...    (tests/fuzz/in_venv ../onnx/schemas.py OPERATOR... has the packages that it needs)

A new row is printed where a version changes something that the table knows; nothing is printed of versions before OLDEST,
but for the one that counts there.
"""
import re
import sys

import onnx.defs

OLDEST, WIDTH = 7, 140
LETTERS = {"bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
           "uint64": "Q", "float16": "e", "float": "f", "double": "d", "bfloat16": "E"}
MANY = 2147483647
# Marked as removed at 18, where it was introduced, in favour of 21's; models of 18 to 20 do have it.
NOT_REMOVED = {("GroupNormalization", 18)}


def letters(types):
    """The letters of those of ONNX's types that etch has: "efd" for float16, float and double tensors."""
    found = {m.group(1) for m in map(re.compile(r"tensor\((\w+)\)$").match, types) if m}
    return "".join(letter for name, letter in LETTERS.items() if name in found)


def types_of(schema):
    """"T T I, I=iq T=efd": the type of each input, then what each type may be."""
    names = [i.type_str + ("" if i.is_homogeneous else "+") for i in schema.inputs]
    fixed = {name: letters([name]) for name in names if "(" in name}
    allowed = {c.type_param_str: letters(c.allowed_type_strs) for c in schema.type_constraints}
    variables = {name: allowed[name.rstrip("+")] for name in names if name.rstrip("+") in allowed}
    short = {name: letter for name, letter in fixed.items()}
    text = " ".join(short.get(name, name) for name in names)
    return text + "".join(f"{',' if i == 0 else ''} {v}={t}" for i, (v, t) in enumerate(sorted(variables.items())))


def facts(schema):
    if schema.deprecated and (schema.name, schema.since_version) not in NOT_REMOVED:
        return -2, -2, "", ""
    count = lambda n: -1 if n == MANY else n
    return count(schema.max_input), count(schema.max_output), " ".join(sorted(schema.attributes)), types_of(schema)


def rows(name, history):
    """One text for each row of the operator."""
    history = sorted(history, key=lambda s: s.since_version)
    first = max((s.since_version for s in history if s.since_version <= OLDEST), default=0)
    before = None
    for schema in history:
        now = facts(schema)
        if schema.since_version < first or now == before:
            continue
        before = now
        head = f"ONNX_SCHEMA({name}, {schema.since_version}, {now[0]}, {now[1]}, "
        line = f'{head}"{now[2]}", "{now[3]}")'
        yield line if len(line) <= WIDTH else "\n".join([head.rstrip()] + wrapped(now[2]) + [f'            "{now[3]}")'])


def wrapped(text):
    """The attributes of a long row, on lines of their own."""
    lines, indent = [""], " " * 12
    for word in text.split(" "):
        if len(lines[-1]) + len(word) > WIDTH - len(indent) - 4:
            lines.append("")
        lines[-1] += word + " "
    lines[-1] = lines[-1].rstrip(" ")
    return [f'{indent}"{line}"' for line in lines[:-1]] + [f'{indent}"{lines[-1]}",']


def main():
    by_name = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain in ("", "ai.onnx.preview.training"):
            by_name.setdefault(schema.name, []).append(schema)
    for name in sorted(sys.argv[1:]):
        for row in rows(name, by_name.get(name, [])):
            print(row)


main()
