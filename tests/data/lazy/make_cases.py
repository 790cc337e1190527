# Writes tensor_cases.json: what numpy (or a plain loop) says about each Tensor method. Run: python3 make_cases.py
import itertools, json, math
import numpy as np

rng = np.random.default_rng(7)
cases = []

def enc(a):
    a = np.asarray(a)
    def one(v):
        if a.dtype == np.bool_: return int(v)
        if np.issubdtype(a.dtype, np.integer): return int(v)
        v = float(v)
        return v if math.isfinite(v) else ("nan" if math.isnan(v) else ("inf" if v > 0 else "-inf"))
    return {"dtype": str(a.dtype), "shape": list(a.shape), "data": [one(v) for v in a.ravel()]}

def case(name, inputs, expected):
    cases.append({"name": name, "inputs": [enc(i) for i in inputs], "expected": enc(expected)})

def f(*shape): return (rng.integers(-40, 40, shape) / 8).astype(np.float32)
def ints(*shape, lo=-20, hi=20, dtype=np.int32): return rng.integers(lo, hi, shape).astype(dtype)

# --- movement
x = f(2, 3, 4)
case("permute", [x], x.transpose(2, 0, 1))
case("reshape_after_permute", [x], x.transpose(1, 0, 2).reshape(6, 4))
y = f(3, 1); case("expand_front", [y], np.broadcast_to(y, (2, 3, 4)))
case("pad_value", [x], np.pad(x, ((0, 0), (1, 2), (2, 0)), constant_values=7))
case("pad_negative", [x], np.pad(x, ((0, 0), (0, 1), (0, 0)))[:, 1:, 1:3])
case("flip", [x], x[::-1, :, ::-1])
case("slice_step", [x], x[:, :, 3:0:-2])
case("slice_far", [x], x[:, -100:100, :])
case("slice_empty", [x], x[:, 2:1, :])
y = f(5, 7); case("stride", [y], y[::2, ::-3])
case("repeat", [x], np.tile(x, (2, 1, 2, 3)))
a, b, c = f(2, 3), f(2, 1), f(2, 4)
case("cat", [a, b, c], np.concatenate([a, b, c], 1))
many = [f(1 + i % 3, 2) for i in range(20)]
case("cat_20", many, np.concatenate(many, 0))
a, b = ints(2, 2, dtype=np.int8), ints(1, 2, lo=0, dtype=np.uint8)
case("cat_types", [a, b], np.concatenate([a.astype(np.int16), b.astype(np.int16)]))
z = np.array([-0.0, 1.0, np.nan, np.inf], np.float32)
case("cat_zeros", [z, z], np.concatenate([z, z]))
a, b = f(2, 3), f(2, 3); case("stack", [a, b], np.stack([a, b], -1))
case("diagonal", [y[:, :5]], np.diagonal(y[:, :5]))

# --- elementwise
u = np.array([-3.5, -1, -0.5, -0.0, 0, 0.25, 1, 2.75, 30, -30, np.nan, np.inf, -np.inf], np.float32)
U = u.astype(np.float64)
with np.errstate(all="ignore"):
    sig = 1 / (1 + np.exp(-U))
    erf = np.array([math.erf(v) if not math.isnan(v) else v for v in U])
    f32 = lambda v: np.asarray(v).astype(np.float32)
    case("relu", [u], np.where(u < 0, np.float32(0), u))  # -0.0 is not less than 0, so it stays
    case("abs", [u], np.abs(u))
    case("sign", [u], np.sign(u))
    case("sigmoid", [u], f32(sig))
    case("leaky_relu", [u], f32(np.where(U < 0, U * 0.125, U)))
    case("elu", [u], f32(np.where(U < 0, 0.5 * (np.exp(U) - 1), U)))
    case("selu", [u], f32(1.05070102214813232421875 * np.where(U < 0, 1.67326319217681884765625 * (np.exp(U) - 1), U)))
    case("celu", [u], f32(np.where(U < 0, 2 * (np.exp(U / 2) - 1), U)))
    case("gelu", [u], f32(0.5 * U * (1 + np.array([math.erf(v / math.sqrt(2)) for v in U]))))
    case("gelu_tanh", [u], f32(0.5 * U * (1 + np.tanh(math.sqrt(2 / math.pi) * (U + 0.044715 * U ** 3)))))
    case("silu", [u], f32(U * sig))
    case("hardswish", [u], f32(U * np.clip(U / 6 + 0.5, 0, 1)))
    case("softplus", [u], f32(np.logaddexp(U, 0)))
    case("softsign", [u[:11]], f32(U[:11] / (1 + np.abs(U[:11]))))
    case("mish", [u[:11]], f32(U[:11] * np.tanh(np.logaddexp(U[:11], 0))))
    case("clip", [u], np.clip(u, -1, 2))
    case("mul_zero", [u], u * np.float32(0))
    case("add_zero", [u], u + np.float32(0))
    case("pow_half", [u], f32([math.nan if v < 0 and v > -np.inf else math.pow(v, 0.5) for v in U]))  # not numpy: it says sqrt, which keeps -0.0
    case("pow_2", [u], u * u)
    case("pow_3", [u], f32(U ** 3))
    case("pow_minus_1", [u], np.float32(1) / u)
    case("pow_0", [u], np.ones_like(u))
    case("div_3", [u], u / np.float32(3))
    case("div_8", [u], u / np.float32(8))
v = ints(4, 5); w = ints(5); w[w == 0] = 3
case("int_div", [v, w], (np.abs(v) // np.abs(w)) * np.sign(v) * np.sign(w))
case("int_mod", [v, w], np.fmod(v, w))
case("int_mul_zero", [v], v * 0)
case("int_pow_3", [v], v ** 3)
a8, b8 = ints(6, lo=-128, hi=127, dtype=np.int8), ints(6, lo=0, hi=255, dtype=np.uint8)
case("promote_add", [a8, b8], a8.astype(np.int16) + b8.astype(np.int16))
case("int8_wraps", [a8], (a8 + a8).astype(np.int8))
m, n_ = ints(4, 5, lo=0, hi=2).astype(bool), ints(4, 5, lo=0, hi=2).astype(bool)
case("not_pad", [m], np.pad(~m, 1))
case("bool_add", [m, n_], m | n_)
e = f(3); case("exp_pad", [e], np.pad(f32(np.exp(e.astype(np.float64))), 2))
case("where_broadcast", [m, v[:, :1], w], np.where(m, v[:, :1], w))

# --- reductions
x = f(3, 4, 5)
case("sum_all", [x], x.sum())
case("sum_axes", [x], x.sum((0, 2), keepdims=True))
q = ints(3, 40, lo=100, hi=127, dtype=np.int8); case("sum_int8", [q], q.astype(np.int32).sum(1, dtype=np.int32))
h = f(2, 8).astype(np.float16); case("sum_half", [h], h.astype(np.float32).sum(1).astype(np.float16))
case("mean", [x], x.mean((1, 2)))
case("variance", [x], x.astype(np.float64).var(1).astype(np.float32))
case("variance_1", [x], x.astype(np.float64).var(1, ddof=1, keepdims=True).astype(np.float32))
big = np.array([[3, 0, 250], [2**63 + 5, 2**63 + 4, 2**64 - 1]], np.uint64)
case("min_uint64", [big], big.min(1)); case("max_uint64", [big], big.max(1))
neg = np.array([[-2**63, 5], [7, -9]], np.int64)
case("min_int64", [neg], neg.min(1)); case("max_int64", [neg], neg.max(0))
bad = np.array([[1, np.nan, 3], [-np.inf, -5, -np.inf], [np.inf, 2, np.inf]], np.float32)
case("max_nan", [bad], bad.max(1)); case("min_nan", [bad], bad.min(1))
case("argmax", [bad], bad.argmax(1)); case("argmin", [bad], bad.argmin(1))
t = ints(4, 6, lo=0, hi=3)
case("argmax_ties", [t], t.argmax(1)); case("argmax_last", [t], 5 - t[:, ::-1].argmax(1))
case("argmin_uint", [big], big.argmin(1))
case("prod", [v], v.astype(np.int64).prod(1).astype(np.int32))
case("all_bool", [m], m.min(1)); case("any_bool", [m], m.max(1))
X = x.astype(np.float64)
sm = np.exp(X - X.max(1, keepdims=True)); sm /= sm.sum(1, keepdims=True)
case("softmax", [x], sm.astype(np.float32)); case("log_softmax", [x], np.log(sm).astype(np.float32))
case("cumsum", [x], x.cumsum(1)); case("cumsum_exclusive", [x], x.cumsum(1) - x)
case("cumsum_reverse", [x], x[:, ::-1].cumsum(1)[:, ::-1])
case("layernorm", [x], ((X - X.mean((1, 2), keepdims=True)) / np.sqrt(X.var((1, 2), keepdims=True) + 1e-5)).astype(np.float32))
case("sum_empty", [np.zeros((2, 0, 3), np.float32)], np.zeros((2, 3), np.float32))
case("prod_empty", [np.zeros((2, 0), np.float32)], np.ones(2, np.float32))
case("max_empty", [np.zeros((2, 0), np.float32)], np.full(2, -np.inf, np.float32))

# --- products, windows
for name, sa, sb in [("matmul", (3, 4), (4, 5)), ("matmul_batch", (2, 1, 3, 4), (5, 4, 2)), ("matmul_vector", (4,), (3, 4, 2)), ("matmul_by_vector", (2, 3, 4), (4,)), ("dot", (6,), (6,))]:
    a, b = f(*sa), f(*sb); case(name, [a, b], a @ b)
a, b = ints(3, 4, dtype=np.int8), ints(4, 2, dtype=np.int8); case("matmul_int8", [a, b], a.astype(np.int32) @ b.astype(np.int32))
for name, eq, shapes in [("einsum_trace", "ii->", [(4, 4)]), ("einsum_bij", "bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]), ("einsum_dots", "...ij,...jk->...ik", [(2, 3, 4), (4, 2)]),
                         ("einsum_implicit", "ba,cb", [(2, 3), (4, 2)]), ("einsum_three", "i,ij,j->", [(3,), (3, 4), (4,)]), ("einsum_diag", "bii->bi", [(2, 3, 3)])]:
    ops = [f(*s) for s in shapes]; case(name, ops, np.einsum(eq, *ops))

def windows(x, kernel, stride, dilation, pads, value, extra=None):
    n = len(kernel); extra = extra or [0] * n
    P = [(0, 0)] * (x.ndim - n) + [(max(b, 0), max(e, 0) + ex) for (b, e), ex in zip(pads, extra)]
    cut = tuple([slice(None)] * (x.ndim - n) + [slice(max(-b, 0), s - max(-e, 0)) for (b, e), s in zip(pads, x.shape[-n:])])
    x = np.pad(x[cut], P, constant_values=value)
    out = [(s - (d * (k - 1) + 1)) // st + 1 for s, k, st, d in zip(x.shape[-n:], kernel, stride, dilation)]
    res = np.zeros(x.shape[:-n] + tuple(out) + tuple(kernel), x.dtype)
    for o in itertools.product(*map(range, out)):
        for k in itertools.product(*map(range, kernel)):
            at = tuple(oi * st + ki * d for oi, ki, st, d in zip(o, k, stride, dilation))
            res[(Ellipsis,) + o + k] = x[(Ellipsis,) + at]
    return res

def conv(x, w, b, stride, dilation, pads, groups):
    n = x.ndim - 2
    win = windows(x.astype(np.float64), w.shape[2:], stride, dilation, pads, 0)
    N, C = x.shape[:2]; M = w.shape[0]; out = win.shape[2:2 + n]
    res = np.zeros((N, M) + out)
    for m in range(M):
        g = m // (M // groups); cg = C // groups
        part = win[:, g * cg:(g + 1) * cg] * w[m].astype(np.float64).reshape((1, cg) + (1,) * n + w.shape[2:])
        res[:, m] = part.sum((1,) + tuple(range(2 + n, 2 + 2 * n)))
    if b is not None: res += b.reshape((1, M) + (1,) * n)
    return res.astype(np.float32)

for name, xs, ws, st, di, pads, g in [
    ("conv_1d", (2, 3, 9), (4, 3, 3), [2], [1], [(1, 1)], 1),
    ("conv_2d", (2, 3, 6, 7), (4, 3, 3, 3), [1, 1], [1, 1], [(1, 1), (1, 1)], 1),
    ("conv_2d_stride", (1, 2, 8, 9), (3, 2, 3, 2), [2, 3], [1, 1], [(0, 1), (2, 0)], 1),
    ("conv_2d_dilated", (1, 2, 8, 9), (3, 2, 3, 2), [1, 2], [2, 3], [(1, 1), (0, 2)], 1),
    ("conv_2d_negative_pads", (1, 2, 8, 9), (3, 2, 3, 2), [1, 1], [1, 1], [(-1, 1), (0, -2)], 1),
    ("conv_depthwise", (1, 4, 5, 5), (4, 1, 3, 3), [1, 1], [1, 1], [(1, 1), (1, 1)], 4),
    ("conv_groups", (1, 4, 5, 5), (6, 2, 2, 2), [1, 1], [1, 1], [(0, 0), (0, 0)], 2),
    ("conv_1x1", (2, 3, 4, 4), (5, 3, 1, 1), [1, 1], [1, 1], [(0, 0), (0, 0)], 1),
    ("conv_3d", (1, 2, 4, 5, 3), (2, 2, 2, 3, 2), [1, 2, 1], [1, 1, 1], [(0, 1), (1, 1), (0, 0)], 1)]:
    x, w, b = f(*xs), f(*ws), f(ws[0])
    case(name, [x, w, b], conv(x, w, b, st, di, pads, g))

def conv_transpose(x, w, b, stride, dilation, pads, outpads, groups):
    n = x.ndim - 2; N, C = x.shape[:2]; Mg = w.shape[1]; M = Mg * groups
    full = [(x.shape[2 + i] - 1) * stride[i] + dilation[i] * (w.shape[2 + i] - 1) + 1 + outpads[i] for i in range(n)]
    res = np.zeros([N, M] + full)
    for c in range(C):
        g = c // (C // groups)
        for i in itertools.product(*map(range, x.shape[2:])):
            for k in itertools.product(*map(range, w.shape[2:])):
                at = tuple(ii * s + kk * d for ii, kk, s, d in zip(i, k, stride, dilation))
                for m in range(Mg):
                    res[(slice(None), g * Mg + m) + at] += x[(slice(None), c) + i].astype(np.float64) * w[(c, m) + k]
    res = res[(slice(None), slice(None)) + tuple(slice(p[0], s - p[1]) for p, s in zip(pads, full))]
    return (res + b.reshape((1, M) + (1,) * n)).astype(np.float32)

for name, xs, ws, st, di, pads, op, g in [
    ("conv_transpose", (1, 2, 3, 4), (2, 3, 3, 3), [2, 2], [1, 1], [(1, 1), (0, 1)], [1, 0], 1),
    ("conv_transpose_groups", (2, 4, 3), (4, 2, 2), [3], [1], [(0, 0)], [0], 2),
    ("conv_transpose_dilated", (1, 2, 3, 3), (2, 1, 2, 2), [1, 1], [2, 2], [(0, 0), (0, 0)], [0, 0], 1)]:
    x, w, b = f(*xs), f(*ws), f(ws[1] * g)
    case(name, [x, w, b], conv_transpose(x, w, b, st, di, pads, op, g))

x = f(1, 2, 7, 8); k, s = (3, 2), (2, 3); p = [(1, 1), (0, 1)]
W = lambda value, extra=None, src=None: windows(x if src is None else src, k, s, (1, 1), p, value, extra)
case("max_pool", [x], W(-np.inf).max((-2, -1)))
case("average_pool", [x], (W(0).astype(np.float64).sum((-2, -1)) / W(0, None, np.ones_like(x)).sum((-2, -1))).astype(np.float32))
case("average_pool_with_pads", [x], W(0).mean((-2, -1)))
xi = ints(1, 1, 6, 6, lo=-128, hi=0, dtype=np.int8)
case("max_pool_int8", [xi], windows(xi, (3, 3), (1, 1), (1, 1), [(1, 1), (1, 1)], -128).max((-2, -1)))
# rounding up: 6 elements, kernel 3, stride 2 -> 3 windows, the last over 2 elements
y = f(1, 1, 6)
case("max_pool_ceil", [y], np.stack([y[..., 0:3].max(-1), y[..., 2:5].max(-1), y[..., 4:6].max(-1)], -1))
case("average_pool_ceil", [y], np.stack([y[..., 0:3].mean(-1), y[..., 2:5].mean(-1), y[..., 4:6].mean(-1)], -1))
# 5 elements with one pad before: with kernel 2 and stride 3 a window starts at 6 = in no element, so it does not count
y5 = f(1, 1, 5)
case("max_pool_ceil_dropped", [y5], np.stack([y5[..., 0:1].max(-1), y5[..., 2:4].max(-1)], -1))
case("lp_pool", [x], np.sqrt((W(0).astype(np.float64) ** 2).sum((-2, -1))).astype(np.float32))
s, b, mu, var = f(2), f(2), f(2), np.abs(f(2)) + 1
r = lambda a: a.astype(np.float64).reshape(1, 2, 1, 1)
case("batchnorm", [x, s, b, mu, var], ((x - r(mu)) / np.sqrt(r(var) + 1e-3) * r(s) + r(b)).astype(np.float32))

# --- indexing
x = f(3, 6, 2); x[0, 0, 0] = np.inf; x[1, 1, 1] = np.nan
i = np.array([[0, 5], [-1, 2]], np.int64)
case("gather", [x, i], np.take(x, i, 1))
case("gather_scalar", [x, np.array(-2, np.int32)], np.take(x, -2, 1))
case("gather_run", [x, np.array([4, 2, 0], np.int64)], x[:, [4, 2, 0]])
L = np.array(list(rng.integers(-6, 6, 40)), np.int64)
case("gather_long", [x, L], np.take(x, L, 1))
case("gather_bool", [m, np.array([1, 1, 0], np.int32)], m[:, [1, 1, 0]])
g = rng.integers(-6, 6, (2, 4, 2)).astype(np.int64)
case("gather_elements", [x, g], np.take_along_axis(x[:2], np.where(g < 0, g + 6, g), 1))
case("one_hot", [np.array([2, 0, 5], np.int64)], np.eye(6, dtype=bool)[[2, 0, 5]])
y = f(2, 4, 5); case("triu", [y], np.triu(y, 1)); case("tril", [y], np.tril(y, -1))

for name, at in [("gather_repeat", np.repeat(np.arange(6), 3)), ("gather_tile", np.tile([5, 3, 1], 4)), ("gather_tile_repeat", np.tile(np.repeat([0, 2], 2), 3))]:
    case(name, [x, at.astype(np.int64)], np.take(x, at, 1))
q, k = ints(1, 2, 5, 5, lo=-128, hi=127, dtype=np.int8), ints(3, 2, 3, 3, lo=-128, hi=127, dtype=np.int8)
case("conv_int8", [q, k], sum(windows(q.astype(np.int32), (3, 3), (1, 1), (1, 1), [(1, 1), (1, 1)], 0)[:, None, c] * k[None, :, c, None, None].astype(np.int32) for c in range(2)).sum((-2, -1), dtype=np.int32))
h, k = f(2, 4).astype(np.float16), f(4, 3).astype(np.float16)
case("matmul_half", [h, k], (h.astype(np.float64) @ k.astype(np.float64)).astype(np.float16))

with open("tensor_cases.json", "w") as out:
    out.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
