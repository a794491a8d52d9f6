#!/usr/bin/env python3
"""What the shared library takes from outside and what it shows: check_symbols.py libkarakuri.so

- exports only kk_*;
- imports nothing whose result may differ from machine to machine (libm, number parsing, sorting, random numbers), nothing that
  prints, exits or aborts, and does not load libm;
- has no format string in src/ with a conversion that kki_print (src/base/print.h) does not know;
- has no writable globals;
- carries no path of the machine it was built on.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]

# frexp, ldexp, modf, copysign and the like are exact everywhere and live in libc; they are not listed
BANNED = set("""
    sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh sincos exp exp2 exp10 expm1 log log2 log10 log1p pow sqrt
    cbrt hypot fmod remainder drem floor ceil round trunc rint nearbyint lround lrint llround llrint fma fmin fmax erf erfc
    tgamma lgamma
    strtod strtof strtold atof strtod_l scanf sscanf fscanf vsscanf strfromd
    qsort qsort_r bsearch rand srand random srandom drand48 rand_r time clock setlocale localeconv
    printf vprintf puts putchar perror fprintf vfprintf sprintf vsprintf snprintf vsnprintf exit _exit abort assert_fail system signal
""".split())
BANNED |= {name + suffix for name in BANNED for suffix in "fl"}  # sinf, sinl
CRT_GLOBALS = {"completed.0", "__dso_handle", "__TMC_END__", "_DYNAMIC", "_GLOBAL_OFFSET_TABLE_", "__bss_start", "_edata", "_end"}
CONVERSION = re.compile(r'%(?!"|(?:\.(?:\d+|\*))?s|(?:0(?:\d+|\*))?[du]|lld)')
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def plain_name(symbol):
    """`__snprintf_chk@GLIBC_2.3.4` is snprintf, `__isoc99_sscanf` is sscanf."""
    name = re.sub(r"@.*", "", symbol)
    name = re.sub(r"^__isoc\d+_", "", name)
    name = re.sub(r"^__(\w+?)(_chk|_finite)$", r"\1", name)
    return re.sub(r"^__(assert_fail)$", r"\1", name)


def faults_of(library):
    for line in run("nm", "-D", "--undefined-only", library).splitlines():
        name = plain_name(line.split()[-1])
        if name in BANNED:
            yield f"imports {name}"
    for line in run("nm", "-D", "--defined-only", library).splitlines():
        name = line.split()[-1]
        if not name.startswith("kk_"):
            yield f"exports {name}, which is not kk_*"
    for line in run("nm", "--format=sysv", "--defined-only", library).splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 7 and fields[6] in (".data", ".bss", ".tdata", ".tbss") and fields[0] not in CRT_GLOBALS:
            yield f"has a writable global: {fields[0]} in {fields[6]}"
    if re.search(r"NEEDED.*\[libm\.so", run("readelf", "-d", library)):
        yield "is linked with libm"
    if str(ROOT).encode() in pathlib.Path(library).read_bytes():
        yield f"contains the path {ROOT}"


def unknown_conversions():
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for text in STRING.findall(line.split("//")[0]):
                if CONVERSION.search(text.replace("%%", "")):
                    yield f"{path.relative_to(ROOT)}:{number}: kki_print does not know what stands behind % in {text}"


def main():
    if len(sys.argv) != 2:
        print("usage: check_symbols.py libkarakuri.so", file=sys.stderr)
        return 2
    faults = [*faults_of(sys.argv[1]), *unknown_conversions()]
    for fault in faults:
        print(fault)
    print(f"symbols: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
