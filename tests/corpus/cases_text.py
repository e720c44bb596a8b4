"""Cases about the prefix and the text of a header: lengths, UTF-8, escapes, headers cut short."""

from case_parts import FOUR, GOOD, header, raw, with_extra


def prefix(n):
    return {"hex": n.to_bytes(8, "little").hex()}


def spaces(n):
    return {"repeat": " ", "times": n}


def length_cases():
    for n in range(8):
        yield raw(f"length: a file of {n} bytes", {"hex": "00" * n})
    yield raw("length: a header of 0 bytes", prefix(0))
    yield raw("length: a header of 0 bytes, then data", prefix(0), "{}  ")
    yield raw("length: exactly the file", prefix(2), "{}")
    for n in (3, 10, 100000000, 99999999):
        yield raw(f"length: {n} claimed of 2", prefix(n), "{}")
    for n in (
        100000001,
        2**31,
        2**32,
        2**32 + 2,
        2**53 + 1,
        2**63,
        2**63 + 2,
        2**64 - 8,
        2**64 - 6,
        2**64 - 1,
    ):
        yield raw(f"length: {n} claimed, over the cap", prefix(n), "{}")
    yield raw("length: big-endian prefix", {"hex": "0000000000000002"}, "{}")
    yield raw("length: one short of the header", prefix(56), '{"a":{' + GOOD + "}}", FOUR)
    yield raw("length: one past the header, into the data", prefix(55), '{"a":{' + GOOD + "}}", FOUR)
    yield raw("length: prefix only, over the cap, before the file's end matters", prefix(100000001))
    yield raw("length: cut inside a two-byte character", prefix(4), '{"é":1}')
    yield raw("length: a header of exactly 100000000 bytes", prefix(100000000), "{}", spaces(99999998))
    yield raw("length: a header of 100000001 bytes that is there", prefix(100000001), "{}", spaces(99999999))
    yield raw(
        "length: a header of 100000000 bytes, one byte missing", prefix(100000000), "{}", spaces(99999997)
    )


BAD_UTF8 = {
    "lone continuation 80": "80",
    "lone continuation bf": "bf",
    "overlong slash c0 af": "c0af",
    "c0 80": "c080",
    "c1 bf": "c1bf",
    "overlong e0 80 80": "e08080",
    "overlong e0 9f bf": "e09fbf",
    "surrogate ed a0 80": "eda080",
    "surrogate ed bf bf": "edbfbf",
    "surrogate pair ed a0 bd ed b8 80": "eda0bdedb880",
    "overlong f0 80 80 80": "f0808080",
    "overlong f0 8f bf bf": "f08fbfbf",
    "past the end f4 90 80 80": "f4908080",
    "f5 80 80 80": "f5808080",
    "five bytes f8 88 80 80 80": "f888808080",
    "six bytes fc": "fc8480808080",
    "fe": "fe",
    "ff": "ff",
    "cut c2": "c2",
    "cut e2 82": "e282",
    "cut e2": "e2",
    "cut f0 9f 98": "f09f98",
    "cut f0 9f": "f09f",
    "c2 then ascii": "c241",
    "e2 82 then ascii": "e28241",
    "f0 9f 98 then ascii": "f09f9841",
    "c2 c2": "c2c2",
    "c2 c0": "c2c0",
    "e2 c0 80": "e2c080",
    "e2 82 c0": "e282c0",
    "f1 c0 80 80": "f1c08080",
    "two continuations": "8080",
    "Latin-1 e9": "e9",
}


GOOD_UTF8 = {
    "U+0080": "c280",
    "U+07FF": "dfbf",
    "U+0800": "e0a080",
    "U+D7FF": "ed9fbf",
    "U+E000": "ee8080",
    "U+FEFF": "efbbbf",
    "U+FFFF": "efbfbf",
    "U+10000": "f0908080",
    "U+FFFFF": "f3bfbfbf",
    "U+10FFFF": "f48fbfbf",
    "U+0085": "c285",
    "U+2028": "e280a8",
    "delete 7f": "7f",
}


def text_cases():
    for what, code in BAD_UTF8.items():
        yield header(f"utf8: {what} in a name", '{"a', {"hex": code}, '":{' + GOOD + "}}")
    for what, code in GOOD_UTF8.items():
        yield header(f"utf8: {what} in a name", '{"a', {"hex": code}, '":{' + GOOD + "}}")
    yield header("utf8: ff outside strings", '{"a":{' + GOOD + "}}", {"hex": "ff"})
    yield header("utf8: ff after broken JSON", "{,", {"hex": "ff"}, "}")
    yield header("utf8: c2 as the last byte", '{"a":{' + GOOD + "}}", {"hex": "c2"})
    yield header(
        "utf8: bad in a metadata value", '{"__metadata__":{"k":"', {"hex": "fe"}, '"}}', bytes_after=0
    )
    yield header("utf8: bad in an ignored field", '{"a":{' + GOOD + ',"x":"', {"hex": "eda080"}, '"}}')
    for i in range(9):
        yield header(
            f"utf8: bad at byte {i} of a run of eight",
            '{"',
            "x" * i,
            {"hex": "ff"},
            "x" * (8 - i),
            '":{' + GOOD + "}}",
        )
    yield header("text: byte order mark before the object", {"hex": "efbbbf"}, '{"a":{' + GOOD + "}}")
    yield header("text: byte order mark after the object", '{"a":{' + GOOD + "}}", {"hex": "efbbbf"})
    yield header("text: UTF-16", {"hex": "{}".encode("utf-16-le").hex()}, bytes_after=0)
    for code in (0, 1, 8, 9, 10, 12, 13, 27, 31):
        yield header(
            f"text: raw control character {code:02x} in a name",
            '{"a',
            {"hex": f"{code:02x}"},
            '":{' + GOOD + "}}",
        )
    yield header("text: raw newline in a metadata value", '{"__metadata__":{"k":"a\nb"}}', bytes_after=0)
    yield with_extra("text: raw tab in an ignored string", '"\t"')


def escape_cases():
    names = {
        "every short escape": '\\"\\\\\\/\\b\\f\\n\\r\\t',
        "\\u0000": "\\u0000",
        "\\u0041": "\\u0041",
        "\\u00e9": "\\u00e9",
        "\\u07ff \\u0800 \\uffff": "\\u07ff\\u0800\\uffff",
        "pair": "\\ud83d\\ude00",
        "pair in capitals": "\\uD83D\\uDE00",
        "\\u007f \\u0080 \\u00bf": "\\u007f\\u0080\\u00bf",
        "every digit": "\\u0123\\u4567\\u89ab\\ucdef\\uabCD\\uEFAB",
        "low dc00 twice": "\\udc00\\udc00",
        "first pair": "\\ud800\\udc00",
        "last pair": "\\udbff\\udfff",
        "\\ud7ff": "\\ud7ff",
        "\\ue000": "\\ue000",
        "lone high": "\\ud800",
        "lone high dbff": "\\udbff",
        "lone low dc00": "\\udc00",
        "lone low dfff": "\\udfff",
        "high then letter": "\\ud83dx",
        "high then high": "\\ud83d\\ud83d",
        "high, high, low": "\\ud83d\\ud83d\\ude00",
        "high then short escape": "\\ud83d\\n",
        "high then \\n and the digits of a low": "\\ud83d\\nde00",
        "high then xu and the digits of a low": "\\ud83dxude00",
        "high then \\u0041": "\\ud83d\\u0041",
        "low then high": "\\ude00\\ud83d",
        "high then \\ue000": "\\ud83d\\ue000",
        "high then \\udbff": "\\ud83d\\udbff",
        "high then cut \\u": "\\ud83d\\ude0",
        "high then \\ug": "\\ud83d\\udeg0",
        "\\u12": "\\u12",
        "\\u12g4": "\\u12g4",
        "\\u 123": "\\u 123",
        "\\u+123": "\\u+123",
        "\\x41": "\\x41",
        "\\U0041": "\\U0041",
        "\\'": "\\'",
        "\\0": "\\0",
        "\\N": "\\N",
        "\\a": "\\a",
        "\\v": "\\v",
        "backslash newline": "\\\n",
        "escaped space": "\\ ",
    }
    for what, text in names.items():
        yield header(f"escape: {what} in a name", '{"a' + text + '":{' + GOOD + "}}")
    yield header("escape: backslash NUL", '{"a\\', {"hex": "00"}, '":{' + GOOD + "}}")
    yield header(
        "escape: lone surrogate in a metadata value", '{"__metadata__":{"k":"\\ud800"}}', bytes_after=0
    )
    yield header(
        "escape: lone surrogate in a metadata key", '{"__metadata__":{"\\udc00":"v"}}', bytes_after=0
    )
    yield with_extra("escape: lone surrogate in an ignored string", '"\\ud800"')
    yield with_extra("escape: lone surrogate in an ignored key", '{"\\ud800":1}')
    yield header("escape: header ends after a backslash", '{"a\\', bytes_after=0)
    yield header("escape: header ends inside \\u", '{"a\\u00', bytes_after=0)
    yield header("escape: header ends after a high surrogate", '{"a\\ud83d', bytes_after=0)
    yield header("escape: header ends after high surrogate and backslash", '{"a\\ud83d\\', bytes_after=0)
    yield header(
        "escape: keys and dtype spelled with escapes",
        '{"\\u0061":{"dt\\u0079pe":"\\u00463\\u0032","sh\\u0061pe":[1],"data\\u005foffsets":[0,4]}}',
    )


def cut_cases():
    whole = (
        '{"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4],"x":[-1.5e3,null]}}'
    )
    for n in range(1, len(whole), 3):
        yield header(f"cut: the first {n} bytes of a header", whole[:n])
