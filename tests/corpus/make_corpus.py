"""Makes corpus.json: hostile and odd safetensors files, each with the verdict of the reference parser.

Needs: safetensors==0.8.0 numpy==2.4.6 (pip). Run: python tests/corpus/make_corpus.py
Every file is written out and given to the reference; its verdict, kind of error and message are stored, and for a file
it accepts the tensors and metadata that it read. Where this project departs from the reference on purpose the entry
says so in `departs`. The cases, by rule of the format, begin in cases.py; this file knows how they are stored.

A file is a list of parts: a string is UTF-8 text, {"hex"} bytes, {"repeat", "times"} a text many times,
{"each", "times", "join"} a text once for every i with {i} replaced. `header` parts get their length as prefix;
`raw` parts are the whole file.
"""

import json
import os
import struct
import tempfile

import safetensors

from cases import all_cases

HERE = os.path.dirname(os.path.abspath(__file__))

KINDS = {
    "header too small": "too-small",
    "header too large": "too-large",
    "invalid header length": "header-length",
    "invalid UTF-8 in header": "utf8",
    "invalid JSON in header": "json",
    "invalid offset for tensor": "offset",
    "overflow computing buffer size": "overflow",
    "The slice is slicing for subbytes": "misaligned",
    "invalid shape, data type, or offset": "size-mismatch",
    "incomplete metadata": "incomplete",
}
LARGE = 100  # more tensors or pairs of metadata than this are counted, not listed


def expand_part(part):
    if isinstance(part, str):
        return part.encode()
    if "hex" in part:
        return bytes.fromhex(part["hex"])
    if "repeat" in part:
        return part["repeat"].encode() * part["times"]
    each = (part["each"].replace("{i}", str(i)) for i in range(part["times"]))
    return part["join"].join(each).encode()


def expand(parts):
    return b"".join(expand_part(part) for part in parts)


def file_bytes(case):
    if "raw" in case:
        return expand(case["raw"])
    header = expand(case["header"])
    return struct.pack("<Q", len(header)) + header + expand(case.get("data", []))


def kind_of(message):
    text = message.removeprefix("Error while deserializing: ")
    for start, kind in KINDS.items():
        if text.startswith(start):
            return kind
    raise ValueError("a message of the reference that has no kind: " + message)


def read_by_reference(data):
    """(tensors, metadata): name -> [dtype, shape, data] as text; raises SafetensorError."""
    tensors = {
        name: [tensor["dtype"], ",".join(map(str, tensor["shape"])), bytes(tensor["data"]).hex()]
        for name, tensor in sorted(safetensors.deserialize(data))
    }
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        with safetensors.safe_open(file.name, "np") as opened:
            metadata = opened.metadata()
    return tensors, dict(sorted((metadata or {}).items()))


def refusal_message(data):
    try:
        safetensors.deserialize(data)
    except safetensors.SafetensorError as error:
        return str(error)
    raise ValueError("accepted and refused by turns")


def verdict_of(data):
    try:
        tensors, metadata = read_by_reference(data)
    except safetensors.SafetensorError as error:
        message = str(error)
        if "invalid offset" in message:  # of tensors at the same place it names either, at random
            message = min(message, *(refusal_message(data) for _ in range(30)))
        return {"kind": kind_of(message), "message": message[:200]}
    if len(tensors) > LARGE or len(metadata) > LARGE:
        return {"kind": "ok", "tensorCount": len(tensors), "pairCount": len(metadata)}
    return {"kind": "ok", "tensors": tensors, "metadata": metadata}


def main():
    names = set()
    lines = []
    for case in all_cases():
        assert case["name"] not in names, case["name"]
        names.add(case["name"])
        entry = {**case, "reference": verdict_of(file_bytes(case))}
        lines.append(json.dumps(entry, separators=(",", ":"), ensure_ascii=True))
    head = f'{{"reference":"safetensors {safetensors.__version__}","files":[\n'
    with open(os.path.join(HERE, "corpus.json"), "w", encoding="ascii") as out:
        out.write(head + ",\n".join(lines) + "\n]}\n")
    print(len(lines), "files")


if __name__ == "__main__":
    main()
