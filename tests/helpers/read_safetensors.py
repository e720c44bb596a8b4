"""Prints what the reference safetensors package reads from a file, as JSON: name -> [dtype, shape, bytes in hexadecimal].

Exits with status 3 if the package is not installed. Called by tests/parameters.test.js.
"""
import json
import sys

try:
    from safetensors import deserialize
except ImportError:
    sys.exit(3)

with open(sys.argv[1], "rb") as file:
    tensors = deserialize(file.read())
print(json.dumps({name: [t["dtype"], list(t["shape"]), bytes(t["data"]).hex()] for name, t in tensors}))
