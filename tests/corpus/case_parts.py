"""What the cases of the corpus are put together from."""

GOOD = '"dtype":"F32","shape":[1],"data_offsets":[0,4]'
FOUR = {"hex": "00010203"}
DTYPES = {
    "BOOL": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "F64": 64,
    "I64": 64,
    "U64": 64,
}


def data(n):
    """n bytes of a pattern with a prime period, so that bytes at a wrong place show."""
    return [{"hex": bytes(i % 251 for i in range(n)).hex()}] if n else []


def header(name, *parts, bytes_after=4, **more):
    return {"name": name, "header": list(parts), "data": data(bytes_after), **more}


def raw(name, *parts, **more):
    return {"name": name, "raw": list(parts), **more}


def record(dtype="F32", shape="[1]", offsets="[0,4]", extra=""):
    return f'{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}{extra}}}'


def one(name, rec, bytes_after=4, **more):
    return header(name, '{"a":' + rec + "}", bytes_after=bytes_after, **more)


def with_extra(name, value, **more):
    """A value in a field that is ignored but must be JSON."""
    parts = value if isinstance(value, list) else [value]
    return header(name, '{"a":{' + GOOD + ',"x":', *parts, "}}", **more)


def several(name, records, bytes_after, **more):
    body = ",".join(f'"{key}":{rec}' for key, rec in records)
    return header(name, "{" + body + "}", bytes_after=bytes_after, **more)


def u8(begin, end, count=None):
    return record("U8", f"[{end - begin if count is None else count}]", f"[{begin},{end}]")
