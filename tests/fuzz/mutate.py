"""Random changes to safetensors files: of bytes, tokens, numbers and whole entries. The prefix and the amount of data
are mended most of the time, so that a change is judged for itself and not for the length it gives the file."""

import re

TOKENS = [
    b" ", b'"dtype":', b'"shape":', b'"data_offsets":', b'"__metadata__":', b'"__metadata__":{},', b"{",
    b"}", b"[", b"]", b",", b":", b'"', b'"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},',
    b"null", b"true", b"false", b"[]", b"{}", b"0", b"1", b"-", b".", b"e", b"E5", b"-0", b"1.0",
    b"\n", b"\t", b"\r", b"\x00", b"\x0b", b"\\", b"\\u0061", b"\\ud83d", b"\\ude00", b"\\n",
    b"\xc3\xa9", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"\xff", b"\xef\xbb\xbf", b'"F32"', b'"F4"',
    b'"F6_E3M2"', b'"BF16"', b'"U8"', b'"F64"', b'{"F32":null}', b'["F32",[1],[0,4]]', b'"x":',
    b"1e308", b"1e309", b"1797693134862315", b"/*", b"NaN",
]  # fmt: skip
NUMBERS = [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 255, 2**31, 2**32, 2**53 + 1, 2**60, 2**61 - 1, 2**61, 2**62]
NUMBERS += [2**63, 2**64 - 1, 2**64, 2**64 + 1, 10**19, 10**25]
MOST_DATA = 512
DIGITS = re.compile(rb"[0-9]+")
OFFSETS = re.compile(rb'"data_offsets"\s*:\s*\[\s*[0-9]+\s*,\s*([0-9]+)')
ENTRY = re.compile(rb'"[^"]*"\s*:\s*(?:\{[^{}]*\}|\[[^\[\]]*\]|"[^"]*"|[^,{}\[\]"]+)')


def change_byte(rng, text, seeds):
    at = rng.randrange(len(text))
    return text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]


def flip_bit(rng, text, seeds):
    at = rng.randrange(len(text))
    return text[:at] + bytes([text[at] ^ 1 << rng.randrange(8)]) + text[at + 1 :]


def delete(rng, text, seeds):
    at = rng.randrange(len(text))
    return text[:at] + text[at + rng.choice((1, 1, 1, 2, 4, 8)) :]


def insert_token(rng, text, seeds):
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(TOKENS) + text[at:]


def replace_by_token(rng, text, seeds):
    at = rng.randrange(len(text))
    return text[:at] + rng.choice(TOKENS) + text[at + rng.choice((1, 2, 4)) :]


def change_number(rng, text, seeds):
    runs = list(DIGITS.finditer(text))
    if not runs:
        return text
    run = rng.choice(runs)
    old = int(run.group()) if len(run.group()) < 40 else 0
    new = rng.choice((old + 1, max(0, old - 1), old * 2, rng.choice(NUMBERS), rng.randrange(20)))
    return text[: run.start()] + str(new).encode() + text[run.end() :]


def spell_number(rng, text, seeds):
    runs = list(DIGITS.finditer(text))
    if not runs:
        return text
    run = rng.choice(runs)
    form = rng.choice(
        (
            b"-%s",
            b"0%s",
            b"%s.0",
            b"%se0",
            b"%s.",
            b" %s ",
            b'"%s"',
            b"%se308",
            b"%s.5e307",
            b"[%s]",
            b"%s%s",
            b"%s000000000000000000",
        )
    )
    return text[: run.start()] + form.replace(b"%s", run.group()) + text[run.end() :]


def repeat_slice(rng, text, seeds):
    start = rng.randrange(len(text))
    end = min(len(text), start + rng.randrange(1, 40))
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[start:end] + text[at:]


def splice(rng, text, seeds):
    other = rng.choice(seeds)[8:]
    return text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1) :]


def move_entry(rng, text, seeds):
    """Deletes an entry, repeats it, or lets it change places with another."""
    entries = list(ENTRY.finditer(text))
    if not entries:
        return text
    a, b = sorted((rng.choice(entries), rng.choice(entries)), key=lambda entry: entry.start())
    how = rng.randrange(3)
    if how == 0:
        return text[: a.start()] + text[a.end() :].lstrip(b",")
    if how == 1 or a.end() > b.start():
        return text[: a.end()] + b"," + a.group() + text[a.end() :]
    return text[: a.start()] + b.group() + text[a.end() : b.start()] + a.group() + text[b.end() :]


CHANGES = (change_byte, flip_bit, delete, insert_token, insert_token, replace_by_token, change_number, change_number,
           spell_number, repeat_slice, splice, move_entry, move_entry)  # fmt: skip


def mutate(rng, seeds):
    """A file made of one of the seeds (whole files) by one to four changes."""
    data = rng.choice(seeds)
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8 or rng.random() < 0.03:
        return rng.choice(CHANGES)(rng, data, seeds) if data else data
    header, rest = data[8 : 8 + length], data[8 + length :]
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        if header:
            header = rng.choice(CHANGES)(rng, header, seeds)
    if rng.random() < 0.9:
        length = len(header)
    if rng.random() < 0.8:
        end = max((int(end) for end in OFFSETS.findall(header) if len(end) < 20), default=0)
        rest = bytes(i % 251 for i in range(end)) if end <= MOST_DATA else rest
    return length.to_bytes(8, "little") + header + rest
