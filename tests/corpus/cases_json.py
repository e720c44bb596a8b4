"""Cases about the JSON of a header: its grammar, its depth, its numbers and its white space."""

from case_parts import GOOD, header, with_extra


def json_cases():
    broken = {
        "empty header of spaces": "   ",
        "open brace only": "{",
        "open brace and space": "{ ",
        "close brace only": "}",
        "key without colon": '{"a"}',
        "key and colon only": '{"a":}',
        "unfinished key": '{"a',
        "unfinished name value": '{"a":',
        "double colon": '{"a"::{' + GOOD + "}}",
        "equals for colon": '{"a"={' + GOOD + "}}",
        "leading comma": '{,"a":{' + GOOD + "}}",
        "trailing comma in the object": '{"a":{' + GOOD + "},}",
        "double comma": '{"a":{' + GOOD + '},,"b":{}}',
        "trailing comma in the record": '{"a":{' + GOOD + ",}}",
        "missing comma in the record": '{"a":{"dtype":"F32" "shape":[1],"data_offsets":[0,4]}}',
        "missing comma between records": '{"a":{' + GOOD + '}"b":{' + GOOD + "}}",
        "semicolon for comma": '{"a":{"dtype":"F32";"shape":[1],"data_offsets":[0,4]}}',
        "single quotes": "{'a':{" + GOOD + "}}",
        "a name opened by a single quote": "{'a\":{" + GOOD + "}}",
        "a field opened by a single quote": '{"a":{' + GOOD.replace('"dtype', "'dtype") + "}}",
        "root opened by a bracket": '["a":{' + GOOD + "}}",
        "root opened by a parenthesis": '("a":{' + GOOD + "}}",
        "unquoted key": "{a:{" + GOOD + "}}",
        "number as key": "{1:{" + GOOD + "}}",
        "null as key": "{null:{" + GOOD + "}}",
        "block comment": '{"a":/**/{' + GOOD + "}}",
        "line comment": '{"a":{' + GOOD + "}}//",
        "comment first": '//\n{"a":{' + GOOD + "}}",
        "record not closed": '{"a":{' + GOOD,
        "object not closed": '{"a":{' + GOOD + "}",
        "bracket closes brace": '{"a":{' + GOOD + "]}",
        "brace closes bracket": '{"a":{"dtype":"F32","shape":[1},"data_offsets":[0,4]}}',
        "two objects": '{"a":{' + GOOD + "}}{}",
        "a second closing brace": '{"a":{' + GOOD + "}}}",
        "letters after": '{"a":{' + GOOD + "}}x",
        "comma after": '{"a":{' + GOOD + "}},",
        "NUL after": '{"a":{' + GOOD + "}}\0",
        "NUL before": '\0{"a":{' + GOOD + "}}",
        "NUL between tokens": '{"a":\0{' + GOOD + "}}",
    }
    for what, text in broken.items():
        yield header(f"json: {what}", text)
    for root in (
        "[]",
        '[{"a":1}]',
        '"a"',
        "1",
        "-1",
        "null",
        "true",
        "{]",
        "[}",
        "{}{}",
        "{} null",
        "nul",
        "tru",
    ):
        yield header(f"json: root is {root}", root, bytes_after=0)
    values = {
        "null": "null",
        "true": "true",
        "false": "false",
        "string": '"s"',
        "empty array": "[]",
        "empty object": "{}",
        "numbers": "[0,-1,1.5,1e5,1E-5,-0,-0.0,0e0]",
        "nested": '{"a":[{"b":[]},[[]],null],"c":"d"}',
        "a name twice inside": '{"a":1,"a":2}',
        "white space everywhere": '[ 1 ,\t2 ,\n{ "k" :\r3 } ]',
        "nul": "nul",
        "nulL": "nulL",
        "nullx": "nullx",
        "True": "True",
        "NULL": "NULL",
        "tru": "tru",
        "falsy": "falsy",
        "undefined": "undefined",
        "NaN": "NaN",
        "Infinity": "Infinity",
        "-Infinity": "-Infinity",
        "trailing comma in array": "[1,]",
        "trailing comma in object": '{"a":1,}',
        "leading comma in array": "[,1]",
        "missing comma in array": "[1 2]",
        "missing colon": '{"a" 1}',
        "key without value": '{"a"}',
        "brace for bracket": "[1}",
        "bracket for brace": '{"a":1]',
        "key opened by a single quote": "{'k\":1}",
        "array as key": "{[]:1}",
        "only comma": ",",
        "nothing": "",
        "two values": "1 2",
    }
    for what, text in values.items():
        yield with_extra(f"json: ignored field, {what}", text)
    for depth in (1, 124, 125, 126, 127, 128, 1000):
        yield with_extra(f"json: {depth} arrays in an ignored field", "[" * depth + "]" * depth)
    for depth in (125, 126):
        yield with_extra(f"json: {depth} objects in an ignored field", '{"q":' * depth + "1" + "}" * depth)
        yield with_extra(
            f"json: {depth} arrays and objects in turn",
            "".join("[" if i % 2 else '{"q":' for i in range(depth))
            + "1"
            + "".join("]" if i % 2 else "}" for i in reversed(range(depth))),
        )
    yield with_extra(
        "json: 125 arrays, then 125 more beside them", "[" + ",".join(["[" * 124 + "]" * 124] * 2) + "]"
    )
    yield header("json: 100000 open brackets", '{"a":', {"repeat": "[", "times": 100000}, bytes_after=0)
    yield header("json: 100000 open braces", {"repeat": '{"a":', "times": 100000}, bytes_after=0)


def number_cases():
    numbers = (
        "0",
        "-0",
        "10",
        "-1",
        "0.5",
        "-0.5",
        "1e0",
        "1E+0",
        "1e-0",
        "1.0e10",
        "00",
        "01",
        "-01",
        "-",
        "--1",
        "+1",
        ".5",
        "1.",
        "1.e5",
        "-.5",
        "1e",
        "1e+",
        "1e-",
        "1e1.5",
        "1ee5",
        "0x10",
        "1_000",
        "1,000",
        "1e5x",
        "١",
        "1f",
        "- 1",
        "1 .5",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999999999",
        "1e308",
        "1e309",
        "-1e308",
        "-1e309",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "17976931348623157e292",
        "17976931348623158e292",
        "17976931348623157080e289",
        "17976931348623157081e289",
        "0.17976931348623157e309",
        "0.00001e313",
        "0.00001e314",
        "18446744073709551615e288",
        "18446744073709551615e289",
        "18446744073709551616e288",
        "18446744073709551616e289",
        "1844674407370955161.5e289",
        "1844674407370955161.6e290",
        "1844674407370955161.55555e290",
        "1844674407370955161600.5e287",
        "0e999999999999",
        "0.0e999999999999",
        "0e-999999999999",
        "1e2147483647",
        "1e2147483648",
        "1e-2147483648",
        "1e-2147483649",
        "1e-99999999999999999999",
        "1e99999999999999999999",
        "0.000000000000000000000000001e335",
        "1e-400",
        "4.9e-324",
        "123456789012345678901234567890e280",
    )
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
    for what, space in {
        "form feed": "\f",
        "vertical tab": "\v",
        "no-break space": "\u00a0",
        "line separator": "\u2028",
        "next line": "\u0085",
    }.items():
        yield header(f"space: {what} before", space + whole)
        yield header(f"space: {what} after", whole + space)
        yield header(f"space: {what} inside", '{"a":' + space + "{" + GOOD + "}}")
    spread = (
        ' \n{ "a"\t: { "dtype" : "F32" , "shape" : [ 1 ] , "data_offsets" : [ 0 , 4 ] }'
        ' , "__metadata__" : { "k" : "v" } } \r\n'
    )
    yield header("space: between all tokens", spread)
    yield header("space: padded to eight bytes as writers do", whole + " " * 10)
    yield header("space: spaces only inside", "{ }", bytes_after=0)
    yield header(
        "space: a thousand before and after",
        {"repeat": " ", "times": 1000},
        whole,
        {"repeat": "\n", "times": 1000},
    )
