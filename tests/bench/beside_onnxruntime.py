"""Times a shared library of emitted C and ONNX Runtime in turns, one pinned thread each, on the same random inputs.

  beside_onnxruntime.py MODEL.onnx LIBRARY.so FUNCTION ARENA_BYTES SECONDS INPUTS OUTPUTS     (these two: JSON, [[name, type, [size, ...]], ...])

Prints JSON: the least seconds of each, and the largest difference of an output relative to the largest number in it."""
import ctypes
import json
import os
import sys
import time

import numpy
import onnxruntime

ALIGNED = 64  # bytes


def aligned(shape, dtype):
    size = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
    block = numpy.zeros(size + ALIGNED, numpy.uint8)
    start = -block.ctypes.data % ALIGNED
    return block[start:start + size].view(dtype).reshape(shape)


def random_input(generator, shape, dtype):
    value = aligned(shape, dtype)
    if numpy.issubdtype(value.dtype, numpy.floating):
        value[...] = generator.random(shape)
    else:
        value[...] = generator.integers(0, 2 if value.dtype == bool else 10, shape)
    return value


def difference(got, want):
    got, want = got.astype(numpy.float64).ravel(), numpy.asarray(want).astype(numpy.float64).ravel()
    return float(numpy.abs(got - want).max() / max(1e-30, numpy.abs(want).max())) if got.size else 0.0


def main():
    model, library, function, arena_bytes, seconds, inputs, outputs = sys.argv[1:]
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    generator = numpy.random.default_rng(1)
    given = {name: random_input(generator, shape, dtype) for name, dtype, shape in json.loads(inputs)}
    results = [aligned(shape, dtype) for _, dtype, shape in json.loads(outputs)]
    arena = aligned([int(arena_bytes)], numpy.uint8)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in [*given.values(), *results]]
    run = getattr(ctypes.CDLL(library), function)
    arguments = [ctypes.c_void_p(arena.ctypes.data), ctypes.c_size_t(arena.size), *pointers]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    wanted = session.run(None, given)
    status = run(*arguments)
    if status != 0:
        sys.exit(f"{function} gave status {status}")

    own, theirs, end = [], [], time.monotonic() + float(seconds)
    while len(own) < 5 or (time.monotonic() < end and len(own) < 3000):
        start = time.perf_counter()
        run(*arguments)
        own.append(time.perf_counter() - start)
        start = time.perf_counter()
        session.run(None, given)
        theirs.append(time.perf_counter() - start)
    print(json.dumps({"etch": min(own), "onnxruntime": min(theirs), "difference": max(map(difference, results, wanted), default=0.0)}))


main()
