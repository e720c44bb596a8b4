"""Mutated files of the corpus, read by the reference parser and by src/core/safetensors.c: every verdict, kind of error
and table must be the same, but where the project departs from the reference on purpose.

Needs: safetensors==0.8.0 numpy==2.4.6 (pip). Run: python tests/fuzz/differential.py [files = 1000000] [seed = 1]
Builds the reader as a shared library by build.sh. Prints what was counted; ends with 1 after an unexplained difference,
whose file it leaves in build/fuzz/.
"""

import collections
import ctypes
import json
import os
import random
import struct
import subprocess
import sys

import safetensors

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "corpus"))
sys.dont_write_bytecode = True

from mutate import mutate  # noqa: E402

from case_parts import DTYPES  # noqa: E402
from cases import all_cases  # noqa: E402
from make_corpus import file_bytes, kind_of  # noqa: E402

sys.set_int_max_str_digits(0)

KINDS = ["ok", "too-small", "too-large", "header-length", "utf8", "json", "duplicate", "offset", "overflow",
         "misaligned", "size-mismatch", "incomplete"]  # fmt: skip
LAYOUT = {"offset", "overflow", "misaligned", "size-mismatch"}
ROOM = 1 << 20
SEED_BYTES = 2048


class Reader:
    """src/core/safetensors.c through ctypes; the offsets are those of safetensors.h."""

    def __init__(self):
        library = os.path.join(ROOT, "build", "fuzz", "verdict.so")
        core = os.path.join(ROOT, "src", "core")
        files = [f"src/core/{name}" for name in sorted(os.listdir(core))
                 if name.startswith(("json", "safetensors")) and name.endswith(".c")]  # fmt: skip
        build = ["bash", "build.sh", "shared", "cc", library, "tests/fuzz/verdict.c", *files]
        subprocess.run(build, cwd=ROOT, check=True)
        self.call = ctypes.CDLL(library).verdict
        self.call.restype = ctypes.c_uint32
        self.tables = ctypes.create_string_buffer(ROOM)
        self.error = ctypes.create_string_buffer(48)

    def read(self, data):
        """(kind, tables): tables as read_by_reference has them where the file was accepted."""
        room, size = ctypes.c_uint64(ROOM), ctypes.c_uint64(len(data))
        kind = KINDS[self.call(self.tables, room, self.error, data, size)]
        return kind, (self.tensors(data), self.metadata()) if kind == "ok" else None

    def tensors(self, data):
        raw = self.tables.raw
        start, _, count, _, tensors, _, dims, _, pool, _ = struct.unpack_from("<QQ8I", raw)
        names = list(DTYPES)
        found = {}
        for i in range(count):
            begin, end, name, length, dtype, rank, first = struct.unpack_from("<QQ5I", raw, tensors + 48 * i)
            shape = struct.unpack_from(f"<{rank}Q", raw, dims + 8 * first)
            text = raw[pool + name : pool + name + length].decode()
            found[text] = (names[dtype], list(shape), data[start + begin : start + end])
        return found

    def metadata(self):
        raw = self.tables.raw
        count, pairs, pool = (struct.unpack_from("<I", raw, at)[0] for at in (20, 36, 40))
        found = {}
        for i in range(count):
            key, key_length, value, length = struct.unpack_from("<4I", raw, pairs + 24 * i)
            text = raw[pool + key : pool + key + key_length].decode()
            found[text] = raw[pool + value : pool + value + length].decode()
        return found


def read_by_reference(data):
    """(kind, (tensors, metadata)): name -> (dtype, shape, data), and the pairs, which only its files know: Python's."""
    try:
        read = safetensors.deserialize(data)
    except safetensors.SafetensorError as error:
        return kind_of(str(error)), None
    tensors = {name: (t["dtype"], t["shape"], bytes(t["data"])) for name, t in read}
    header = data[8 : 8 + int.from_bytes(data[:8], "little")]
    return "ok", (tensors, json.loads(header).get("__metadata__") or {})


class Pairs(list):
    """A JSON object as it stands in the text: its entries, repeated ones too."""


def departures(data):
    """What a file has of the three things that this project refuses on purpose."""
    length = int.from_bytes(data[:8], "little")
    try:
        root = json.loads(data[8 : 8 + length].decode(), object_pairs_hook=Pairs)
    except (ValueError, RecursionError):
        return set()
    found = set()
    names = [name for name, _ in root]
    if len(set(names)) < len(names):
        found.add("duplicate")
    for name, value in root:
        if name == "__metadata__":
            keys = [key for key, _ in value or []]
            if len(set(keys)) < len(keys):
                found.add("duplicate")
        elif not isinstance(value, Pairs):
            found.add("record-as-array")
        elif any(key == "dtype" and isinstance(inner, Pairs) for key, inner in value):
            found.add("dtype-as-object")
    return found


def explain(data, ours, reference):
    """Why the two kinds differ, or None."""
    found = departures(data)
    if ours == "duplicate" and "duplicate" in found:
        return "duplicate"
    if ours == "json" and found & {"record-as-array", "dtype-as-object"}:
        return "array or object of serde"
    if {ours, reference} <= LAYOUT and any(read_by_reference(data)[0] == ours for _ in range(64)):
        return "tie: the reference takes tensors of the same offsets in a random order"
    return None


def compare(reader, data):
    """(outcome, explanation): explanation None if there is nothing to explain, '' if there is none to be had."""
    reference, theirs = read_by_reference(data)
    kind, ours = reader.read(data)
    if kind != reference:
        return f"{kind} for {reference}", explain(data, kind, reference) or ""
    return kind, None if ours == theirs else ""


def seed_files():
    """The small files of the corpus; those that are accepted four times, since most changes break something."""
    cases = [case for case in all_cases() if "100000000" not in case["name"] and "500000" not in case["name"]]
    files = [data for data in map(file_bytes, cases) if len(data) <= SEED_BYTES]
    return files + 3 * [data for data in files if read_by_reference(data)[0] == "ok"]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rng = random.Random(seed)
    seeds = seed_files()
    reader = Reader()
    agreed, explained = collections.Counter(), collections.Counter()
    unexplained = 0
    for i in range(count):
        data = mutate(rng, seeds)
        outcome, why = compare(reader, data)
        if why is None:
            agreed[outcome] += 1
        elif why:
            explained[f"{outcome}: {why}"] += 1
        else:
            unexplained += 1
            path = os.path.join(ROOT, "build", "fuzz", f"difference-{seed}-{i}")
            with open(path, "wb") as file:
                file.write(data)
            print("UNEXPLAINED", outcome, path)
    print(f"{count} files, seed {seed}: {sum(agreed.values())} agreed {dict(agreed.most_common())}")
    for what, times in explained.most_common():
        print(f"  {times} explained, {what}")
    print(f"{unexplained} unexplained differences")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
