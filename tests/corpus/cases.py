"""The cases of the corpus, by rule of the format. make_corpus.py runs the reference on them; nothing here judges, but
for `departs` (where this project refuses on purpose what the reference takes) and `looks` (a word that must be said of
what the bytes really are; empty: nothing)."""

import cases_json
import cases_records
import cases_tensors
import cases_text
from case_parts import raw


def look_cases():
    lfs = (
        "version https://git-lfs.github.com/spec/v1\n"
        "oid sha256:4665b6f1f8c6ee9a4a4b5a2d5d2dd5f5d1b6d38c5f4a6e1c9b9cdd9f5e0b2e11\nsize 269060552\n"
    )
    yield raw("look: Git LFS pointer", lfs, looks="Git LFS")
    yield raw(
        "look: HTML page", "<!DOCTYPE html>\n<html><head><title>404</title></head></html>", looks="HTML"
    )
    yield raw("look: HTML after white space", "\n\n  <!doctype HTML><p>Not found", looks="HTML")
    yield raw("look: HTML without doctype", "<HTML><body>Forbidden</body></HTML>", looks="HTML")
    yield raw(
        "look: XML error of a store",
        '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>',
        looks="XML",
    )
    yield raw(
        "look: XML after a byte order mark", {"hex": "efbbbf"}, '<?xml version="1.0"?><Error/>', looks="XML"
    )
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
    yield raw("look: gzip with a name", {"hex": "1f8b080800000000"}, "w.bin", looks="gzip")
    yield raw("look: ZIP of a tool", "PK", {"hex": "0304140000000800"}, looks="ZIP")
    for protocol, looks in ((1, ""), (2, "pickle"), (3, "pickle"), (5, "pickle"), (6, "")):
        yield raw(
            f"look: first bytes 80 0{protocol} 7d", {"hex": f"800{protocol}7d7100580a0000"}, looks=looks
        )
    yield raw("look: three bytes of a pickle", {"hex": "80027d"}, looks="pickle")
    yield raw("look: two bytes of a pickle", {"hex": "8002"}, looks="")
    for start in ("version https://git-l", "<!doctype htm", "<htm", "<?xm", "GGU", "\n ", "{"):
        yield raw(f"look: only {start!r}", start, looks="")
    yield raw("look: an empty JSON object", "{}", looks="JSON")
    yield raw("look: an object with NUL as its eighth byte", '{"a":1}', {"hex": "00"}, looks="")
    yield raw("look: an object with NUL as its ninth byte", '{"a": 1}', {"hex": "00"}, looks="JSON")
    yield raw("look: text", "Not Found, nothing here", looks="")
    yield raw("look: zeros", {"hex": "00" * 64}, looks="")
    yield raw("look: a header of 8827 bytes that is not there", {"hex": "7b22000000000000"}, looks="")
    yield raw("look: a header of 640 bytes that is not there", {"hex": "8002000000000000"}, looks="")
    yield raw("look: four bytes of GGUF", "GGUF", looks="GGUF")
    yield raw("look: two bytes", "PK", looks="")


def all_cases():
    for group in (
        cases_text.length_cases,
        cases_text.text_cases,
        cases_text.escape_cases,
        cases_json.json_cases,
        cases_json.number_cases,
        cases_json.space_cases,
        cases_text.cut_cases,
        cases_records.record_cases,
        cases_records.integer_cases,
        cases_records.dtype_cases,
        cases_tensors.size_cases,
        cases_tensors.layout_cases,
        cases_tensors.metadata_cases,
        cases_tensors.name_cases,
        look_cases,
    ):
        yield from group()
