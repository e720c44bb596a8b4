#!/usr/bin/env python3
"""What the page must show, computed from the fixtures in float64 by Python alone: no package, and none of our code.

Usage: python3 tests/browser/make_expected.py > tests/browser/expected.json      (about 20 s)

For a few places (layer, prompt, token) it decodes the BF16 weights, applies SwiGLU to the captured x, and writes the
class counts at the default threshold, the pinned unit's numbers, the change of the output when sets of gates are held
shut, points of the four error curves, and the same weights' classes and output under every other activation.
"""
import json
import math
import os
import struct
import sys
from array import array

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fixtures")
NAME = "smollm2-135m-instruct"
D, D_FF, TAU, KEPT = 576, 1536, 0.05, 512
DIP = -1.278464542761074  # where silu is lowest
PLACES = [(24, "chat", 41, 1005), (5, "code", 10, 588), (11, "english", 0, 1229)]


def tensor(path, name):
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        entry = json.loads(f.read(size))[name]
        begin, end = entry["data_offsets"]
        f.seek(8 + size + begin)
        data = f.read(end - begin)
    if entry["dtype"] == "F32":
        return array("f", data)
    widened = array("I", (bits << 16 for bits in array("H", data)))
    return array("f", widened.tobytes())


def sigmoid(z):
    return 1 / (1 + math.exp(-z)) if z > -700 else 0.0


def silu(z):
    return z * sigmoid(z)


def gelu_tanh(z):
    return z / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z ** 3)))


def gelu(z):
    return z / 2 * math.erfc(-z / math.sqrt(2))


# Each activation, and the g below which a closed gate counts as shut: the dip; for relu where it is flat; a sigmoid only
# ever closes by saturating, and a gate without an activation never does.
ACTS = {"silu": (silu, DIP), "gelu_tanh": (gelu_tanh, -0.7524614), "gelu": (gelu, -0.7517916),
        "relu": (lambda z: max(z, 0.0), 0.0), "sigmoid": (sigmoid, math.inf), "none": (lambda z: z, -math.inf)}


def norm(v):
    return math.sqrt(math.fsum(e * e for e in v))


def product(weight, rows, columns, x):
    return [math.fsum(map(float.__mul__, map(float, weight[r * columns:(r + 1) * columns]), x)) for r in range(rows)]


def place(layer, prompt, token, unit):
    weights = os.path.join(FIXTURES, f"{NAME}-layer{layer:02d}.safetensors")
    gate_w, up_w, down_w = (tensor(weights, f"model.layers.{layer}.mlp.{n}_proj.weight") for n in ("gate", "up", "down"))
    xs = tensor(os.path.join(FIXTURES, f"{NAME}-hidden.safetensors"), f"layer{layer:02d}/{prompt}/x")
    x = [float(v) for v in xs[token * D:(token + 1) * D]]
    g, u = product(gate_w, D_FF, D, x), product(up_w, D_FF, D, x)
    a = [silu(z) for z in g]
    h = [p * q for p, q in zip(a, u)]
    columns = [[float(v) for v in down_w[j::D_FF]] for j in range(D_FF)]
    norms = [norm(column) for column in columns]
    c = [abs(h[j]) * norms[j] for j in range(D_FF)]

    def vector(units):
        return [math.fsum(h[j] * columns[j][i] for j in units) for i in range(D)]

    y = vector(range(D_FF))

    def error(units):
        return norm(vector(units)) / norm(y)

    by_c = sorted(range(D_FF), key=lambda j: (c[j], j))
    scores = {"a": a, "u": u, "h": h, "c": c}
    curves = {}
    for name, values in scores.items():
        order = sorted(range(D_FF), key=lambda j: (abs(values[j]), j))
        curves[name] = {str(k): error(order[:k]) for k in (384, 768, 1152)}
    shut = sum(abs(v) < TAU and z < DIP for v, z in zip(a, g))
    closed = [j for j in range(D_FF) if abs(a[j]) < TAU]
    leaking = [j for j in range(D_FF) if a[j] <= -TAU]
    along = h[unit] * math.fsum(map(float.__mul__, columns[unit], y)) / norm(y) ** 2
    acts = {}
    for name, (act, shut_below) in ACTS.items():
        b = [act(z) for z in g]
        off = [math.fsum((b[j] * u[j] - h[j]) * columns[j][i] for j in range(D_FF)) for i in range(D)]
        closed_here = [j for j in range(D_FF) if abs(b[j]) < TAU]
        negative = 0 if name == "none" else sum(v <= -TAU for v in b)
        shut_here = sum(g[j] < shut_below for j in closed_here)
        acts[name] = {"shut": shut_here, "crossing": len(closed_here) - shut_here, "leaking": negative,
                      "open": D_FF - len(closed_here) - negative, "change": norm(off) / norm(y)}
    return {
        "layer": layer, "prompt": prompt, "token": token, "unit": unit,
        "counts": {"shut": shut, "crossing": len(closed) - shut, "leaking": len(leaking),
                   "open": D_FF - len(closed) - len(leaking), "negative": sum(z < 0 for z in g)},
        "pinned": {"g": g[unit], "a": a[unit], "u": u[unit], "h": h[unit], "d": norms[unit], "c": c[unit],
                   "rank": 1 + sum(v > c[unit] for v in c), "along": along, "alone": error([unit])},
        "sets": {"closed": error(closed), "leaking": error(leaking),
                 "negative": error([j for j in range(D_FF) if g[j] < 0]), "least": error(by_c[:D_FF - KEPT])},
        "curves": curves,
        "acts": acts,
    }


json.dump([place(*where) for where in PLACES], sys.stdout, indent=1)
print()
