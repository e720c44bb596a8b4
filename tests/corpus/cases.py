"""The cases of the corpus, by rule of the format. make_corpus.py runs the reference on them; nothing here judges,
but for `departs` (where this project refuses on purpose what the reference takes) and `looks` (a word that must be said of what the bytes really are; empty: nothing).
"""

import itertools

GOOD = '"dtype":"F32","shape":[1],"data_offsets":[0,4]'
FOUR = {"hex": "00010203"}
DTYPES = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
    "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}  # fmt: skip


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


def length_cases():
    for n in range(8):
        yield raw(f"length: a file of {n} bytes", {"hex": "00" * n})
    prefix = lambda n: {"hex": n.to_bytes(8, "little").hex()}
    yield raw("length: a header of 0 bytes", prefix(0))
    yield raw("length: a header of 0 bytes, then data", prefix(0), "{}  ")
    yield raw("length: exactly the file", prefix(2), "{}")
    for n in (3, 10, 100000000, 99999999):
        yield raw(f"length: {n} claimed of 2", prefix(n), "{}")
    for n in (100000001, 2**31, 2**32, 2**32 + 2, 2**53 + 1, 2**63, 2**63 + 2, 2**64 - 8, 2**64 - 6, 2**64 - 1):
        yield raw(f"length: {n} claimed, over the cap", prefix(n), "{}")
    yield raw("length: big-endian prefix", {"hex": "0000000000000002"}, "{}")
    yield raw("length: one short of the header", prefix(56), '{"a":{' + GOOD + "}}", FOUR)
    yield raw("length: one past the header, into the data", prefix(55), '{"a":{' + GOOD + "}}", FOUR)
    yield raw("length: prefix only, over the cap, before the file's end matters", prefix(100000001))
    yield raw("length: cut inside a two-byte character", prefix(4), '{"é":1}')
    spaces = lambda n: {"repeat": " ", "times": n}
    yield raw("length: a header of exactly 100000000 bytes", prefix(100000000), "{}", spaces(99999998))
    yield raw("length: a header of 100000001 bytes that is there", prefix(100000001), "{}", spaces(99999999))
    yield raw("length: a header of 100000000 bytes, one byte missing", prefix(100000000), "{}", spaces(99999997))


BAD_UTF8 = {
    "lone continuation 80": "80", "lone continuation bf": "bf", "overlong slash c0 af": "c0af", "c0 80": "c080",
    "c1 bf": "c1bf", "overlong e0 80 80": "e08080", "overlong e0 9f bf": "e09fbf", "surrogate ed a0 80": "eda080",
    "surrogate ed bf bf": "edbfbf", "surrogate pair ed a0 bd ed b8 80": "eda0bdedb880",
    "overlong f0 80 80 80": "f0808080", "overlong f0 8f bf bf": "f08fbfbf", "past the end f4 90 80 80": "f4908080",
    "f5 80 80 80": "f5808080", "five bytes f8 88 80 80 80": "f888808080", "six bytes fc": "fc8480808080", "fe": "fe",
    "ff": "ff", "cut c2": "c2", "cut e2 82": "e282", "cut e2": "e2", "cut f0 9f 98": "f09f98", "cut f0 9f": "f09f",
    "c2 then ascii": "c241", "e2 82 then ascii": "e28241", "f0 9f 98 then ascii": "f09f9841", "c2 c2": "c2c2",
    "Latin-1 e9": "e9",
}  # fmt: skip
GOOD_UTF8 = {
    "U+0080": "c280", "U+07FF": "dfbf", "U+0800": "e0a080", "U+D7FF": "ed9fbf", "U+E000": "ee8080", "U+FEFF": "efbbbf",
    "U+FFFF": "efbfbf", "U+10000": "f0908080", "U+FFFFF": "f3bfbfbf", "U+10FFFF": "f48fbfbf", "U+0085": "c285",
    "U+2028": "e280a8", "delete 7f": "7f",
}  # fmt: skip


def text_cases():
    for what, code in BAD_UTF8.items():
        yield header(f"utf8: {what} in a name", '{"a', {"hex": code}, '":{' + GOOD + "}}")
    for what, code in GOOD_UTF8.items():
        yield header(f"utf8: {what} in a name", '{"a', {"hex": code}, '":{' + GOOD + "}}")
    yield header("utf8: ff outside strings", '{"a":{' + GOOD + "}}", {"hex": "ff"})
    yield header("utf8: ff after broken JSON", "{,", {"hex": "ff"}, "}")
    yield header("utf8: c2 as the last byte", '{"a":{' + GOOD + "}}", {"hex": "c2"})
    yield header("utf8: bad in a metadata value", '{"__metadata__":{"k":"', {"hex": "fe"}, '"}}', bytes_after=0)
    yield header("utf8: bad in an ignored field", '{"a":{' + GOOD + ',"x":"', {"hex": "eda080"}, '"}}')
    for i in range(9):
        yield header(f"utf8: bad at byte {i} of a run of eight", '{"', "x" * i, {"hex": "ff"}, "x" * (8 - i), '":{' + GOOD + "}}")
    yield header("text: byte order mark before the object", {"hex": "efbbbf"}, '{"a":{' + GOOD + "}}")
    yield header("text: byte order mark after the object", '{"a":{' + GOOD + "}}", {"hex": "efbbbf"})
    yield header("text: UTF-16", {"hex": "{}".encode("utf-16-le").hex()}, bytes_after=0)
    for code in (0, 1, 8, 9, 10, 12, 13, 27, 31):
        yield header(f"text: raw control character {code:02x} in a name", '{"a', {"hex": f"{code:02x}"}, '":{' + GOOD + "}}")
    yield header("text: raw newline in a metadata value", '{"__metadata__":{"k":"a\nb"}}', bytes_after=0)
    yield with_extra("text: raw tab in an ignored string", '"\t"')


def escape_cases():
    names = {
        "every short escape": '\\"\\\\\\/\\b\\f\\n\\r\\t', "\\u0000": "\\u0000", "\\u0041": "\\u0041", "\\u00e9": "\\u00e9",
        "\\u07ff \\u0800 \\uffff": "\\u07ff\\u0800\\uffff", "pair": "\\ud83d\\ude00", "pair in capitals": "\\uD83D\\uDE00",
        "first pair": "\\ud800\\udc00", "last pair": "\\udbff\\udfff", "\\ud7ff": "\\ud7ff", "\\ue000": "\\ue000",
        "lone high": "\\ud800", "lone high dbff": "\\udbff", "lone low dc00": "\\udc00", "lone low dfff": "\\udfff",
        "high then letter": "\\ud83dx", "high then high": "\\ud83d\\ud83d", "high, high, low": "\\ud83d\\ud83d\\ude00",
        "high then short escape": "\\ud83d\\n", "high then \\u0041": "\\ud83d\\u0041", "low then high": "\\ude00\\ud83d",
        "high then \\ue000": "\\ud83d\\ue000", "high then \\udbff": "\\ud83d\\udbff",
        "high then cut \\u": "\\ud83d\\ude0", "high then \\ug": "\\ud83d\\udeg0", "\\u12": "\\u12", "\\u12g4": "\\u12g4",
        "\\u 123": "\\u 123", "\\u+123": "\\u+123", "\\x41": "\\x41", "\\U0041": "\\U0041", "\\'": "\\'", "\\0": "\\0", "\\N": "\\N",
        "\\a": "\\a", "\\v": "\\v", "backslash newline": "\\\n", "escaped space": "\\ ",
    }  # fmt: skip
    for what, text in names.items():
        yield header(f"escape: {what} in a name", '{"a' + text + '":{' + GOOD + "}}")
    yield header("escape: backslash NUL", '{"a\\', {"hex": "00"}, '":{' + GOOD + "}}")
    yield header("escape: lone surrogate in a metadata value", '{"__metadata__":{"k":"\\ud800"}}', bytes_after=0)
    yield header("escape: lone surrogate in a metadata key", '{"__metadata__":{"\\udc00":"v"}}', bytes_after=0)
    yield with_extra("escape: lone surrogate in an ignored string", '"\\ud800"')
    yield with_extra("escape: lone surrogate in an ignored key", '{"\\ud800":1}')
    yield header("escape: header ends after a backslash", '{"a\\', bytes_after=0)
    yield header("escape: header ends inside \\u", '{"a\\u00', bytes_after=0)
    yield header("escape: header ends after a high surrogate", '{"a\\ud83d', bytes_after=0)
    yield header("escape: header ends after high surrogate and backslash", '{"a\\ud83d\\', bytes_after=0)
    yield header("escape: keys and dtype spelled with escapes",
                 '{"\\u0061":{"dt\\u0079pe":"\\u00463\\u0032","sh\\u0061pe":[1],"data\\u005foffsets":[0,4]}}')  # fmt: skip


def json_cases():
    broken = {
        "empty header of spaces": "   ", "open brace only": "{", "open brace and space": "{ ", "close brace only": "}",
        "key without colon": '{"a"}', "key and colon only": '{"a":}', "unfinished key": '{"a', "unfinished name value": '{"a":',
        "double colon": '{"a"::{' + GOOD + "}}", "equals for colon": '{"a"={' + GOOD + "}}", "leading comma": '{,"a":{' + GOOD + "}}",
        "trailing comma in the object": '{"a":{' + GOOD + "},}", "double comma": '{"a":{' + GOOD + '},,"b":{}}',
        "trailing comma in the record": '{"a":{' + GOOD + ",}}", "missing comma in the record": '{"a":{"dtype":"F32" "shape":[1],"data_offsets":[0,4]}}',
        "missing comma between records": '{"a":{' + GOOD + '}"b":{' + GOOD + "}}", "semicolon for comma": '{"a":{"dtype":"F32";"shape":[1],"data_offsets":[0,4]}}',
        "single quotes": "{'a':{" + GOOD + "}}", "unquoted key": "{a:{" + GOOD + "}}", "number as key": "{1:{" + GOOD + "}}", "null as key": "{null:{" + GOOD + "}}",
        "block comment": '{"a":/**/{' + GOOD + "}}", "line comment": '{"a":{' + GOOD + "}}//", "comment first": '//\n{"a":{' + GOOD + "}}",
        "record not closed": '{"a":{' + GOOD, "object not closed": '{"a":{' + GOOD + "}", "bracket closes brace": '{"a":{' + GOOD + "]}",
        "brace closes bracket": '{"a":{"dtype":"F32","shape":[1},"data_offsets":[0,4]}}', "two objects": '{"a":{' + GOOD + "}}{}",
        "a second closing brace": '{"a":{' + GOOD + "}}}", "letters after": '{"a":{' + GOOD + "}}x", "comma after": '{"a":{' + GOOD + "}},",
        "NUL after": '{"a":{' + GOOD + "}}\0", "NUL before": '\0{"a":{' + GOOD + "}}", "NUL between tokens": '{"a":\0{' + GOOD + "}}",
    }  # fmt: skip
    for what, text in broken.items():
        yield header(f"json: {what}", text)
    for root in ("[]", '[{"a":1}]', '"a"', "1", "-1", "null", "true", "{]", "[}", "{}{}", "{} null", "nul", "tru"):
        yield header(f"json: root is {root}", root, bytes_after=0)
    values = {
        "null": "null", "true": "true", "false": "false", "string": '"s"', "empty array": "[]", "empty object": "{}", "numbers": "[0,-1,1.5,1e5,1E-5,-0,-0.0,0e0]",
        "nested": '{"a":[{"b":[]},[[]],null],"c":"d"}', "a name twice inside": '{"a":1,"a":2}', "white space everywhere": "[ 1 ,\t2 ,\n{ \"k\" :\r3 } ]",
        "nul": "nul", "nulL": "nulL", "nullx": "nullx", "True": "True", "NULL": "NULL", "tru": "tru", "falsy": "falsy", "undefined": "undefined", "NaN": "NaN", "Infinity": "Infinity", "-Infinity": "-Infinity",
        "trailing comma in array": "[1,]", "trailing comma in object": '{"a":1,}', "leading comma in array": "[,1]", "missing comma in array": "[1 2]", "missing colon": '{"a" 1}', "key without value": '{"a"}', "brace for bracket": "[1}", "bracket for brace": '{"a":1]', "array as key": "{[]:1}", "only comma": ",",
        "nothing": "", "two values": "1 2",
    }  # fmt: skip
    for what, text in values.items():
        yield with_extra(f"json: ignored field, {what}", text)
    for depth in (1, 124, 125, 126, 127, 128, 1000):
        yield with_extra(f"json: {depth} arrays in an ignored field", "[" * depth + "]" * depth)
    for depth in (125, 126):
        yield with_extra(f"json: {depth} objects in an ignored field", '{"q":' * depth + "1" + "}" * depth)
        yield with_extra(f"json: {depth} arrays and objects in turn", "".join('[' if i % 2 else '{"q":' for i in range(depth)) + "1" + "".join(']' if i % 2 else '}' for i in reversed(range(depth))))  # fmt: skip
    yield with_extra("json: 125 arrays, then 125 more beside them", "[" + ",".join(["[" * 124 + "]" * 124] * 2) + "]")
    yield header("json: 100000 open brackets", '{"a":', {"repeat": "[", "times": 100000}, bytes_after=0)
    yield header("json: 100000 open braces", {"repeat": '{"a":', "times": 100000}, bytes_after=0)


def number_cases():
    numbers = (
        "0", "-0", "10", "-1", "0.5", "-0.5", "1e0", "1E+0", "1e-0", "1.0e10", "00", "01", "-01", "-", "--1", "+1", ".5", "1.", "1.e5", "-.5", "1e", "1e+", "1e-", "1e1.5", "1ee5", "0x10", "1_000", "1,000", "1e5x", "١", "1f", "- 1", "1 .5",
        "18446744073709551615", "18446744073709551616", "-9223372036854775808", "-9223372036854775809", "99999999999999999999999999",
        "1e308", "1e309", "-1e308", "-1e309", "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "17976931348623157e292", "17976931348623158e292",
        "17976931348623157080e289", "17976931348623157081e289", "0.17976931348623157e309", "0.00001e313", "0.00001e314", "18446744073709551615e288", "18446744073709551615e289", "18446744073709551616e288", "18446744073709551616e289",
        "1844674407370955161.5e289", "1844674407370955161.6e290", "1844674407370955161.55555e290", "1844674407370955161600.5e287", "0e999999999999", "0.0e999999999999", "0e-999999999999", "1e2147483647", "1e2147483648", "1e-2147483648", "1e-2147483649", "1e-99999999999999999999", "1e99999999999999999999", "0.000000000000000000000000001e335", "1e-400", "4.9e-324", "123456789012345678901234567890e280",
    )  # fmt: skip
    for number in numbers:
        yield with_extra(f"number: {number} in an ignored field", number)
    for zeros in (288, 289, 307, 308, 309):
        yield with_extra(f"number: 1 and {zeros} zeros", "1" + "0" * zeros)
    yield with_extra("number: 400 zeros after the point, exponent 700", "0." + "0" * 400 + "1e700")
    yield with_extra("number: 400 digits, exponent -100", "1" * 400 + "e-100")
    yield with_extra("number: 400 digits, exponent -90", "1" * 400 + "e-90")
    yield header("number: the header ends after a digit of the exponent", '{"a":{"x":1e5', bytes_after=0)
    yield header("number: the header ends after e", '{"a":{"x":1e', bytes_after=0)
    yield header("number: the header ends after the point", '{"a":{"x":1.', bytes_after=0)
    yield header("number: the header ends after the sign", '{"a":{"x":-', bytes_after=0)


def space_cases():
    whole = '{"a":{' + GOOD + "}}"
    for what, space in {"space": " ", "tab": "\t", "newline": "\n", "return": "\r"}.items():
        yield header(f"space: {what} before", space + whole)
        yield header(f"space: {what} after", whole + space)
    for what, space in {"form feed": "\f", "vertical tab": "\v", "no-break space": "\u00a0", "line separator": "\u2028", "next line": "\u0085"}.items():
        yield header(f"space: {what} before", space + whole)
        yield header(f"space: {what} after", whole + space)
        yield header(f"space: {what} inside", '{"a":' + space + "{" + GOOD + "}}")
    spread = ' \n{ "a"\t: { "dtype" : "F32" , "shape" : [ 1 ] , "data_offsets" : [ 0 , 4 ] } , "__metadata__" : { "k" : "v" } } \r\n'
    yield header("space: between all tokens", spread)
    yield header("space: padded to eight bytes as writers do", whole + " " * 10)
    yield header("space: spaces only inside", "{ }", bytes_after=0)
    yield header("space: a thousand before and after", {"repeat": " ", "times": 1000}, whole, {"repeat": "\n", "times": 1000})


def record_cases():
    fields = ['"dtype":"F32"', '"shape":[1]', '"data_offsets":[0,4]']
    for order in itertools.permutations(range(3)):
        yield one("record: order " + "".join(map(str, order)), "{" + ",".join(fields[i] for i in order) + "}")
    for i, what in enumerate(("dtype", "shape", "data_offsets")):
        yield one(f"record: no {what}", "{" + ",".join(f for j, f in enumerate(fields) if j != i) + "}")
        yield one(f"record: {what} twice", "{" + ",".join(fields + [fields[i]]) + "}")
        yield one(f"record: {what} null", "{" + ",".join(f.split(":")[0] + ":null" if j == i else f for j, f in enumerate(fields)) + "}")
        yield one(f"record: {what} in capitals", "{" + GOOD.replace(what, what.upper()) + "}")
    yield one("record: dtype twice, once with an escape", "{" + GOOD + ',"\\u0064type":"F32"}')
    yield one("record: empty", "{}")
    for value in ("null", "1", '"F32"', "true", "[]", "-1.5"):
        yield one(f"record: {value} for a record", value)
    yield one("record: unknown fields of every kind", "{" + GOOD + ',"a":null,"b":[1,{"c":2.5e3}],"d":"e","f":{},"":0}')
    yield one("record: an unknown field twice", "{" + GOOD + ',"x":1,"x":2}')
    yield one("record: unknown fields first", '{"x":[[],{}],' + GOOD + "}")
    yield one("record: field names a prefix or longer", "{" + GOOD + ',"dtyp":1,"dtypes":2,"shap":3,"data_offset":4,"data_offsetss":5}')
    yield one("record: a long unknown field", "{" + GOOD + ',"' + "dtype" * 40 + '":1}')
    yield one("record: as an array", '["F32",[1],[0,4]]', departs="record-as-array")
    yield one("record: as an array of two", '["F32",[1]]')
    yield one("record: as an array of four", '["F32",[1],[0,4],1]')
    yield one("record: as an array of records", '[{' + GOOD + "}]")


def integer_cases():
    bad = ("1.0", "1e0", "1E0", "-0", "-1", '"1"', "true", "null", "[1]", "{}", "01", "00", "+1", "0x1", "1.", "", "18446744073709551616", "99999999999999999999999", "1e400", "NaN", " ")
    for value in bad:
        yield one(f"integer: shape [{value}]", record(shape=f"[{value}]"))
        yield one(f"integer: offsets [0,{value}]", record(offsets=f"[0,{value}]"))
        yield one(f"integer: offsets [{value},4]", record(offsets=f"[{value},4]"))
    for value in ("[1,]", "[,1]", "[1 1]", "[1", "1", '"1"', "{}", "null", '{"0":1}', "true", "[1]]"):
        yield one(f"integer: shape {value}", record(shape=value))
    for value in ("[]", "[0]", "[4]", "[0,4,4]", "[0,4,]", "[[0,4]]", '{"0":0,"1":4}', "4", "null", '"0,4"', "[0 4]", "[0,4", "[0,4.0]", "[0,4,null]"):
        yield one(f"integer: offsets {value}", record(offsets=value))
    yield one("integer: largest offset", record(offsets="[0,18446744073709551615]"))
    yield one("integer: largest begin", record(offsets="[18446744073709551615,18446744073709551615]"))
    yield one("integer: largest dimension, empty", record(shape="[18446744073709551615,0]", offsets="[0,0]"), 0)
    yield one("integer: largest dimension", record(shape="[18446744073709551615]"))
    yield one("integer: offsets past 2^53", record(offsets="[9007199254740993,9007199254740997]"))


def dtype_cases():
    for name, bits in DTYPES.items():
        yield one(f"dtype: {name}", record(name, "[8]", f"[0,{bits}]"), bits)
        yield one(f"dtype: {name}, a byte short", record(name, "[8]", f"[0,{bits - 1}]"), bits - 1)
        yield one(f"dtype: {name}, a byte long", record(name, "[8]", f"[0,{bits + 1}]"), bits + 1)
    for name in ("f32", "F32 ", " F32", "", "F", "F3", "F322", "FLOAT", "float32", "bf16", "Bool", "F8", "F8_E4M3FN", "F4_E2M1", "F8_E3M4", "I128", "C128", "U4", "F32\\u0000", "D32", "F6_E2M3_VERY_LONG_NAME"):
        yield one(f"dtype: '{name}'", record(name))
    for value in ("null", "32", "true", '["F32"]', "[]", "{}", '{"F32":null,"F16":null}', '{"F32":1}', '{"f32":null}'):
        yield one(f"dtype: {value} for a name", '{"dtype":' + value + ',"shape":[1],"data_offsets":[0,4]}')
    yield one("dtype: as an object", '{"dtype":{"F32":null},"shape":[1],"data_offsets":[0,4]}', departs="dtype-as-object")


def size_cases():
    wrong = (("F32", "[2]", 4), ("F32", "[1]", 8), ("F32", "[]", 0), ("F32", "[0]", 4), ("U8", "[3]", 4), ("U8", "[5]", 4), ("F16", "[2,2]", 4), ("F64", "[1]", 4), ("BOOL", "[32]", 4), ("F32", "[1,0,1]", 4))
    for dtype, shape, n in wrong:
        yield one(f"size: {dtype} {shape} in {n} bytes", record(dtype, shape, f"[0,{n}]"), n)
    big = 2**63
    for what, dtype, shape in (
        ("a zero before an overflow", "F32", f"[0,{big},{big}]"), ("a zero after an overflow", "F32", f"[{big},{big},0]"), ("a zero between", "F32", f"[{big},0,{big}]"),
        ("2 times 2^63", "U8", f"[2,{big}]"), ("2^32 times 2^32", "U8", "[4294967296,4294967296]"), ("2^32 times 2^32 - 1", "U8", "[4294967296,4294967295]"), ("wraps to 1", "U8", "[274177,67280421310721]"),
        ("wraps to 4 bytes", "U8", "[4,4611686018427387905]"), ("count fits, bits do not", "F32", "[576460752303423489]"), ("2^61 bytes", "U8", "[2305843009213693952]"), ("2^61 - 1 bytes", "U8", "[2305843009213693951]"),
        ("2^60 of F16", "F16", "[1152921504606846976]"), ("2^62 of F4", "F4", "[4611686018427387904]"), ("2^62 - 2 of F4", "F4", "[4611686018427387902]"), ("largest", "F64", "[18446744073709551615]"), ("largest of F4", "F4", "[18446744073709551615]"),
        ("largest times 1 times 1", "U8", "[18446744073709551615,1,1]"), ("2^53 + 1 of U8", "U8", "[9007199254740993]"), ("512 MiB", "F32", "[134217728]"), ("4 GiB of U8", "U8", "[4294967296]"), ("4 GiB + 4: not 4", "U8", "[4294967300]"),
    ):  # fmt: skip
        yield one(f"size: {what}", record(dtype, shape, "[0,0]"), 0)
        yield one(f"size: {what}, 4 bytes", record(dtype, shape, "[0,4]"), 4)
    for what, shape, end in (("2^61 bytes, offsets that fit", 2**61, 2**61), ("2^61 - 1 bytes, offsets that fit", 2**61 - 1, 2**61 - 1), ("2^53 + 1 bytes, offsets that fit", 2**53 + 1, 2**53 + 1), ("4 GiB, offsets that fit", 2**32, 2**32), ("4 GiB + 4, offsets that fit, 4 there", 2**32 + 4, 2**32 + 4)):
        yield one(f"size: {what}", record("U8", f"[{shape}]", f"[0,{end}]"))
    for dtype, shape, n in (("F4", "[1]", 1), ("F4", "[2]", 1), ("F4", "[3]", 2), ("F4", "[3]", 1), ("F4", "[0]", 0), ("F4", "[]", 1), ("F4", "[3,2]", 3), ("F6_E2M3", "[4]", 3), ("F6_E2M3", "[1]", 1), ("F6_E3M2", "[2]", 2), ("F6_E3M2", "[3]", 3), ("F6_E3M2", "[8]", 6), ("F6_E2M3", "[4]", 4)):
        yield one(f"size: sub-byte {dtype} {shape} in {n} bytes", record(dtype, shape, f"[0,{n}]"), n)
    yield one("size: rank 64 of ones", record(shape="[" + ",".join(["1"] * 64) + "]"))
    yield one("size: rank 2000 of ones", record(shape="[" + ",".join(["1"] * 2000) + "]"))
    yield one("size: scalar", record(shape="[]"))
    yield one("size: scalar with a space in its shape", record(shape="[ ]"))
    yield one("size: empty of rank 3", record(shape="[3,0,5]", offsets="[0,0]"), 0)


def several(name, records, bytes_after, **more):
    body = ",".join(f'"{key}":{rec}' for key, rec in records)
    return header(name, "{" + body + "}", bytes_after=bytes_after, **more)


def u8(begin, end, count=None):
    return record("U8", f"[{end - begin if count is None else count}]", f"[{begin},{end}]")


def layout_cases():
    yield several("layout: two in order", [("a", u8(0, 4)), ("b", u8(4, 8))], 8)
    yield several("layout: two out of order", [("b", u8(4, 8)), ("a", u8(0, 4))], 8)
    yield several("layout: names out of order", [("z", u8(0, 4)), ("a", u8(4, 8))], 8)
    yield several("layout: seven in a scrambled order", [(str(i), u8(i, i + 1)) for i in (3, 0, 6, 2, 5, 1, 4)], 7)
    yield several("layout: a hole", [("a", u8(0, 4)), ("b", u8(5, 8))], 8)
    yield several("layout: a hole of one at the front", [("a", u8(1, 4))], 4)
    yield several("layout: overlap", [("a", u8(0, 4)), ("b", u8(3, 8))], 8)
    yield several("layout: alias", [("a", u8(0, 4)), ("b", u8(0, 4))], 4)
    yield several("layout: one inside another", [("a", u8(0, 8)), ("b", u8(2, 4))], 8)
    yield several("layout: same begin, other end", [("a", u8(0, 4)), ("b", u8(0, 8))], 8)
    yield several("layout: the second wrong in size", [("a", u8(0, 4)), ("b", u8(4, 8, 5))], 8)
    yield several("layout: the first wrong in size, the second in offset", [("a", u8(0, 4, 5)), ("b", u8(9, 12))], 12)
    yield several("layout: end before begin", [("a", record("U8", "[1]", "[4,0]"))], 4)
    yield several("layout: end before begin at 0", [("a", record("U8", "[0]", "[0,0]")), ("b", record("U8", "[1]", "[1,0]"))], 1)
    yield several("layout: end before begin in the middle", [("a", u8(0, 4)), ("b", record("U8", "[2]", "[4,2]"))], 4)
    yield several("layout: wraps round 2^64", [("a", record("U8", "[1]", "[18446744073709551615,0]"))], 0)
    yield several("layout: ends far past the file", [("a", u8(0, 2**40))], 4)
    yield several("layout: nine of 2^61 - 1 bytes pass 2^64", [(str(i), u8(i * (2**61 - 1), (i + 1) * (2**61 - 1))) for i in range(8)] + [("8", record("U8", f"[{2**61 - 1}]", f"[{8 * (2**61 - 1)},{2**61 - 9}]"))], 4)
    yield several("layout: sum just below 2^64", [(str(i), u8(i * (2**61 - 1), (i + 1) * (2**61 - 1))) for i in range(8)] + [("8", u8(8 * (2**61 - 1), 2**64 - 1))], 4)
    for extra in (1, 3, 8):
        yield several(f"layout: {extra} bytes after the last", [("a", u8(0, 4))], 4 + extra)
    for less in (1, 3, 4):
        yield several(f"layout: {less} bytes missing", [("a", u8(0, 4))], 4 - less)
    yield header("layout: no tensors, no data", "{}", bytes_after=0)
    yield header("layout: no tensors, a byte of data", "{}", bytes_after=1)
    yield several("layout: empty at the front", [("e", u8(0, 0)), ("a", u8(0, 4))], 4)
    yield several("layout: empty at the end", [("a", u8(0, 4)), ("e", u8(4, 4))], 4)
    yield several("layout: empty in between", [("a", u8(0, 4)), ("e", u8(4, 4)), ("b", u8(4, 8))], 8)
    yield several("layout: empty listed after what follows it", [("b", u8(4, 8)), ("a", u8(0, 4)), ("e", u8(4, 4))], 8)
    yield several("layout: three empties at one place", [("e", u8(0, 0)), ("f", u8(0, 0)), ("g", u8(0, 0)), ("a", u8(0, 1))], 1)
    yield several("layout: only empties", [("e", u8(0, 0)), ("f", u8(0, 0))], 0)
    yield several("layout: empty inside another", [("a", u8(0, 4)), ("e", u8(2, 2))], 4)
    yield several("layout: empty past the end", [("a", u8(0, 4)), ("e", u8(5, 5))], 4)
    yield several("layout: empty past the end of no data", [("e", u8(1, 1))], 0)
    yield several("layout: empty of 4 bytes", [("e", record("U8", "[0]", "[0,4]"))], 4)
    yield several("alignment: BF16 at an odd byte", [("a", u8(0, 1)), ("b", record("BF16", "[2]", "[1,5]"))], 5)
    yield several("alignment: F64 at byte 3", [("a", u8(0, 3)), ("b", record("F64", "[1]", "[3,11]"))], 11)
    yield several("alignment: F32 before U8 before F16", [("f", record("F32", "[1]", "[0,4]")), ("u", u8(4, 5)), ("h", record("F16", "[1]", "[5,7]"))], 7)
    for pad in range(8):
        yield header(f"alignment: data begins at byte {8 + 54 + pad} of the file", '{"a":{' + GOOD + "}}" + " " * pad)
    yield header("many: 1000 tensors", "{", {"each": '"t{i}":' + record("U8", "[0]", "[0,0]"), "times": 1000, "join": ","}, "}", bytes_after=0)
    yield header("many: 500000 tensors", "{", {"each": '"t{i}":' + record("U8", "[0]", "[0,0]"), "times": 500000, "join": ","}, "}", bytes_after=0)
    yield header("many: a metadata of 20000 pairs", '{"__metadata__":{', {"each": '"k{i}":"v{i}"', "times": 20000, "join": ","}, '},"a":{' + GOOD + "}}")


def metadata_cases():
    values = {
        "null": "null", "empty": "{}", "one pair": '{"format":"pt"}', "empty key and value": '{"":""}', "white space": '{ "a" : "b" , "c" : "d" }', "unicode": '{"é\\u00e9":"\\ud83d\\ude00漢"}', "own name inside": '{"__metadata__":"x"}', "JSON in a string": '{"config":"{\\"a\\":[1,2]}"}', "odd keys": '{"__proto__":"a","constructor":"b","length":"c","10":"d","toString":"e"}',
        "number": '{"a":1}', "null value": '{"a":null}', "true": '{"a":true}', "array value": '{"a":["b"]}', "object value": '{"a":{"b":"c"}}', "float": '{"a":1.5}', "second value a number": '{"a":"b","c":2}', "trailing comma": '{"a":"b",}', "no value": '{"a"}', "key a number": '{1:"a"}',
    }  # fmt: skip
    for what, text in values.items():
        yield header(f"metadata: {what}", '{"__metadata__":' + text + ',"a":{' + GOOD + "}}")
    for value in ("[]", '["a","b"]', '"a"', "1", "true", "false", "nul", "", "{" + GOOD + "}"):
        yield header(f"metadata: {value} for the map", '{"__metadata__":' + value + ',"a":{' + GOOD + "}}")
    yield header("metadata: last", '{"a":{' + GOOD + '},"__metadata__":{"k":"v"}}')
    yield header("metadata: alone", '{"__metadata__":{"k":"v"}}', bytes_after=0)
    yield header("metadata: twice", '{"__metadata__":{"k":"v"},"a":{' + GOOD + '},"__metadata__":{"l":"w"}}')
    yield header("metadata: twice, both null", '{"__metadata__":null,"a":{' + GOOD + '},"__metadata__":null}')
    yield header("metadata: key with escapes", '{"\\u005f_metadata__":{"k":"v"},"a":{' + GOOD + "}}")
    yield header("metadata: twice, once with an escape", '{"__metadata__":{},"__metadata\\u005f_":{},"a":{' + GOOD + "}}")
    for name in ("__metadata", "__metadata___", "__METADATA__", "metadata", " __metadata__"):
        yield header(f"metadata: a tensor called '{name}'", '{"' + name + '":{' + GOOD + "}}")
        yield header(f"metadata: a map called '{name}'", '{"' + name + '":{"k":"v"}}', bytes_after=0)
    yield header("metadata: 100 kB value", '{"__metadata__":{"k":"', {"repeat": "x", "times": 100000}, '"}}', bytes_after=0)


def name_cases():
    names = ("", " ", "__proto__", "constructor", "toString", "hasOwnProperty", "length", "10", "0", "-1", "1e3", "a/b\\\\c", "model.layers.0.mlp.gate_proj.weight", "漢字", "😀", "\\\"", "\\n", "null", "a" * 5000)
    for name in names:
        yield header(f"name: '{name[:40]}'", '{"' + name + '":{' + GOOD + "}}")
    yield several("name: numbers keep the header's order", [("10", u8(0, 1)), ("9", u8(1, 2)), ("01", u8(2, 3))], 3)
    yield several("name: composed and decomposed", [("\u00e9", u8(0, 1)), ("e\u0301", u8(1, 2))], 2)
    yield several("name: differing in case", [("a", u8(0, 1)), ("A", u8(1, 2))], 2)
    yield several("name: one a prefix of the other", [("ab", u8(0, 1)), ("a", u8(1, 2)), ("abc", u8(2, 3))], 3)
    yield several("name: differing after a NUL", [("a\\u0000b", u8(0, 1)), ("a\\u0000c", u8(1, 2)), ("a", u8(2, 3))], 3)
    duplicate = {"departs": "duplicate"}
    yield several("duplicate: the same record", [("a", u8(0, 4)), ("a", u8(0, 4))], 4, **duplicate)
    yield several("duplicate: spelled with an escape", [("a", u8(0, 4)), ("\\u0061", u8(0, 4))], 4, **duplicate)
    yield several("duplicate: two places in the file", [("a", u8(0, 4)), ("a", u8(4, 8))], 8, **duplicate)
    yield several("duplicate: two places, the last first", [("a", u8(4, 8)), ("a", u8(0, 4))], 8, **duplicate)
    yield several("duplicate: with another between", [("a", u8(0, 1)), ("b", u8(1, 2)), ("c", u8(2, 3)), ("b", u8(1, 2))], 3, **duplicate)
    yield several("duplicate: the empty name", [("", u8(0, 4)), ("", u8(0, 4))], 4, **duplicate)
    yield several("duplicate: the first is no record", [("a", "1"), ("a", u8(0, 4))], 4)
    yield several("duplicate: the first has a bad layout", [("a", u8(7, 9)), ("a", u8(0, 4))], 4, **duplicate)
    yield header("duplicate: metadata key", '{"__metadata__":{"k":"v","k":"w"},"a":{' + GOOD + "}}", **duplicate)
    yield header("duplicate: metadata key, same value", '{"__metadata__":{"k":"v","l":"w","k":"v"}}', bytes_after=0, **duplicate)
    yield header("duplicate: metadata key with an escape", '{"__metadata__":{"k":"v","\\u006b":"v"}}', bytes_after=0, **duplicate)
    yield header("duplicate: first and last of 10000", "{", {"each": '"t{i}":' + record("U8", "[0]", "[0,0]"), "times": 10000, "join": ","}, ',"t0":' + u8(0, 0) + "}", bytes_after=0, **duplicate)


def look_cases():
    lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4665b6f1f8c6ee9a4a4b5a2d5d2dd5f5d1b6d38c5f4a6e1c9b9cdd9f5e0b2e11\nsize 269060552\n"
    yield raw("look: Git LFS pointer", lfs, looks="Git LFS")
    yield raw("look: HTML page", "<!DOCTYPE html>\n<html><head><title>404</title></head></html>", looks="HTML")
    yield raw("look: HTML after white space", "\n\n  <!doctype HTML><p>Not found", looks="HTML")
    yield raw("look: HTML without doctype", "<HTML><body>Forbidden</body></HTML>", looks="HTML")
    yield raw("look: XML error of a store", '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>', looks="XML")
    yield raw("look: XML after a byte order mark", {"hex": "efbbbf"}, '<?xml version="1.0"?><Error/>', looks="XML")
    yield raw("look: JSON index", '{"metadata": {"total_size": 5}, "weight_map": {}}', looks="JSON")
    yield raw("look: JSON array", '[{"error": "Repository not found"}]', looks="JSON")
    yield raw("look: gzip", {"hex": "1f8b0800000000000003"}, looks="gzip")
    yield raw("look: Zstandard", {"hex": "28b52ffd0458c10000"}, looks="Zstandard")
    yield raw("look: GGUF", "GGUF", {"hex": "0300000025010000"}, looks="GGUF")
    yield raw("look: ZIP of PyTorch", "PK", {"hex": "0304000008080000"}, "archive/data.pkl", looks="ZIP")
    yield raw("look: pickle", {"hex": "80028a0a6cfc9c46f9206aa850192e"}, looks="pickle")
    yield raw("look: pickle of protocol 4", {"hex": "800495100000000000"}, looks="pickle")
    yield raw("look: HDF5", {"hex": "894844460d0a1a0a00000000"}, looks="HDF5")
    yield raw("look: NumPy", {"hex": "934e554d50590100"}, "v\0{'descr': '<f4'}", looks="NumPy")
    yield raw("look: text", "Not Found, nothing here", looks="")
    yield raw("look: zeros", {"hex": "00" * 64}, looks="")
    yield raw("look: a header of 8827 bytes that is not there", {"hex": "7b22000000000000"}, looks="")
    yield raw("look: a header of 640 bytes that is not there", {"hex": "8002000000000000"}, looks="")
    yield raw("look: four bytes of GGUF", "GGUF", looks="GGUF")
    yield raw("look: two bytes", "PK", looks="")


def cut_cases():
    whole = '{"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4],"x":[-1.5e3,null]}}'
    for n in range(1, len(whole), 3):
        yield header(f"cut: the first {n} bytes of a header", whole[:n])


def all_cases():
    for group in (
        length_cases, text_cases, escape_cases, json_cases, number_cases, space_cases, record_cases, integer_cases,
        dtype_cases, size_cases, layout_cases, metadata_cases, name_cases, look_cases, cut_cases,
    ):  # fmt: skip
        yield from group()
