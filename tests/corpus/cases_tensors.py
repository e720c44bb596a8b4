"""Cases about what a header says as a whole: sizes, layout, metadata and names."""

from case_parts import GOOD, header, one, record, several, u8


def size_cases():
    wrong = (
        ("F32", "[2]", 4),
        ("F32", "[1]", 8),
        ("F32", "[]", 0),
        ("F32", "[0]", 4),
        ("U8", "[3]", 4),
        ("U8", "[5]", 4),
        ("F16", "[2,2]", 4),
        ("F64", "[1]", 4),
        ("BOOL", "[32]", 4),
        ("F32", "[1,0,1]", 4),
    )
    for dtype, shape, n in wrong:
        yield one(f"size: {dtype} {shape} in {n} bytes", record(dtype, shape, f"[0,{n}]"), n)
    big = 2**63
    for what, dtype, shape in (
        ("a zero before an overflow", "F32", f"[0,{big},{big}]"),
        ("a zero after an overflow", "F32", f"[{big},{big},0]"),
        ("a zero between", "F32", f"[{big},0,{big}]"),
        ("2 times 2^63", "U8", f"[2,{big}]"),
        ("2^32 times 2^32", "U8", "[4294967296,4294967296]"),
        ("2^32 times 2^32 - 1", "U8", "[4294967296,4294967295]"),
        ("wraps to 1", "U8", "[274177,67280421310721]"),
        ("wraps to 4 bytes", "U8", "[4,4611686018427387905]"),
        ("count fits, bits do not", "F32", "[576460752303423489]"),
        ("2^61 bytes", "U8", "[2305843009213693952]"),
        ("2^61 - 1 bytes", "U8", "[2305843009213693951]"),
        ("2^60 of F16", "F16", "[1152921504606846976]"),
        ("2^62 of F4", "F4", "[4611686018427387904]"),
        ("2^62 - 2 of F4", "F4", "[4611686018427387902]"),
        ("largest", "F64", "[18446744073709551615]"),
        ("largest of F4", "F4", "[18446744073709551615]"),
        ("largest times 1 times 1", "U8", "[18446744073709551615,1,1]"),
        ("2^53 + 1 of U8", "U8", "[9007199254740993]"),
        ("512 MiB", "F32", "[134217728]"),
        ("4 GiB of U8", "U8", "[4294967296]"),
        ("4 GiB + 4: not 4", "U8", "[4294967300]"),
    ):
        yield one(f"size: {what}", record(dtype, shape, "[0,0]"), 0)
        yield one(f"size: {what}, 4 bytes", record(dtype, shape, "[0,4]"), 4)
    for what, shape, end in (
        ("2^61 bytes, offsets that fit", 2**61, 2**61),
        ("2^61 - 1 bytes, offsets that fit", 2**61 - 1, 2**61 - 1),
        ("2^53 + 1 bytes, offsets that fit", 2**53 + 1, 2**53 + 1),
        ("4 GiB, offsets that fit", 2**32, 2**32),
        ("4 GiB + 4, offsets that fit, 4 there", 2**32 + 4, 2**32 + 4),
    ):
        yield one(f"size: {what}", record("U8", f"[{shape}]", f"[0,{end}]"))
    for dtype, shape, n in (
        ("F4", "[1]", 1),
        ("F4", "[2]", 1),
        ("F4", "[3]", 2),
        ("F4", "[3]", 1),
        ("F4", "[0]", 0),
        ("F4", "[]", 1),
        ("F4", "[3,2]", 3),
        ("F6_E2M3", "[4]", 3),
        ("F6_E2M3", "[1]", 1),
        ("F6_E3M2", "[2]", 2),
        ("F6_E3M2", "[3]", 3),
        ("F6_E3M2", "[8]", 6),
        ("F6_E2M3", "[4]", 4),
    ):
        yield one(f"size: sub-byte {dtype} {shape} in {n} bytes", record(dtype, shape, f"[0,{n}]"), n)
    yield one("size: rank 64 of ones", record(shape="[" + ",".join(["1"] * 64) + "]"))
    yield one("size: rank 2000 of ones", record(shape="[" + ",".join(["1"] * 2000) + "]"))
    yield one("size: scalar", record(shape="[]"))
    yield one("size: scalar with a space in its shape", record(shape="[ ]"))
    yield one("size: empty of rank 3", record(shape="[3,0,5]", offsets="[0,0]"), 0)


def layout_cases():
    yield several("layout: two in order", [("a", u8(0, 4)), ("b", u8(4, 8))], 8)
    yield several("layout: two out of order", [("b", u8(4, 8)), ("a", u8(0, 4))], 8)
    yield several("layout: names out of order", [("z", u8(0, 4)), ("a", u8(4, 8))], 8)
    yield several(
        "layout: seven in a scrambled order", [(str(i), u8(i, i + 1)) for i in (3, 0, 6, 2, 5, 1, 4)], 7
    )
    yield several("layout: a hole", [("a", u8(0, 4)), ("b", u8(5, 8))], 8)
    yield several("layout: a hole of one at the front", [("a", u8(1, 4))], 4)
    yield several("layout: overlap", [("a", u8(0, 4)), ("b", u8(3, 8))], 8)
    yield several("layout: alias", [("a", u8(0, 4)), ("b", u8(0, 4))], 4)
    yield several("layout: one inside another", [("a", u8(0, 8)), ("b", u8(2, 4))], 8)
    yield several("layout: same begin, other end", [("a", u8(0, 4)), ("b", u8(0, 8))], 8)
    yield several("layout: the second wrong in size", [("a", u8(0, 4)), ("b", u8(4, 8, 5))], 8)
    yield several(
        "layout: the first wrong in size, the second in offset", [("a", u8(0, 4, 5)), ("b", u8(9, 12))], 12
    )
    yield several("layout: end before begin", [("a", record("U8", "[1]", "[4,0]"))], 4)
    yield several(
        "layout: end before begin at 0",
        [("a", record("U8", "[0]", "[0,0]")), ("b", record("U8", "[1]", "[1,0]"))],
        1,
    )
    yield several(
        "layout: end before begin in the middle", [("a", u8(0, 4)), ("b", record("U8", "[2]", "[4,2]"))], 4
    )
    yield several("layout: wraps round 2^64", [("a", record("U8", "[1]", "[18446744073709551615,0]"))], 0)
    yield several("layout: ends far past the file", [("a", u8(0, 2**40))], 4)
    yield several(
        "layout: nine of 2^61 - 1 bytes pass 2^64",
        [(str(i), u8(i * (2**61 - 1), (i + 1) * (2**61 - 1))) for i in range(8)]
        + [("8", record("U8", f"[{2**61 - 1}]", f"[{8 * (2**61 - 1)},{2**61 - 9}]"))],
        4,
    )
    yield several(
        "layout: sum just below 2^64",
        [(str(i), u8(i * (2**61 - 1), (i + 1) * (2**61 - 1))) for i in range(8)]
        + [("8", u8(8 * (2**61 - 1), 2**64 - 1))],
        4,
    )
    for extra in (1, 3, 8):
        yield several(f"layout: {extra} bytes after the last", [("a", u8(0, 4))], 4 + extra)
    for less in (1, 3, 4):
        yield several(f"layout: {less} bytes missing", [("a", u8(0, 4))], 4 - less)
    yield header("layout: no tensors, no data", "{}", bytes_after=0)
    yield header("layout: no tensors, a byte of data", "{}", bytes_after=1)
    yield several("layout: empty at the front", [("e", u8(0, 0)), ("a", u8(0, 4))], 4)
    yield several("layout: empty at the end", [("a", u8(0, 4)), ("e", u8(4, 4))], 4)
    yield several("layout: empty in between", [("a", u8(0, 4)), ("e", u8(4, 4)), ("b", u8(4, 8))], 8)
    yield several(
        "layout: empty listed after what follows it", [("b", u8(4, 8)), ("a", u8(0, 4)), ("e", u8(4, 4))], 8
    )
    yield several(
        "layout: three empties at one place",
        [("e", u8(0, 0)), ("f", u8(0, 0)), ("g", u8(0, 0)), ("a", u8(0, 1))],
        1,
    )
    yield several("layout: only empties", [("e", u8(0, 0)), ("f", u8(0, 0))], 0)
    yield several("layout: empty inside another", [("a", u8(0, 4)), ("e", u8(2, 2))], 4)
    yield several("layout: empty past the end", [("a", u8(0, 4)), ("e", u8(5, 5))], 4)
    yield several("layout: empty past the end of no data", [("e", u8(1, 1))], 0)
    yield several("layout: empty of 4 bytes", [("e", record("U8", "[0]", "[0,4]"))], 4)
    yield several(
        "alignment: BF16 at an odd byte", [("a", u8(0, 1)), ("b", record("BF16", "[2]", "[1,5]"))], 5
    )
    yield several("alignment: F64 at byte 3", [("a", u8(0, 3)), ("b", record("F64", "[1]", "[3,11]"))], 11)
    yield several(
        "alignment: F32 before U8 before F16",
        [("f", record("F32", "[1]", "[0,4]")), ("u", u8(4, 5)), ("h", record("F16", "[1]", "[5,7]"))],
        7,
    )
    for pad in range(8):
        yield header(
            f"alignment: data begins at byte {8 + 54 + pad} of the file", '{"a":{' + GOOD + "}}" + " " * pad
        )
    yield header(
        "many: 1000 tensors",
        "{",
        {"each": '"t{i}":' + record("U8", "[0]", "[0,0]"), "times": 1000, "join": ","},
        "}",
        bytes_after=0,
    )
    yield header(
        "many: 500000 tensors",
        "{",
        {"each": '"t{i}":' + record("U8", "[0]", "[0,0]"), "times": 500000, "join": ","},
        "}",
        bytes_after=0,
    )
    yield header(
        "many: a metadata of 20000 pairs",
        '{"__metadata__":{',
        {"each": '"k{i}":"v{i}"', "times": 20000, "join": ","},
        '},"a":{' + GOOD + "}}",
    )


def metadata_cases():
    values = {
        "null": "null",
        "empty": "{}",
        "one pair": '{"format":"pt"}',
        "empty key and value": '{"":""}',
        "white space": '{ "a" : "b" , "c" : "d" }',
        "unicode": '{"é\\u00e9":"\\ud83d\\ude00漢"}',
        "own name inside": '{"__metadata__":"x"}',
        "JSON in a string": '{"config":"{\\"a\\":[1,2]}"}',
        "odd keys": '{"__proto__":"a","constructor":"b","length":"c","10":"d","toString":"e"}',
        "number": '{"a":1}',
        "null value": '{"a":null}',
        "true": '{"a":true}',
        "array value": '{"a":["b"]}',
        "object value": '{"a":{"b":"c"}}',
        "float": '{"a":1.5}',
        "second value a number": '{"a":"b","c":2}',
        "trailing comma": '{"a":"b",}',
        "no value": '{"a"}',
        "key a number": '{1:"a"}',
    }
    for what, text in values.items():
        yield header(f"metadata: {what}", '{"__metadata__":' + text + ',"a":{' + GOOD + "}}")
    for value in ("[]", '["a","b"]', '"a"', "1", "true", "false", "nul", "", "{" + GOOD + "}"):
        yield header(f"metadata: {value} for the map", '{"__metadata__":' + value + ',"a":{' + GOOD + "}}")
    yield header("metadata: opened by a bracket", '{"__metadata__":["k":"v"},"a":{' + GOOD + "}}")
    yield header(
        "metadata: a value opened by a single quote", '{"__metadata__":{"k":\'v"},"a":{' + GOOD + "}}"
    )
    yield header("metadata: last", '{"a":{' + GOOD + '},"__metadata__":{"k":"v"}}')
    yield header("metadata: alone", '{"__metadata__":{"k":"v"}}', bytes_after=0)
    yield header("metadata: twice", '{"__metadata__":{"k":"v"},"a":{' + GOOD + '},"__metadata__":{"l":"w"}}')
    yield header("metadata: twice, both null", '{"__metadata__":null,"a":{' + GOOD + '},"__metadata__":null}')
    yield header("metadata: key with escapes", '{"\\u005f_metadata__":{"k":"v"},"a":{' + GOOD + "}}")
    yield header(
        "metadata: twice, once with an escape",
        '{"__metadata__":{},"__metadata\\u005f_":{},"a":{' + GOOD + "}}",
    )
    for name in ("__metadata", "__metadata___", "__METADATA__", "metadata", " __metadata__"):
        yield header(f"metadata: a tensor called '{name}'", '{"' + name + '":{' + GOOD + "}}")
        yield header(f"metadata: a map called '{name}'", '{"' + name + '":{"k":"v"}}', bytes_after=0)
    yield header(
        "metadata: 100 kB value",
        '{"__metadata__":{"k":"',
        {"repeat": "x", "times": 100000},
        '"}}',
        bytes_after=0,
    )


def name_cases():
    names = (
        "",
        " ",
        "__proto__",
        "constructor",
        "toString",
        "hasOwnProperty",
        "length",
        "10",
        "0",
        "-1",
        "1e3",
        "a/b\\\\c",
        "model.layers.0.mlp.gate_proj.weight",
        "漢字",
        "😀",
        '\\"',
        "\\n",
        "null",
        "a" * 5000,
    )
    for name in names:
        yield header(f"name: '{name[:40]}'", '{"' + name + '":{' + GOOD + "}}")
    yield several(
        "name: numbers keep the header's order", [("10", u8(0, 1)), ("9", u8(1, 2)), ("01", u8(2, 3))], 3
    )
    yield several("name: composed and decomposed", [("\u00e9", u8(0, 1)), ("e\u0301", u8(1, 2))], 2)
    yield several("name: differing in case", [("a", u8(0, 1)), ("A", u8(1, 2))], 2)
    yield several(
        "name: one a prefix of the other", [("ab", u8(0, 1)), ("a", u8(1, 2)), ("abc", u8(2, 3))], 3
    )
    yield several(
        "name: differing after a NUL", [("a\\u0000b", u8(0, 1)), ("a\\u0000c", u8(1, 2)), ("a", u8(2, 3))], 3
    )
    duplicate = {"departs": "duplicate"}
    yield several("duplicate: the same record", [("a", u8(0, 4)), ("a", u8(0, 4))], 4, **duplicate)
    yield several(
        "duplicate: spelled with an escape", [("a", u8(0, 4)), ("\\u0061", u8(0, 4))], 4, **duplicate
    )
    yield several("duplicate: two places in the file", [("a", u8(0, 4)), ("a", u8(4, 8))], 8, **duplicate)
    yield several("duplicate: two places, the last first", [("a", u8(4, 8)), ("a", u8(0, 4))], 8, **duplicate)
    yield several(
        "duplicate: with another between",
        [("a", u8(0, 1)), ("b", u8(1, 2)), ("c", u8(2, 3)), ("b", u8(1, 2))],
        3,
        **duplicate,
    )
    yield several("duplicate: the empty name", [("", u8(0, 4)), ("", u8(0, 4))], 4, **duplicate)
    yield several("duplicate: the first is no record", [("a", "1"), ("a", u8(0, 4))], 4)
    yield several("duplicate: the first has a bad layout", [("a", u8(7, 9)), ("a", u8(0, 4))], 4, **duplicate)
    yield header(
        "duplicate: metadata key", '{"__metadata__":{"k":"v","k":"w"},"a":{' + GOOD + "}}", **duplicate
    )
    yield header(
        "duplicate: metadata key, same value",
        '{"__metadata__":{"k":"v","l":"w","k":"v"}}',
        bytes_after=0,
        **duplicate,
    )
    yield header(
        "duplicate: metadata key with an escape",
        '{"__metadata__":{"k":"v","\\u006b":"v"}}',
        bytes_after=0,
        **duplicate,
    )
    yield header(
        "duplicate: first and last of 10000",
        "{",
        {"each": '"t{i}":' + record("U8", "[0]", "[0,0]"), "times": 10000, "join": ","},
        ',"t0":' + u8(0, 0) + "}",
        bytes_after=0,
        **duplicate,
    )
