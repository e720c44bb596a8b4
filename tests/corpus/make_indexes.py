"""Makes indexes.json: folders of shards with an index, good and bad, each with what must come of it.

Needs: safetensors==0.8.0 numpy==2.4.6 (pip). Run: python tests/corpus/make_indexes.py
The index is read by Python's own json, the shards by the reference package; the rules between them (which names may be
followed, what an index and its shards must agree on) are spelt out in verdict(). Every folder has at most one fault.
The cases are in index_cases.py; tests/indexes.test.js serves the folders and compares.
"""

import json
import os
import re
import tempfile

import safetensors

from index_cases import all_folders
from make_corpus import KINDS

HERE = os.path.dirname(os.path.abspath(__file__))


def no_constant(word):
    raise ValueError(f"{word} is no JSON")


def is_below(name):
    """Whether a name can only lead to a file below the folder, on any server or disk."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", name) or "\\" in name or "\0" in name or "%2e" in name.lower():
        return False
    return all(part not in ("", ".", "..") for part in name.split("/"))


def reference_kind(path):
    """The reference's kind of error for a shard, or None; and its tensors."""
    try:
        with open(path, "rb") as file:
            entries = safetensors.deserialize(file.read())
    except safetensors.SafetensorError as error:
        return next(kind for words, kind in KINDS.items() if words in str(error)), {}
    tensors = {}
    for name, entry in entries:
        shape = ",".join(map(str, entry["shape"]))
        tensors[name] = [entry["dtype"], shape, bytes(entry["data"]).hex()]
    return None, tensors


def verdict(index, folder):
    try:
        root = json.loads(index, parse_constant=no_constant)
    except ValueError:
        return {"kind": "json"}
    if not isinstance(root, dict):
        return {"kind": "json"}
    names = root.get("weight_map")
    if not isinstance(names, dict) or not names or not all(isinstance(s, str) for s in names.values()):
        return {"kind": "index"}
    for shard in names.values():
        if not is_below(shard):
            return {"kind": "outside", "names": [shard]}
    found = {}
    for tensor, shard in names.items():
        path = os.path.join(folder, shard)
        if not os.path.isfile(path):
            return {"kind": "missing-shard", "names": [shard, tensor]}
        kind, tensors = reference_kind(path)
        if kind:
            return {"kind": f"shard: {kind}", "names": [shard]}
        if tensor not in tensors:
            return {"kind": "missing-tensor", "names": [shard, tensor]}
        found[tensor] = tensors[tensor]
    return {"kind": "ok", "tensors": found}


def main():
    folders = []
    for name, index, files in all_folders():
        with tempfile.TemporaryDirectory() as folder:
            for member, content in files.items():
                path = os.path.join(folder, member)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(content)
            entry = {"name": name, "index": index.hex(), "files": {m: c.hex() for m, c in files.items()}}
            folders.append({**entry, "verdict": verdict(index, folder)})
    made = {"reference": f"safetensors {safetensors.__version__}", "folders": folders}
    with open(os.path.join(HERE, "indexes.json"), "w") as file:
        json.dump(made, file, indent=0, ensure_ascii=True)
        file.write("\n")
    print(len(folders), "folders")


if __name__ == "__main__":
    main()
