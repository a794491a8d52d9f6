#!/usr/bin/env python3
"""Includes point only downwards.

A file of src/<layer>/ includes from its own layer and from the layers before it in src/LAYERS, by the path from src/
("math/vec3.h") or, inside a layer, from the file itself ("../float_bits.h"), and public headers one by one. Examples and tools stand on the public headers only, and so do public headers.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


def read_layers():
    lines = (ROOT / "src" / "LAYERS").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def includes_of(path):
    """(line number, quoted name or None, bracketed name or None) of every include."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def fault_in_source(path, quoted, bracketed, layers):
    """What is wrong with an include in src/, or None."""
    if bracketed is not None:
        if bracketed == "karakuri/karakuri.h":
            return "includes <karakuri/karakuri.h>; inside the library include the public headers one by one"
        if bracketed.startswith("karakuri/") and not (ROOT / "include" / bracketed).exists():
            return f"includes <{bracketed}>, which does not exist"
        return None
    places = [(folder / quoted).resolve() for folder in (path.parent, ROOT / "src")]
    found = next((place for place in places if place.is_file()), None)
    if found is None or ROOT / "src" not in found.parents:
        return f'includes "{quoted}", which is neither beside it nor a path from src/'
    own, other = (place.relative_to(ROOT / "src").parts[0] for place in (path, found))
    if other not in layers:
        return f'includes "{quoted}", and {other} is not a layer of src/LAYERS'
    if layers.index(other) > layers.index(own):
        return f'includes "{quoted}": {own} stands below {other} in src/LAYERS'
    return None


def fault_in_user(path, quoted, bracketed):
    """What is wrong with an include of a public header, an example or a tool, or None."""
    if bracketed is not None and bracketed.startswith("karakuri/") and not (ROOT / "include" / bracketed).exists():
        return f"includes <{bracketed}>, which does not exist"
    if quoted is not None and not (path.parent / quoted).exists():
        return f'includes "{quoted}"; only public headers <karakuri/...> and files beside it are allowed here'
    if quoted is not None and "src/" in quoted:
        return f'includes "{quoted}", an internal of the library'
    return None


def sources(folder):
    return sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in (".c", ".h"))


def main():
    layers = read_layers()
    faults = []
    count = 0
    for path in sources("src"):
        own = path.relative_to(ROOT / "src").parts[0]
        count += 1
        if own not in layers:
            faults.append(f"{path.relative_to(ROOT)}: {own} is not a layer of src/LAYERS")
            continue
        for number, quoted, bracketed in includes_of(path):
            fault = fault_in_source(path, quoted, bracketed, layers)
            if fault:
                faults.append(f"{path.relative_to(ROOT)}:{number}: {fault}")
    for path in [path for folder in ("include", "examples", "tools") for path in sources(folder)]:
        count += 1
        for number, quoted, bracketed in includes_of(path):
            fault = fault_in_user(path, quoted, bracketed)
            if fault:
                faults.append(f"{path.relative_to(ROOT)}:{number}: {fault}")
    for fault in faults:
        print(fault)
    print(f"layers: {count} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
