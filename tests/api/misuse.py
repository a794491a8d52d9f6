#!/usr/bin/env python3
"""Calls of the public interface that nobody should make: each pointer NULL, each index out of range, one at a time. None of them may crash.

    misuse.py HEADERS --source misuse.c

Writes a C program of all of them from the headers (read by the generator of the Python package). Every call runs in a child of its own with good objects for
all other arguments; a call that ends by a signal is a failure, and so is one that has no word for it: what can return a status returns one that is not KK_OK,
unless a comment says that the argument may be NULL.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import generate  # noqa: E402

# objects that the preamble makes; of other types there is none, and their calls get NULL alone
MADE = {"kk_model": "model", "kk_state": "state", "kk_data": "data", "kk_simulator": "simulator", "kk_spec": "spec", "kk_messages": "messages",
        "kk_batch": "batch", "kk_simulations": "simulations", "kk_sequence": "sequence", "kk_table": "table", "kk_scene": "scene", "kk_session": "session",
        "kk_ik": "ik", "kk_recorder": "recorder", "kk_recording": "recording", "kk_optimizer": "optimizer"}
UNMADE = {"kk_placed", "kk_player", "kk_command"}  # their insides are made by calls that need more than this
# functions that the preamble has
CALLBACKS = {"kk_recorder_sink": "keep", "kk_table_sink": "keep", "kk_cost": "cost", "kk_controller": "control", "kk_task": "NULL"}
# pointers that may be NULL wherever they stand: results that nobody asked for, an allocator, an error
OPTIONAL = {"kk_allocator", "kk_error"}
INDICES = {"body", "frame", "index", "shape_a", "shape_b", "tendon", "mesh", "field", "loop", "dof", "shape", "keyframe", "other", "column", "visual", "material",
           "actuator", "sensor", "on", "joint", "first_foot", "simulation", "id"}
OUTSIDE = ("-1", "-2147483647 - 1", "1000000", "2147483647")


def is_pointer(parameter):
    return bool(parameter.stars or parameter.count)


def good_value(parameter, number):
    """An argument that is not to blame; arrays are long and zero."""
    if not is_pointer(parameter):
        if parameter.name in ("count", "n", "generations", "size"):
            return "1"
        return "0" if parameter.base in generate.SCALARS else f"({parameter.base}){{0}}"
    if parameter.base in OPTIONAL:
        return "NULL"
    if parameter.base in CALLBACKS:
        return CALLBACKS[parameter.base]
    if parameter.base in MADE and parameter.stars == 1:
        return MADE[parameter.base]
    if parameter.base == "char" and parameter.stars == 1 and parameter.is_const:
        return '"a"'
    return f"(void *)block[{number}]"


def allows_null(call, parameter):
    """Whether the call's comment says so. An id is a result; arrays without rows, and what nobody asked for, may be missing."""
    return parameter.base in OPTIONAL or parameter.name in ("id", "user") or bool(re.search(r"NULL", call.doc))


def is_made(parameter, interface):
    return parameter.stars != 1 or parameter.base in MADE or parameter.base not in (*interface.opaque, *UNMADE)


def cases_of(call, interface):
    """(what is wrong, arguments, whether a status must tell)."""
    good = [good_value(p, k) for k, p in enumerate(call.parameters)]
    tells = call.result == "kk_status" and not call.result_stars
    made = [is_made(p, interface) for p in call.parameters]
    for k, p in enumerate(call.parameters):
        if not all(made[:k] + made[k + 1:]):
            continue
        if is_pointer(p) and tells:
            yield f"{p.name} is NULL", good[:k] + ["NULL"] + good[k + 1:], not allows_null(call, p)
        elif p.base == "int" and p.name in INDICES and all(made):
            for value in OUTSIDE:
                yield f"{p.name} is {value.split(' ')[0]}", good[:k] + [value] + good[k + 1:], False


def skipped(call):
    """kk_…_free frees what others use; a recorder's close does, too."""
    return call.name.endswith(("_free", "_close"))


def statement(call, arguments):
    text = f"{call.name}({', '.join(arguments)})"
    if call.result == "kk_status" and not call.result_stars:
        return f"return {text} == KK_OK ? 0 : 1;"
    return f"(void){text}; return 2;"


def program(interface):
    functions, rows = [], []
    for call in interface.calls:
        if skipped(call):
            continue
        for wrong, arguments, must_tell in cases_of(call, interface):
            number = len(rows)
            functions.append(f"static int case_{number}(void) {{ {statement(call, arguments)} }}")
            rows.append(f'    {{"{call.name}", "{wrong}", case_{number}, {int(must_tell)}}},')
    preamble = (pathlib.Path(__file__).parent / "misuse.c.in").read_text()
    return preamble.replace("@FUNCTIONS@", "\n".join(functions)).replace("@ROWS@", "\n".join(rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("headers", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.source.write_text(program(generate.read_headers(options.headers)))


if __name__ == "__main__":
    main()
