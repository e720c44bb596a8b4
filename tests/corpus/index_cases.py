"""Folders of shards and their indexes: (name, bytes of model.safetensors.index.json, {file: bytes}). make_indexes.py runs them."""

import json
import struct


def shard(**tensors):
    """A good file of U8 tensors; a value is its bytes."""
    return shard_of(tensors)


def shard_of(tensors, extra=b""):
    header, at = {}, 0
    for name, data in tensors.items():
        header[name] = {"dtype": "U8", "shape": [len(data)], "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(tensors.values()) + extra


def index_of(names, **more):
    return json.dumps({"metadata": {"total_size": 6}, "weight_map": names, **more}).encode()


A, B = b"\x01\x02\x03", b"\x04\x05\x06"
NAMES = {"x": "a.safetensors", "y": "b.safetensors"}
FILES = {"a.safetensors": shard(x=A), "b.safetensors": shard(y=B)}


def one(name):
    """A folder whose only shard has this name."""
    return index_of({"x": name}), {name: shard(x=A)}


def good():
    yield "good: two shards", index_of(NAMES), FILES
    yield "good: one shard", *one("a.safetensors")
    yield "good: no metadata", json.dumps({"weight_map": NAMES}).encode(), FILES
    yield "good: metadata of other types", index_of(NAMES, metadata=[1, None, "x"]), FILES
    yield "good: other keys beside", index_of(NAMES, version=2, note={"a": []}), FILES
    yield "good: white space around", b" \n\t" + index_of(NAMES) + b"\r\n ", FILES
    yield "good: byte order mark", b"\xef\xbb\xbf" + index_of(NAMES), FILES
    yield "good: a number past float64's range beside", b'{"n":1e999,"weight_map":{"x":"a.safetensors"}}', {"a.safetensors": shard(x=A)}
    yield "good: a key given twice, the last counts", b'{"weight_map":{"x":"b.safetensors","x":"a.safetensors"}}', {"a.safetensors": shard(x=A)}
    yield "good: weight_map given twice, the last counts", b'{"weight_map":5,"weight_map":{"x":"a.safetensors"}}', {"a.safetensors": shard(x=A)}
    yield "good: a shard holds more than the index says", index_of({"x": "a.safetensors"}), {"a.safetensors": shard(x=A, z=B)}
    yield "good: a tensor in two shards, the index says which", index_of({"x": "b.safetensors", "y": "a.safetensors"}), {
        "a.safetensors": shard(x=A, y=A), "b.safetensors": shard(x=B, y=B)}
    yield "good: a shard that no tensor needs is not looked at", index_of({"x": "a.safetensors"}), {
        "a.safetensors": shard(x=A), "b.safetensors": b"nonsense"}
    yield "good: names such as __proto__, 10, constructor and none", index_of(
        {n: "a.safetensors" for n in ("__proto__", "10", "constructor", "", "length")}), {
        "a.safetensors": shard_of({"__proto__": A, "10": B, "constructor": A, "": B, "length": A})}
    yield "good: names with escapes", index_of({'"\\\n\u00e9\U0001f600': "a.safetensors"}), {
        "a.safetensors": shard_of({'"\\\n\u00e9\U0001f600': A})}
    yield "good: an empty tensor", index_of({"x": "a.safetensors"}), {"a.safetensors": shard(x=b"")}
    yield "good: two hundred tensors in ten shards", index_of({f"t{i}": f"s{i % 10}.safetensors" for i in range(200)}), {
        f"s{k}.safetensors": shard_of({f"t{i}": bytes([i % 256]) for i in range(k, 200, 10)}) for k in range(10)}
    for name in ("sub/a.safetensors", "a b.safetensors", "a#1.safetensors", "a?b=1.safetensors", "a%41.safetensors", "a+b&c.safetensors",
                 "\u00e9\u4e2d.safetensors", "...safetensors", "..a/b.safetensors", "a'\"(b).safetensors", "a.bin", "a", "A.SAFETENSORS"):
        yield f"good: a shard called {name}", *one(name)


def no_index():
    for name, text in (("nothing", b""), ("white space", b"  \n"), ("half of it", index_of(NAMES)[:40]), ("a trailing comma", b'{"weight_map":{"x":"a.safetensors"},}'),
                       ("a comment", b'{"weight_map":{"x":"a.safetensors"}}//'), ("NaN", b'{"n":NaN,"weight_map":{"x":"a.safetensors"}}'),
                       ("single quotes", b"{'weight_map':{'x':'a.safetensors'}}"), ("an array", b"[1]"), ("a string", b'"weight_map"'), ("null", b"null"),
                       ("two documents", b"{}{}"), ("a raw control character", b'{"weight_map":{"x\n":"a.safetensors"}}')):
        yield f"no JSON object: {name}", text, FILES
    for name, value in (("nothing", {}), ("null", {"weight_map": None}), ("an empty one", {"weight_map": {}}), ("an array", {"weight_map": ["a.safetensors"]}),
                        ("a string", {"weight_map": "a.safetensors"}), ("another spelling", {"Weight_Map": NAMES})):
        yield f"no weight_map: {name}", json.dumps(value).encode(), FILES
    for name, value in (("a number", 5), ("null", None), ("an array", ["a.safetensors"]), ("an object", {}), ("true", True)):
        yield f"a shard that is {name}", index_of({"x": "a.safetensors", "y": value}), FILES


def outside():
    for name in ("../a.safetensors", "/a.safetensors", "//host/a.safetensors", "http://host/a.safetensors", "HTTPS://host/a", "file:a", "C:/a.safetensors",
                 "C:\\a.safetensors", "x/../../a", "x/..", "%2e%2e/a", "%2E%2E/a", "x\\..\\a", "a//b", "./a", "a/.", "a/", "", ".", "..", "a\0b", "javascript:0"):
        yield f"outside: {name!r}", index_of({"x": "a.safetensors", "y": name}), FILES


def disagreeing():
    yield "a shard that is not there", index_of({**NAMES, "z": "c.safetensors"}), FILES
    yield "a shard in other case", index_of({"x": "A.safetensors"}), {"a.safetensors": shard(x=A)}
    yield "a shard with a space behind its name", index_of({"x": "a.safetensors "}), {"a.safetensors": shard(x=A)}
    yield "a shard in a folder that is not there", index_of({"x": "sub/a.safetensors"}), {"a.safetensors": shard(x=A)}
    yield "a tensor that its shard lacks", index_of({**NAMES, "z": "b.safetensors"}), FILES
    yield "two shards exchanged", index_of({"x": "b.safetensors", "y": "a.safetensors"}), FILES
    yield "a tensor in other case", index_of({"X": "a.safetensors"}), {"a.safetensors": shard(x=A)}
    yield "a tensor in another normal form", index_of({"e\u0301": "a.safetensors"}), {"a.safetensors": shard_of({"\u00e9": A})}
    yield "a shard without tensors", index_of({"x": "a.safetensors"}), {"a.safetensors": shard()}


def bad_shards():
    whole = shard(y=B)
    for name, content in (("seven bytes", whole[:7]), ("nothing", b""), ("a byte too many", whole + b"\0"), ("a byte missing", whole[:-1]),
                          ("half a header", whole[:20]), ("a header that is no JSON", struct.pack("<Q", 4) + b"{,,}"),
                          ("a Git LFS pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"),
                          ("a pickle", b"PK\x03\x04" + bytes(60)), ("bytes in no order", bytes(range(256)))):
        yield f"a shard that is {name}", index_of(NAMES), {**FILES, "b.safetensors": content}


def all_folders():
    for cases in (good, no_index, outside, disagreeing, bad_shards):
        yield from cases()
