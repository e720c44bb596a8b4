#!/usr/bin/env python3
"""What the page must show, computed from the fixtures in float64 by Python alone: no package, and none of our code.

Usage: python3 tests/browser/make_expected.py > tests/browser/expected.json      (about a minute)

For a few places (layer, prompt, token) it decodes the BF16 weights, applies SwiGLU to the captured x, and writes the
class counts at the default threshold, the pinned unit's numbers, pi of some units, the units by cosine class, the change of the output when sets of gates are held
shut, points of the four error curves, and the same weights' classes and output under every other activation. Then the
layer's measures over all tokens, what the unit's weights read and write, and two gradients through this token.
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


def quantile(values, share):
    """numpy's default: between two values, linearly."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    return ordered[low] + (at - low) * (ordered[math.ceil(at)] - ordered[low])


def measures(g, u, a, norms, columns):
    """One token: shares of units by class; of sum c and of what up offers; the errors of two sets; spread and half."""
    h = [p * q for p, q in zip(a, u)]
    c = [abs(v) * n for v, n in zip(h, norms)]
    offers = [abs(v) * n for v, n in zip(u, norms)]
    y = [math.fsum(map(float.__mul__, h, row)) for row in zip(*columns)]
    closed = [j for j in range(D_FF) if abs(a[j]) < TAU]
    leaking = [j for j in range(D_FF) if a[j] <= -TAU]

    def error(units):
        kept = [0.0] * D_FF
        for j in units:
            kept[j] = h[j]
        return norm([math.fsum(map(float.__mul__, kept, row)) for row in zip(*columns)]) / norm(y)

    total, reached, half = math.fsum(c), 0.0, 0
    for value in sorted(c, reverse=True):
        if reached >= total / 2:
            break
        reached, half = reached + value, half + 1
    return {
        "closed": len(closed) / D_FF, "leaking": len(leaking) / D_FF,
        "open": 1 - (len(closed) + len(leaking)) / D_FF,
        "delivered": math.fsum(c[j] for j in closed) / total, "leaked": math.fsum(c[j] for j in leaking) / total,
        "held": math.fsum(offers[j] for j in closed) / math.fsum(offers),
        "errorClosed": error(closed), "errorNegative": error([j for j in range(D_FF) if g[j] < 0]),
        "spread": total ** 2 / math.fsum(v * v for v in c), "half": half,
    }


def over_tokens(xs, tokens, gate_w, up_w, norms, columns):
    """Over every token but the first: means of the measures, medians of the errors; the quantiles of |a|; how many units
    keep one class."""
    rows, sizes = [], []
    classes = [set() for _ in range(D_FF)]
    for t in range(1, tokens):
        x = [float(v) for v in xs[t * D:(t + 1) * D]]
        g, u = product(gate_w, D_FF, D, x), product(up_w, D_FF, D, x)
        a = [silu(z) for z in g]
        sizes += map(abs, a)
        for j in range(D_FF):
            classes[j].add("open" if a[j] >= TAU else "leaking" if a[j] <= -TAU else "closed")
        rows.append(measures(g, u, a, norms, columns))
    layer = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        layer[name] = quantile(values, 0.5) if name.startswith("error") else math.fsum(values) / len(values)
    habits = {name: sum(kinds == {name} for kinds in classes) for name in ("closed", "leaking", "open")}
    return layer, [quantile(sizes, share) for share in (0.5, 0.7, 0.9)], habits


def cosine(p, q):
    return math.fsum(map(float.__mul__, p, q)) / (norm(p) * norm(q))


def largest(values, count=8):
    order = sorted(range(len(values)), key=lambda k: (-abs(values[k]), k))
    return [[k, values[k]] for k in order[:count]]


def weights_of_unit(unit, x, gate_w, up_w, column, hidden):
    gate, up = ([float(v) for v in w[unit * D:(unit + 1) * D]] for w in (gate_w, up_w))
    return {
        "gate": largest([w * v for w, v in zip(gate, x)]), "up": largest([w * v for w, v in zip(up, x)]),
        "outputs": largest([hidden * v for v in column]),
        "cosines": {"gateDown": cosine(gate, column), "upDown": cosine(up, column), "gateUp": cosine(gate, up)},
    }


# Gerstner and Schuetze's classes of a unit, in the page's order, and the |cos| from which two vectors count as aligned.
IO_CLASSES = ["strengthening", "conditional strengthening", "proportional change", "orthogonal", "conditional weakening",
              "weakening"]
ALIGNED = 0.5


def io_class(gate, up, column):
    aligned = abs(cosine(gate, column)) >= ALIGNED
    with_up = cosine(up, column)
    if abs(with_up) >= ALIGNED:
        kind = "strengthening" if with_up > 0 else "weakening"
        return (kind if aligned else "conditional " + kind), with_up
    return ("proportional change" if aligned else "orthogonal"), with_up


def io_classes(gate_w, up_w, columns):
    """How many units are of each class, and the units in the page's order: grouped, then by cos(up row, column), falling."""
    kinds = []
    for j in range(D_FF):
        name, with_up = io_class(gate_w[j * D:(j + 1) * D], up_w[j * D:(j + 1) * D], columns[j])
        kinds.append((IO_CLASSES.index(name), -with_up, j))
    order = [j for _, _, j in sorted(kinds)]
    counts = {name: sum(k == i for k, _, _ in kinds) for i, name in enumerate(IO_CLASSES)}
    return {"counts": counts, "first": order[:5], "last": order[-5:]}


def gradients(direction, g, u, a, columns, unit):
    """Of y along a direction of length 1, with respect to h, u and g: sums of magnitudes by class, and one unit's."""
    arriving = [math.fsum(map(float.__mul__, column, direction)) for column in columns]
    to_up = [s * v for s, v in zip(arriving, a)]
    to_gate = [s * w * (sigmoid(z) * (1 + z * (1 - sigmoid(z)))) for s, w, z in zip(arriving, u, g)]
    sums = {}
    for stage, values in (("arriving", arriving), ("up", to_up), ("gate", to_gate)):
        parts = [0.0] * 4
        for j in range(D_FF):
            kind = 3 if a[j] >= TAU else 2 if a[j] <= -TAU else 0 if g[j] < DIP else 1
            parts[kind] += abs(values[j])
        sums[stage] = parts
    return {"sums": sums, "unit": [arriving[unit], to_up[unit], to_gate[unit]]}


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
    pi = [h[j] * math.fsum(map(float.__mul__, columns[j], y)) / norm(y) ** 2 for j in range(D_FF)]
    means, quantiles, habits = over_tokens(xs, len(xs) // D, gate_w, up_w, norms, columns)
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
                   "rank": 1 + sum(v > c[unit] for v in c), "along": pi[unit], "alone": error([unit])},
        "sets": {"closed": error(closed), "leaking": error(leaking),
                 "negative": error([j for j in range(D_FF) if g[j] < 0]), "least": error(by_c[:D_FF - KEPT])},
        "curves": curves,
        "pi": {"largest": max(map(abs, pi)), "negative": sum(v < 0 for v in pi),
               "some": [[j, pi[j]] for j in range(0, D_FF, 64)]},
        "ioClasses": io_classes(gate_w, up_w, columns),
        "acts": acts,
        "quantiles": quantiles, "habits": habits, "measures": {"token": measures(g, u, a, norms, columns), "layer": means},
        "weights": weights_of_unit(unit, x, gate_w, up_w, columns[unit], h[unit]),
        "gradients": {
            "y": gradients([v / norm(y) for v in y], g, u, a, columns, unit),
            "c507": gradients([float(i == 507) for i in range(D)], g, u, a, columns, unit),
        },
    }


json.dump([place(*where) for where in PLACES], sys.stdout, indent=1)
print()
