"""Cases about the record of a tensor: its fields, their integers, the dtypes."""

import itertools

from case_parts import DTYPES, GOOD, one, record


def record_cases():
    fields = ['"dtype":"F32"', '"shape":[1]', '"data_offsets":[0,4]']
    for order in itertools.permutations(range(3)):
        yield one("record: order " + "".join(map(str, order)), "{" + ",".join(fields[i] for i in order) + "}")
    for i, what in enumerate(("dtype", "shape", "data_offsets")):
        yield one(f"record: no {what}", "{" + ",".join(f for j, f in enumerate(fields) if j != i) + "}")
        yield one(f"record: {what} twice", "{" + ",".join(fields + [fields[i]]) + "}")
        nulled = [f'"{what}":null' if j == i else f for j, f in enumerate(fields)]
        yield one(f"record: {what} null", "{" + ",".join(nulled) + "}")
        yield one(f"record: {what} in capitals", "{" + GOOD.replace(what, what.upper()) + "}")
    yield one("record: dtype twice, once with an escape", "{" + GOOD + ',"\\u0064type":"F32"}')
    yield one("record: empty", "{}")
    for value in ("null", "1", '"F32"', "true", "[]", "-1.5"):
        yield one(f"record: {value} for a record", value)
    yield one(
        "record: unknown fields of every kind",
        "{" + GOOD + ',"a":null,"b":[1,{"c":2.5e3}],"d":"e","f":{},"":0}',
    )
    yield one("record: an unknown field twice", "{" + GOOD + ',"x":1,"x":2}')
    yield one("record: unknown fields first", '{"x":[[],{}],' + GOOD + "}")
    yield one(
        "record: field names a prefix or longer",
        "{" + GOOD + ',"dtyp":1,"dtypes":2,"shap":3,"data_offset":4,"data_offsetss":5}',
    )
    yield one("record: a long unknown field", "{" + GOOD + ',"' + "dtype" * 40 + '":1}')
    yield one("record: opened by a bracket", "[" + GOOD + "}")
    yield one("record: opened by a parenthesis", "(" + GOOD + "}")
    yield one("record: as an array", '["F32",[1],[0,4]]', departs="record-as-array")
    yield one("record: as an array of two", '["F32",[1]]')
    yield one("record: as an array of four", '["F32",[1],[0,4],1]')
    yield one("record: as an array of records", "[{" + GOOD + "}]")


def integer_cases():
    bad = (
        "1.0",
        "1e0",
        "1E0",
        "-0",
        "-1",
        '"1"',
        "true",
        "null",
        "[1]",
        "{}",
        "01",
        "00",
        "+1",
        "0x1",
        "1.",
        "",
        "18446744073709551616",
        "99999999999999999999999",
        "1e400",
        "NaN",
        " ",
    )
    for value in bad:
        yield one(f"integer: shape [{value}]", record(shape=f"[{value}]"))
        yield one(f"integer: offsets [0,{value}]", record(offsets=f"[0,{value}]"))
        yield one(f"integer: offsets [{value},4]", record(offsets=f"[{value},4]"))
    for value in (
        "[1,]",
        "[,1]",
        "[1 1]",
        "[1",
        "1",
        '"1"',
        "{}",
        "null",
        '{"0":1}',
        "true",
        "[1]]",
        "{1]",
        "(1]",
    ):
        yield one(f"integer: shape {value}", record(shape=value))
    for value in (
        "[]",
        "[0]",
        "[4]",
        "[0,4,4]",
        "[0,4,]",
        "[[0,4]]",
        '{"0":0,"1":4}',
        "4",
        "null",
        '"0,4"',
        "[0 4]",
        "[0,4",
        "[0,4.0]",
        "{0,4]",
        "(0,4]",
        "[0,4,null]",
    ):
        yield one(f"integer: offsets {value}", record(offsets=value))
    yield one("integer: largest offset", record(offsets="[0,18446744073709551615]"))
    yield one("integer: largest begin", record(offsets="[18446744073709551615,18446744073709551615]"))
    yield one(
        "integer: largest dimension, empty", record(shape="[18446744073709551615,0]", offsets="[0,0]"), 0
    )
    yield one("integer: largest dimension", record(shape="[18446744073709551615]"))
    yield one("integer: offsets past 2^53", record(offsets="[9007199254740993,9007199254740997]"))


def dtype_cases():
    for name, bits in DTYPES.items():
        yield one(f"dtype: {name}", record(name, "[8]", f"[0,{bits}]"), bits)
        yield one(f"dtype: {name}, a byte short", record(name, "[8]", f"[0,{bits - 1}]"), bits - 1)
        yield one(f"dtype: {name}, a byte long", record(name, "[8]", f"[0,{bits + 1}]"), bits + 1)
    for name in (
        "f32",
        "F32 ",
        " F32",
        "",
        "F",
        "F3",
        "F322",
        "FLOAT",
        "float32",
        "bf16",
        "Bool",
        "F8",
        "F8_E4M3FN",
        "F4_E2M1",
        "F8_E3M4",
        "I128",
        "C128",
        "U4",
        "F32\\u0000",
        "D32",
        "F6_E2M3_VERY_LONG_NAME",
    ):
        yield one(f"dtype: '{name}'", record(name))
    for value in (
        "null",
        "32",
        "true",
        '["F32"]',
        "[]",
        "{}",
        '{"F32":null,"F16":null}',
        '{"F32":1}',
        '{"f32":null}',
    ):
        yield one(f"dtype: {value} for a name", '{"dtype":' + value + ',"shape":[1],"data_offsets":[0,4]}')
    yield one("dtype: opened by a single quote", '{"dtype":\'F32","shape":[1],"data_offsets":[0,4]}')
    yield one(
        "dtype: as an object",
        '{"dtype":{"F32":null},"shape":[1],"data_offsets":[0,4]}',
        departs="dtype-as-object",
    )
