"""Widths by Python's own arithmetic: the rule of meta-llama/llama3's FeedForward, over a sweep of its arguments.

Prints one JSON list [d, multiple_of, multiplier or null, width] a line; tests/ffn-dim.test.js reads them.
"""
import json
import random


def width(d, multiple_of, multiplier):
    hidden = int(2 * (4 * d) / 3)
    if multiplier is not None:
        hidden = int(multiplier * hidden)
    return multiple_of * ((hidden + multiple_of - 1) // multiple_of)


def sweep():
    multiples = [1, 2, 3, 7, 32, 64, 256, 1000, 1024, 4096]
    multipliers = [None, 0.1, 0.3, 0.5, 1.0, 1.1, 1.3, 1.5, 2 / 3, 4 / 3, 2.7]
    for d in [*range(1, 100), 576, 2048, 4096, 8192, 16384]:
        for multiple_of in multiples:
            for multiplier in multipliers:
                yield d, multiple_of, multiplier
    rng = random.Random(1)
    for _ in range(10000):
        yield rng.randrange(1, 1 << rng.randrange(1, 28)), rng.randrange(1, 8192), rng.choice([None, rng.uniform(0.01, 3)])


for arguments in sweep():
    if 0 < (result := width(*arguments)) < 2**31:
        print(json.dumps([*arguments, result]))
