#!/usr/bin/env python3
"""Bindings and stubs of the public C interface, made from the headers in include/karakuri.

    generate.py HEADERS --source bindings.c --stubs c.pyi [--count]

The headers are regular, so a small reader of our own is enough: `typedef struct`, `typedef enum`, `KK_API`, `static inline`, the three kinds of
X-macros, and comments. What a comment says of an argument, "[nv × nv]" or "may be NULL", is read as well: lengths of arrays are checked by it.
A call that nobody understands stops the generator with the call's name, so that nothing is left out by accident.
"""
import argparse
import pathlib
import re
import sys

# ---- reading headers

SCALARS = {"double": "KKP_DOUBLE", "float": "KKP_FLOAT", "char": "KKP_CHAR", "unsigned char": "KKP_UCHAR", "int": "KKP_INT",
           "int32_t": "KKP_INT", "uint32_t": "KKP_UINT32", "unsigned": "KKP_UINT32", "int64_t": "KKP_INT64",
           "uint64_t": "KKP_UINT64", "size_t": "KKP_SIZE"}
RANGES = {"int": "INT32_MIN, INT32_MAX", "int32_t": "INT32_MIN, INT32_MAX", "uint32_t": "0, UINT32_MAX",
          "unsigned": "0, UINT32_MAX", "int64_t": "INT64_MIN, INT64_MAX"}


class Field:
    def __init__(self, base, stars, name, count, doc):
        self.base, self.stars, self.name, self.count, self.doc = base, stars, name, count, doc


class Struct:
    def __init__(self, name, fields, doc, c_type=None):
        self.name, self.fields, self.doc, self.c_type = name, fields, doc, c_type or name


class Parameter:
    def __init__(self, base, stars, name, count, is_const):
        self.base, self.stars, self.name, self.count, self.is_const = base, stars, name, count, is_const


class Call:
    def __init__(self, result, result_stars, result_const, name, parameters, doc, header):
        self.result, self.result_stars, self.result_const = result, result_stars, result_const
        self.name, self.parameters, self.doc, self.header = name, parameters, doc, header


class Interface:
    """What the headers declare."""

    def __init__(self):
        self.opaque, self.structs, self.enums, self.constants = {}, {}, {}, {}
        self.calls, self.callbacks, self.texts, self.numbers = [], {}, {}, {}


def balanced(text, start):
    """The place of the parenthesis or brace that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += text[i] in "({"
        depth -= text[i] in ")}"
        if depth == 0:
            return i
    raise SystemExit("generate.py: a parenthesis is never closed")


def expand_macros(text):
    """X-macros: lists `#define KK_X_LIST(X) X(…) X(…)`, one-use macros `#define KK_M(a, b) …`, and `KK_X_LIST(KK_M)`."""
    text = text.replace("\\\n", " ")
    lists, macros = {}, {}
    kept = []
    for line in text.split("\n"):
        found = re.match(r"#define (KK_\w+)\(([\w, ]+)\)\s+(.*)", line)
        if found and found[2] == "X":
            lists[found[1]] = re.findall(r"X\(((?:[^()\"]|\"[^\"]*\")*)\)", found[3])
        elif found:
            macros[found[1]] = ([a.strip() for a in found[2].split(",")], found[3])
        elif not line.startswith("#undef"):
            kept.append(line)
    result = []
    for line in kept:
        use = re.match(r"\s*(KK_\w+)\((KK_\w+)\)\s*$", line)
        if not use or use[1] not in lists:
            result.append(line)
            continue
        names, body = macros[use[2]]
        for row in lists[use[1]]:
            values = re.findall(r"\"[^\"]*\"|[^,\s][^,]*", row)
            values = [v.strip() for v in values]
            one = body
            for name, value in zip(names, values):
                one = re.sub(rf"(?:##)?\b{name}\b(?:##)?", value, one) if f"##{name}" in one or f"{name}##" in one else \
                    re.sub(rf"\b{name}\b", value, one)
            one = re.sub(r"\s*##\s*", "", one)
            result += re.sub(r";\s*(?=KK_API)", ";\n", one).split("\n")
    return "\n".join(result)


def split_type(text):
    """`const char *const *x[3]` as (base, stars, name, count, whether what it leads to is const)."""
    text = " ".join(text.split())
    face = re.match(r"const int32_t \(\*(\w+)\)\[3\]", text)
    if face:
        return "faces", 1, face[1], None, True
    found = re.match(r"(.*?)([*\s]*(?:const \*)?)\s*(\w+)\s*(?:\[(.*?)\])?((?:\[.*?\])*)$", text)
    base, stars, name, count = found[1].strip(), found[2], found[3], found[4]
    if found[5]:
        count = f"({count}) * ({found[5][1:-1]})"
    is_const = bool(re.search(r"\bconst\b", base))
    if "*const" in base.replace(" ", ""):
        stars += "*" * base.count("*")
        base = base.split("*")[0]
    stars_count = stars.count("*") + base.count("*")
    base = re.sub(r"\b(const|struct|enum)\b|\*", "", base).strip()
    return base, stars_count, name, count, is_const


def clean_doc(lines):
    return "\n".join(re.sub(r"^\s*///<? ?", "", line) for line in lines).strip()


def read_fields(body, owner, interface):
    """Fields with their comments; a nested array of structures becomes a structure of its own."""
    fields, docs = [], []
    nested = re.search(r"struct \{(.*?)\}\s*(\w+)\[(\w+)\];", body, re.S)
    if nested:
        inner = f"{owner}_{nested[2]}"
        c_type = f"__typeof__(((({owner} *)0))->{nested[2]}[0])"
        interface.structs[inner] = Struct(inner, read_fields(nested[1], inner, interface), "", c_type)
        body = body.replace(nested[0], f"{inner} {nested[2]}[{nested[3]}];")
    statement = ""
    for line in body.split("\n"):
        code, _, comment = line.partition("//")
        comment = comment.lstrip("/<").strip()
        if not code.strip():
            if comment and line.strip().startswith("///<") and fields:
                fields[-1].doc = f"{fields[-1].doc} {comment}".strip()
            elif comment:
                docs.append(comment)
            continue
        statement += " " + code.strip()
        last = []
        while ";" in statement:
            one, _, statement = statement.partition(";")
            if "(*" in one and "faces" not in one and "int32_t (*" not in one:
                last.append(Field("callback", 1, re.search(r"\(\*(\w+)\)", one)[1], None, ""))
                continue
            parts = re.split(r",(?![^\[]*\])", one)
            base, stars, name, count, _ = split_type(parts[0])
            last.append(Field(base, stars, name, count, ""))
            for part in parts[1:]:
                found = re.match(r"\s*(\**)\s*(\w+)(?:\[(.*?)\])?(?:\[(.*?)\])?", part)
                extra = f"({found[3]}) * ({found[4]})" if found[4] else found[3]
                last.append(Field(base, len(found[1]), found[2], extra, ""))
        for field in last:
            field.doc = " ".join(docs + [comment]).strip()
        if last:
            fields += last
            docs = []
        elif comment:
            docs.append(comment)
    return fields


def read_parameters(text):
    text = " ".join(text.split())
    if text in ("void", ""):
        return []
    return [Parameter(*split_type(part)) for part in re.split(r",(?![^(]*\))", text)]


def read_enum(body, interface, name):
    body = re.sub(r"//[^\n]*", "", body)
    names = []
    for part in body.split(","):
        found = re.match(r"\s*(KK_\w+)", part)
        if found:
            names.append(found[1])
    interface.enums[name] = names


def read_header(path, interface):
    text = expand_macros(path.read_text())
    for found in re.finditer(r"^#define (KK_\w+) +(\"[^\"]*\"|[-\d.]+)", text, re.M):
        (interface.texts if found[2].startswith('"') else interface.numbers)[found[1]] = found[2]
    docs, i = [], 0
    while i < len(text):
        end = text.find("\n", i)
        end = len(text) if end < 0 else end
        line = text[i:end]
        if line.startswith("///"):
            docs.append(line)
            i = end + 1
            continue
        found = re.match(r"typedef struct (\w+) \{|typedef enum (\w+) \{|enum \{|typedef struct (\w+) \w+;"
                         r"|KK_API |static inline |typedef (.*?)\b(kk_\w+)\(", line)
        if not found:
            docs = [] if line.strip() else docs
            if not line.strip():
                docs = []
            i = end + 1
            continue
        doc = clean_doc(docs)
        docs = []
        if found[0].startswith(("typedef struct", "typedef enum", "enum")) and "{" in found[0]:
            start = text.index("{", i)
            close = balanced(text, start)
            body = text[start + 1:close]
            if found[1]:
                interface.opaque.pop(found[1], None)
                interface.structs[found[1]] = Struct(found[1], read_fields(body, found[1], interface), doc)
            else:
                read_enum(body, interface, found[2])if found[2] else interface.enums.setdefault("", []).extend(
                    re.findall(r"(KK_\w+)\s*(?:=[^,]*)?(?:,|$)", re.sub(r"//[^\n]*", "", body).strip() + ","))
            i = text.index(";", close) + 1
        elif found[3]:
            if found[3] not in interface.structs:
                interface.opaque[found[3]] = doc
            i = end + 1
        else:
            start = text.index("(", i)
            close = balanced(text, start)
            head = text[i:start]
            parameters = read_parameters(text[start + 1:close])
            if found[0].startswith("typedef"):
                interface.callbacks[found[5]] = parameters
                i = text.index(";", close) + 1
                continue
            base, stars, name, _, is_const = split_type(re.sub(r"^(KK_API|static inline) ", "", head))
            trailing = re.match(r"[^\n]*///< ?(.*)", text[close:text.find("\n", close)])
            doc = doc or (trailing[1] if trailing else "")
            if not any(call.name == name for call in interface.calls):
                interface.calls.append(Call(base, stars, is_const, name, parameters, doc, path.name))
            i = balanced(text, text.index("{", close)) + 1 if head.startswith("static") else text.index(";", close) + 1


def read_headers(folder):
    interface = Interface()
    first = ["api.h", "allocator.h", "status.h", "math.h"]
    for path in sorted(folder.glob("*.h"), key=lambda p: (first.index(p.name) if p.name in first else 9, p.name)):
        if path.name not in ("api.h", "karakuri.h"):
            read_header(path, interface)
    return interface


# ---- what the headers' types and comments do not say

HIDDEN_TYPES = {"kk_allocator"}
NOT_BOUND = {"kk_text_free": "texts are freed by themselves"}
DESTROY = {"kk_recorder": "kk_recorder_close", "kk_table_writer": "kk_table_writer_close"}
CLOSING = {"kk_recorder_close", "kk_table_writer_close"}
LENGTHS = {"nq": "KKP_NQ", "nv": "KKP_NV", "nbody": "KKP_NBODY", "nactuator": "KKP_NACTUATOR", "actuators": "KKP_NACTUATOR",
           "kk_model_nsensordata": "KKP_NSENSORDATA", "nsensordata": "KKP_NSENSORDATA", "nactivation": "KKP_NACTIVATION", "ncontrol": "KKP_NACTUATOR"}
# by the name of an argument, where its comment does not say
USUAL = {"q": "nq", "q0": "nq", "q1": "nq", "q_out": "nq", "v": "nv", "a": "nv", "tau": "nv", "x": "nv", "y": "nv",
         "external": "nbody", "M": "nv × nv", "Minv": "nv × nv", "C": "nv × nv", "J": "6 × nv", "dJ": "6 × nv", "A": "6 × nv",
         "dA": "6 × nv", "dtau_dq": "nv × nv", "dtau_dv": "nv × nv", "da_dq": "nv × nv", "da_dv": "nv × nv",
         "da_dtau": "nv × nv", "control": "nactuator", "target_q": "nq", "target_v": "nv", "target_a": "nv", "kp": "nv",
         "kd": "nv", "change": "nv", "Y": "nv × 10 (nbody − 1)", "moment": "nv"}
# (call, argument): length as C, with arguments as c_NAME
SIZES = {
    ("kk_center_of_mass_jacobian", "J"): "3 * NV", ("kk_couplings_matrix", "G"): "NV * (size_t)kk_couplings_independent(c_model)",
    ("kk_delassus", "G"): "c_n * c_n", ("kk_model_random_q", "q"): "NQ",
    ("kk_optimizer_ask", "candidates"): "(size_t)kk_optimizer_population(c_optimizer) * (size_t)o_optimizer->extra",
    ("kk_optimizer_tell", "cost"): "(size_t)kk_optimizer_population(c_optimizer)",
    ("kk_optimizer_best", "x"): "(size_t)o_optimizer->extra",
    ("kk_hash_doubles", "values"): "ANY", ("kk_hash_update_doubles", "values"): "ANY",
    ("kk_sequence_sample", "value"): "(size_t)kk_sequence_width(c_sequence)",
    ("kk_sequence_sample", "rate"): "(size_t)kk_sequence_width(c_sequence)",
    ("kk_sequence_sample", "second"): "(size_t)kk_sequence_width(c_sequence)",
    ("kk_sequence_peaks", "rate"): "(size_t)kk_sequence_width(c_sequence)",
    ("kk_sequence_peaks", "second"): "(size_t)kk_sequence_width(c_sequence)",
    ("kk_sequence_retime", "rate"): "(size_t)kk_sequence_width(c_sequence)",
    ("kk_sequence_retime", "second"): "(size_t)kk_sequence_width(c_sequence)",
    ("kk_sequence_from_table", "rest"): "NQ", ("kk_series_sample", "value"): "(size_t)((const kk_series *)kkp_pointer(o_series))->width",
    ("kk_table_writer_add", "values"): "(size_t)o_writer->extra",
    ("kk_crawl_feet", "foot"): "4", ("kk_crawl_feet", "is_bearing"): "4", ("kk_crawl_pose", "toe"): "4",
    ("kk_map_velocity", "Js"): "(size_t)c_count * (size_t)c_count", ("kk_map_velocity", "Jp"): "(size_t)c_count * (size_t)c_count",
    ("kk_map_velocity", "serial"): "(size_t)c_count", ("kk_map_velocity", "parallel"): "(size_t)c_count",
    ("kk_map_torque", "Js"): "(size_t)c_count * (size_t)c_count", ("kk_map_torque", "Jp"): "(size_t)c_count * (size_t)c_count",
    ("kk_map_torque", "serial"): "(size_t)c_count", ("kk_map_torque", "parallel"): "(size_t)c_count",
    ("kk_batch_inverse_dynamics", "q"): "NQ * c_count", ("kk_batch_inverse_dynamics", "v"): "NV * c_count",
    ("kk_batch_inverse_dynamics", "a"): "NV * c_count", ("kk_batch_inverse_dynamics", "tau"): "NV * c_count",
    ("kk_batch_forward_dynamics", "q"): "NQ * c_count", ("kk_batch_forward_dynamics", "v"): "NV * c_count",
    ("kk_batch_forward_dynamics", "a"): "NV * c_count", ("kk_batch_forward_dynamics", "tau"): "NV * c_count",
    ("kk_batch_inertia_matrix", "q"): "NQ * c_count", ("kk_batch_inertia_matrix", "M"): "NV * NV * c_count",
    ("kk_batch_kinematics", "q"): "NQ * c_count", ("kk_batch_kinematics", "poses"): "12 * NBODY * c_count",
    ("kk_simulator_read_sensors", "sensor_data"): "NSENSORDATA",
    ("kk_simulations_rollout", "control"): "ROWS * (size_t)c_steps * NACTUATOR",
    ("kk_simulations_rollout", "q"): "ROWS * (size_t)c_steps * NQ", ("kk_simulations_rollout", "v"): "ROWS * (size_t)c_steps * NV",
    ("kk_simulations_rollout", "sensor_data"): "ROWS * (size_t)c_steps * NSENSORDATA",
    ("kk_ik_solve", "q"): "NQ", ("kk_recorder_add", "control"): "NACTUATOR",
}
# calls that give arrays: (format, dimensions, n0, n1)
VIEWS = {
    "kk_crba_result": ("d", 2, "NV", "kk_crba_stride(MODEL)"), "kk_table_row": ("d", 1, "(size_t)kk_table_column_count(c_table)", "1"),
    "kk_state_q": ("d", 1, "NQ", "1"), "kk_state_v": ("d", 1, "NV", "1"), "kk_state_activation": ("d", 1, "NACTIVATION", "1"),
    "kk_state_q_const": ("d", 1, "NQ", "1"), "kk_state_v_const": ("d", 1, "NV", "1"), "kk_state_activation_const": ("d", 1, "NACTIVATION", "1"),
    "kk_simulator_acceleration": ("d", 1, "NV", "1"), "kk_simulator_velocity": ("d", 1, "NV", "1"),
    "kk_simulator_force": ("d", 1, "NV", "1"), "kk_simulator_joint_wrenches": ("d", 2, "NBODY", "6"),
    "kk_simulations_time": ("d", 1, "COUNT", "1"), "kk_simulations_q": ("d", 2, "COUNT", "NQ"),
    "kk_simulations_v": ("d", 2, "COUNT", "NV"), "kk_simulations_activation": ("d", 2, "COUNT", "NACTIVATION"),
    "kk_simulations_control": ("d", 2, "COUNT", "NACTUATOR"), "kk_simulations_tau": ("d", 2, "COUNT", "NV"),
    "kk_simulations_wrench": ("d", 2, "COUNT", "6 * NBODY"), "kk_simulations_sensor_data": ("d", 2, "COUNT", "NSENSORDATA"),
    "kk_simulations_poses": ("d", 2, "COUNT", "7 * NBODY"), "kk_simulations_velocities": ("d", 2, "COUNT", "6 * NBODY"),
    "kk_simulations_distances": ("d", 2, "COUNT", "(size_t)kk_simulations_nray(c_simulations)"),
    "kk_simulations_ncontact": ("i", 1, "COUNT", "1"),
    "kk_simulations_contacts": ("B", 2, "COUNT", "(size_t)kk_simulations_contact_room(c_simulations) * sizeof(kk_contact)"),
    "kk_simulations_results": ("B", 2, "COUNT", "sizeof(kk_simulation_result)"),
    "kk_session_control": ("d", 1, "(size_t)kk_model_nactuator(kk_session_model(c_session))", "1"),
    "kk_session_sensor_data": ("d", 1, "(size_t)kk_model_nsensordata(kk_session_model(c_session))", "1"),
}
# calls that give an array of structures: how many
COUNTED = {"kk_simulator_contacts": "kk_simulator_ncontact(c_simulator)"}
# what the next step overwrites is handed out as it was
SNAPSHOTS = {"kk_simulator_report"}
COPIED_VIEWS = {"kk_session_control", "kk_session_sensor_data"}  # a command may free what they lead to
IN_AND_OUT = {"kk_hash", "kk_random", "kk_pid", "kk_inertia"}
LONG = re.compile(r"kk_(step$|run$|simulations_(create|step|rollout|reset|forward)|load_file|model_compile|spec_clone|spec_add_mesh_file|"
                  r"spec_write|doctor_examine|.*_create(_with_matrices)?$|ik_solve|optimizer_run|walk_|crawl_pose|session_(step|advance|command|"
                  r"describe|frame)|view_|recording_read|recorder_(add|open)|table_read|batch_(inverse|forward|inertia|kin)|delassus|"
                  r".*_derivatives$|torque_regressor|coriolis|geometry_create|scene_(rays|overlap|nearest|cast)|model_overlaps|feedforward|identify|series_shift)")
BUMPS = re.compile(r"kk_spec_add_|kk_session_(command|step|advance|describe|frame)|kk_doctor_examine|kk_recording_get_frame|kk_analysis_(add|reset)")
# pointers that a call follows whatever else the structure says
REQUIRED = {"kk_view_source.q", "kk_observer_input.q", "kk_stabilizer_input.q", "kk_stabilizer_input.v", "kk_sequence_def.time", "kk_sequence_def.value",
            "kk_series.time", "kk_series.value", "kk_measurement.time", "kk_measurement.q"}
NEEDED = {("kk_optimizer_create", "def"), ("kk_observer_create", "def"), ("kk_walk_create", "options"), ("kk_sequence_create", "def")}
# what follows numbers and names of a spec without checking them: the spec must be one that compiles
WHOLE = {"kk_spec_write_urdf", "kk_spec_write_mjcf", "kk_view_describe", "kk_feedforward_create"}
# whole numbers that a call takes for an index without asking
LIMITS = {("kk_mat3_column", "j"): "0, 2"}
SINKS = {"kk_recorder_sink": "kkp_sink", "kk_table_sink": "kkp_text_sink"}


class Maker:
    def __init__(self, interface):
        self.i = interface
        self.c, self.stubs = [], []
        self.objects = {n for n in interface.opaque if n not in HIDDEN_TYPES}
        self.structs = {n: s for n, s in interface.structs.items() if n not in HIDDEN_TYPES}
        self.frees = {call.parameters[0].base: call.name for call in interface.calls
                      if call.name.endswith("_free") and len(call.parameters) == 1}
        self.frees.update({k: v for k, v in DESTROY.items()})
        self.counts = set()
        self.counts = self.find_counts()

    def find_counts(self):
        """Fields that say how long another one is: set with it, not by themselves."""
        found = set()
        for s in self.structs.values():
            for f in s.fields:
                row = self.field_row(s, f) if f.stars else None
                if row and "KKP_BY_FIELD," in row:
                    found.add(f"{s.name}." + re.search(r"KKP_BY_FIELD, offsetof\(.*?, (\w+)\)", row)[1])
        return found

    def flat(self, name):
        """How many doubles a structure is, where it is nothing else."""
        total = 0
        for f in self.structs[name].fields:
            if f.stars:
                return 0
            if f.base == "double":
                n = 1
            elif f.base in self.structs:
                n = self.flat(f.base)
            else:
                return 0
            if n == 0 or (f.count and not f.count.isdigit()):
                return 0
            total += n * int(f.count or 1)
        return total

    # ---- types

    def field_row(self, s, f):
        kind, length, offset, is_size, width, type_ = "KKP_HIDDEN", "KKP_ONE", "0", "0", "1", "NULL"
        count = f.count or "1"
        siblings = {x.name: x for x in s.fields}
        if f.stars == 0:
            if f.base in SCALARS:
                kind = "KKP_CHARS" if f.base == "char" and f.count else SCALARS[f.base]
            elif f.base in self.i.enums:
                kind = "KKP_INT"
            elif f.base in self.structs:
                kind, type_ = "KKP_STRUCT", f"&kkp_type_{f.base}"
        elif f.stars == 1 and f.base == "char":
            kind = "KKP_TEXT"
        elif f.stars == 1 and f.base in self.objects:
            kind, type_ = "KKP_OBJECT", f"&kkp_type_{f.base}"
        elif f.stars == 2 and f.base == "char":
            kind = "KKP_TEXTS"
        elif f.base in ("double", "faces", "unsigned char", "void"):
            kind = {"double": "KKP_DOUBLES", "faces": "KKP_FACES"}.get(f.base, "KKP_BYTES")
        elif f.stars == 1 and f.base in ("kk_force", "kk_vec3"):
            kind, width = "KKP_DOUBLES", str(self.flat(f.base))
        elif f.stars == 1 and f.base in self.structs:
            kind, type_ = "KKP_STRUCTS", f"&kkp_type_{f.base}"
        if kind in ("KKP_DOUBLES", "KKP_FACES", "KKP_BYTES", "KKP_STRUCTS", "KKP_TEXTS"):
            said = re.search(r"\[([^\]]+)\]", f.doc)
            what = said[1].split(" × ")[0] if said else ""
            guess = [n for n in (what, f"{f.name}_count", "size", "count", "n") if n in siblings]
            product = re.fullmatch(r"(\w+) × (\w+)", said[1]) if said else None
            if f"{f.name}_count" in siblings:
                length, offset = "KKP_BY_FIELD", f"offsetof({s.c_type}, {f.name}_count)"
            elif product and product[1] in siblings and product[2] in siblings:
                length, offset = "KKP_BY_FIELDS", f"offsetof({s.c_type}, {product[1]})"
                is_size = f"offsetof({s.c_type}, {product[2]})"
            elif s.name in ("kk_command", "kk_player", "kk_walk_frame", "kk_analysis_frame", "kk_recording_frame",
                          "kk_view_source", "kk_stabilizer_input", "kk_observer_def", "kk_observer_input",
                            "kk_observation", "kk_ik_options", "kk_ik_task", "kk_walk_options", "kk_input"):
                usual = what if what in LENGTHS else USUAL.get(f.name, what)
                length = LENGTHS.get(usual, "KKP_UNKNOWN")
            elif said and what in LENGTHS:
                length = LENGTHS[what]
            elif guess and "×" not in (said[1] if said else ""):
                length, offset = "KKP_BY_FIELD", f"offsetof({s.c_type}, {guess[0]})"
                is_size = "1" if siblings[guess[0]].base == "size_t" else "0"
            elif kind == "KKP_STRUCTS" and not said:
                length = "KKP_ONE"
            else:
                length = "KKP_UNKNOWN"
        if kind == "KKP_HIDDEN" or f.base == "void" and f.name.endswith("user"):
            return None
        is_count = int(f.stars == 0 and f"{s.name}.{f.name}" in self.counts)
        if is_count and not re.search(r"_count$|^size$", f.name):
            is_count = 2 # of several arrays: set by itself, and every array is checked against it
        if any(re.search(rf"\[(.* × )?{f.name}( × .*)?\]", x.doc) and "×" in x.doc for x in s.fields if x.stars == 1):
            is_count = 2
        choices = len(self.i.enums[f.base]) if f.stars == 0 and f.base in self.i.enums and f.base != "kk_status" else 0
        needed = int(f"{s.name}.{f.name}" in REQUIRED or kind == "KKP_OBJECT" and "NULL" not in f.doc)
        doc = f.doc.replace("\\", "\\\\").replace('"', '\\"')
        return (f'    {{"{f.name}", {kind}, offsetof({s.c_type}, {f.name}), {count}, {type_}, {length}, {offset}, {is_size}, '
                f'{width}, {is_count}, {needed}, {choices}, "{doc}"}},')

    def make_types(self):
        names = list(self.objects) + list(self.structs)
        for name in names:
            self.c.append(f"extern kkp_type kkp_type_{name};")
        starts = {c.result: c.name for c in self.i.calls if c.name.endswith("_default") and not c.parameters}
        for name in sorted(self.objects | set(self.structs)):
            free = self.frees.get(name)
            if free:
                arguments = "o, NULL" if free in CLOSING else "o"
                self.c.append(f"static void destroy_{name}(void *o) {{ {free}({arguments}); }}")
            if name in starts:
                self.c.append(f"static void start_{name}(void *o) {{ *({name} *)o = {starts[name]}(); }}")
            s = self.structs.get(name)
            rows = [r for r in (self.field_row(s, f) for f in s.fields) if r] if s else []
            if rows:
                self.c.append(f"static const kkp_field fields_of_{name}[] = {{\n" + "\n".join(rows) + "\n};")
            doc = (s.doc if s else self.i.opaque[name]).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            size = f"sizeof({s.c_type})" if s else "0"
            self.c.append(f'kkp_type kkp_type_{name} = {{"{name}", "{doc}", {1 if s else 0}, {size}, '
                          f'{self.flat(name) if s else 0}, {f"fields_of_{name}" if rows else "NULL"}, {len(rows)}, '
                          f'{f"destroy_{name}" if free else "NULL"}, {f"start_{name}" if name in starts else "NULL"}, NULL}};')
        self.c.append("kkp_type *const kkp_types[] = {" + ", ".join(f"&kkp_type_{n}" for n in sorted(names)) + ", NULL};")

    # ---- lengths

    def length(self, call, name):
        """The length of an array argument as C; None where nobody says."""
        fixed = SIZES.get((call.name, name))
        if fixed:
            return self.sized(fixed)
        said = None
        for found in re.finditer(r"((?:\w+, )*\w+)\s+\[([^\]]+)\]", call.doc):
            if name in found[1].split(", "):
                said = found[2]
        said = said or USUAL.get(name)
        parameters = {p.name for p in call.parameters}
        if not said:
            return None
        if said in parameters:
            return f"c_{said}"
        said = said.replace("10 (nbody − 1)", "10 × nbody1")
        factors = []
        for part in re.split(r" × ", said):
            if part in LENGTHS:
                factors.append(f"kkp_size(&c, {LENGTHS[part]})")
            elif part == "nbody1":
                factors.append("(kkp_size(&c, KKP_NBODY) - 1)")
            elif part.isdigit():
                factors.append(part)
            elif part in parameters:
                factors.append(f"c_{part}")
            else:
                return None
        return " * ".join(factors)

    @staticmethod
    def sized(expression):
        for name, code in (("NQ", "KKP_NQ"), ("NV", "KKP_NV"), ("NBODY", "KKP_NBODY"), ("NACTUATOR", "KKP_NACTUATOR"),
                           ("NSENSORDATA", "KKP_NSENSORDATA"), ("NACTIVATION", "KKP_NACTIVATION")):
            expression = re.sub(rf"\b{name}\b", f"kkp_size(&c, {code})", expression)
        rows = "(is_all ? (size_t)kk_simulations_count(c_simulations) : c_count)"
        expression = expression.replace("ROWS", rows).replace("ANY", "(size_t)-1").replace("COUNT", "(size_t)kk_simulations_count(c_simulations)")
        return expression.replace("MODEL", "kkp_pointer(c.model)")

    # ---- calls

    def nullable(self, call, p):
        doc = call.doc
        for segment in doc.split("@param")[1:]:
            segment = re.sub(r"\s+", " ", segment.split("@return")[0])
            names = set(re.findall(r"\w+", re.match(r" (?:\[out\] )?((?:\w+(?: \[[^\]]*\])?, )*\w+)", segment)[1]))
            if p.name in names and re.search(r"may be NULL|NULL:|NULL means", segment):
                return True
        if re.search(r"either may be NULL|options may be NULL", doc) and p.name in ("q", "v", "rate", "second", "options"):
            return True
        if p.name in ("options", "def"):
            return (call.name, p.name) not in NEEDED and not call.name.startswith("kk_spec_add_")
        return p.name in ("controller", "mesh", "height_field")

    def make_call(self, call):
        """C of one call, and its stub."""
        if call.name in NOT_BOUND:
            return None
        ps = call.parameters
        self.names, self.lines, self.after, self.arguments = [], [], [], []
        self.outs, self.stub_in, self.stub_out = [], [], []
        self.first_owner, self.bumps = None, []
        skip = set()
        self.by_name = {p.name: k for k, p in enumerate(ps)}
        is_long = bool(LONG.match(call.name))
        frees = call.name.endswith("_free") or call.name in CLOSING
        self.optional_tail = 0
        for k, p in enumerate(ps):
            if k in skip:
                continue
            following = ps[k + 1] if k + 1 < len(ps) else None
            self.parameter(call, k, p, following, skip, is_long)
        return self.finish(call, is_long, frees)

    def add(self, name, hint, optional=False):
        self.names.append(name)
        self.stub_in.append((name, hint, optional))
        return len(self.names) - 1

    def parameter(self, call, k, p, following, skip, is_long):
        n, base, stars = p.name, p.base, p.stars
        line, argument = self.lines.append, self.arguments.append
        optional = self.nullable(call, p)
        if base == "kk_allocator":
            argument("NULL")
        elif base == "kk_error" and stars == 1:
            argument("&c.error")
        elif base in self.i.callbacks:
            i = self.add(n, "Callable[..., object]" + (" | None" if optional else ""), optional)
            skip.add(k + 1)
            line(f"PyObject *f_{n} = kkp_callable(&c, {i}, {int(optional)});")
            if base in SINKS:
                argument(SINKS[base])
                argument(f"f_{n}")
                self.after.append(f'if (result) {{ PyObject *key = PyUnicode_FromString("{n}"); '
                                  f"kkp_keep((kkp_object *)(void *)result, key, f_{n}); Py_XDECREF(key); }}")
            else:
                line(f"kkp_calls calls = {{.callable = f_{n}, .call = &c}};")
                trampoline = {"kk_controller": "kkp_controller", "kk_cost": "kkp_cost"}[base]
                argument(f"f_{n} ? {trampoline} : NULL" if optional else trampoline)
                argument("&calls")
                if base == "kk_controller":
                    line("calls.model = o_model; calls.state = o_state; calls.command = o_command;")
                else:
                    line("calls.n = o_optimizer ? o_optimizer->extra : 0;")
        elif base == "void" and n == "user":
            i = self.add("player", "kk_player")
            line(f"kkp_object *o_user = kkp_object_of(&c, {i}, &kkp_type_kk_player, KKP_READ);")
            argument("kkp_pointer(o_user)")
        elif base in self.objects and stars == 1:
            self.object_in(call, p, optional, is_long)
        elif (base in self.objects or base in ("kk_command", "kk_player")) and stars == 2:
            line(f"{base} *made_{n} = NULL;")
            argument(f"&made_{n}")
            self.outs.append((f"kkp_made(&c, &kkp_type_{base}, made_{n})", base))
        elif base in self.structs and stars == 0 and not p.count:
            i = self.add(n, self.struct_hint(base))
            line(f"{base} c_{n};")
            line(f"kkp_value(&c, {i}, &kkp_type_{base}, &c_{n});")
            argument(f"c_{n}")
        elif base in ("kk_command", "kk_player") and stars == 1:
            self.object_in(call, p, optional, is_long)
        elif base in self.structs and stars == 1:
            self.struct_pointer(call, k, p, following, skip, optional)
        elif base == "char":
            self.text_parameter(call, k, p, following, skip, optional)
        elif base == "void" and stars:
            self.bytes_parameter(p, following, skip, k, optional)
        elif base in ("double", "int32_t", "int") and stars == 1:
            self.array_parameter(call, k, p, following, skip, optional)
        elif stars == 1 and base in ("size_t", "int64_t", "uint64_t"):
            line(f"{base} out_{n} = 0;")
            argument(f"&out_{n}")
            self.outs.append((f"PyLong_FromLongLong((long long)out_{n})", "int"))
        elif base == "double" and p.stars == 0 and not p.count:
            i = self.add(n, "float")
            line(f"const double c_{n} = kkp_double(&c, {i});")
            argument(f"c_{n}")
        elif base in self.i.enums and stars == 0:
            i = self.add(n, "int")
            line(f"const {base} c_{n} = ({base})kkp_integer(&c, {i}, INT32_MIN, INT32_MAX);")
            argument(f"c_{n}")
        elif base in ("size_t", "uint64_t"):
            i = self.add(n, "int")
            line(f"const {base} c_{n} = ({base})kkp_unsigned(&c, {i});")
            argument(f"c_{n}")
        elif (call.name, n) in LIMITS:
            i = self.add(n, "int")
            line(f"const {base} c_{n} = c.failed ? 0 : ({base})kkp_integer(&c, {i}, {LIMITS[call.name, n]});")
            argument(f"c_{n}")
        elif base in RANGES:
            i = self.add(n, "int")
            line(f"const {base} c_{n} = ({base})kkp_integer(&c, {i}, {RANGES[base]});")
            argument(f"c_{n}")
        else:
            raise SystemExit(f"generate.py: nobody knows the argument {n} of {call.name}")

    def object_in(self, call, p, optional, is_long):
        i = self.add(p.name, p.base + (" | None" if optional else ""), optional)
        looks = call.result_stars > 0 or p.is_const
        how = "KKP_READ" if looks else "KKP_CHANGE"
        if p.name == "variation" and p.is_const:  # the call itself asks whose variation it is, and follows it from then on
            how += " | KKP_ANY_MODEL"
            self.after.append(f"if (result) {{ PyObject *key = PyUnicode_FromFormat(\"variation %d\", c_index); "
                              f"kkp_keep({self.first_owner}, key, (PyObject *)(void *)o_{p.name}); Py_XDECREF(key); }}")
        self.lines.append(f"kkp_object *o_{p.name} = kkp_object_of(&c, {i}, &kkp_type_{p.base}, {how}"
                          f"{' | KKP_OPTIONAL' if optional else ''});")
        self.lines.append(f"{p.base} *c_{p.name} = kkp_pointer(o_{p.name});")
        self.lines.append(f"(void)c_{p.name};")
        self.arguments.append(f"c_{p.name}")
        if p.base != "kk_model" and not self.first_owner:
            self.first_owner = f"o_{p.name}"
        if BUMPS.match(call.name) and not p.is_const:
            self.bumps.append(f"if (o_{p.name}) {{ o_{p.name}->generation++; }}")

    def struct_hint(self, base):
        return f"{base} | Numbers" if self.flat(base) else base

    def struct_pointer(self, call, k, p, following, skip, optional):
        n, base, line = p.name, p.base, self.lines.append
        counted = following and following.stars == 0 and following.base in ("int", "size_t") and \
            following.name in ("count", "n", "capacity", "room")
        if counted and (following.name in ("capacity", "room")):
            i = self.add(following.name, "int")
            skip.add(k + 1)
            line(f"const int c_{following.name} = (int)kkp_integer(&c, {i}, 0, 1 << 20);")
            line(f"{base} *c_{n} = kkp_take(&c, (size_t)c_{following.name} * sizeof *c_{n});")
            self.arguments += [f"c_{n}", f"c_{following.name}"]
            self.room = (n, base, following.name)
            self.outs.append(("ROOM", f"list[{base}]"))
        elif counted:
            i = self.add(n, f"Sequence[{base}]" + (" | Numbers" if self.flat(base) else "") + (" | None" if optional else ""), optional)
            skip.add(k + 1)
            line(f"size_t c_{following.name} = 0;")
            line(f"{base} *c_{n} = kkp_structs(&c, {i}, &kkp_type_{base}, (size_t)-1, &c_{following.name}, {int(optional)});")
            self.arguments += [f"c_{n}", f"({following.base})c_{following.name}"]
            if not p.is_const:
                self.after.append(f"if (result) {{ kkp_structs_back(&c, {i}, &kkp_type_{base}, c_{n}, c_{following.name}); }}")
        elif p.is_const and (n == "external" or "[" in (self.length(call, n) or "")):
            i = self.add(n, f"Sequence[{base}] | Numbers")
            line(f"{base} *c_{n} = kkp_structs(&c, {i}, &kkp_type_{base}, {self.length(call, n)}, NULL, 0);")
            self.arguments.append(f"c_{n}")
        elif p.is_const:
            i = self.add(n, base + (" | None" if optional else ""), optional)
            line(f"kkp_object *o_{n} = kkp_object_of(&c, {i}, &kkp_type_{base}, KKP_READ{' | KKP_OPTIONAL' if optional else ''});")
            self.arguments.append(f"kkp_pointer(o_{n})")
        elif base in IN_AND_OUT and k == 0:
            i = self.add(n, base)
            line(f"kkp_object *o_{n} = kkp_object_of(&c, {i}, &kkp_type_{base}, KKP_CHANGE);")
            self.arguments.append(f"kkp_pointer(o_{n})")
        else:
            size = self.length(call, n) or ("c_count" if n in ("hit", "steps") else None)
            if size:
                line(f"{base} *out_{n} = kkp_take(&c, ({size}) * sizeof *out_{n});")
                self.arguments.append(f"out_{n}")
                self.outs.append((f"kkp_copies(&c, &kkp_type_{base}, out_{n}, {size}, NULL)", f"list[{base}]"))
            else:
                line(f"{base} out_{n};")
                line(f"memset(&out_{n}, 0, sizeof out_{n});")
                self.arguments.append(f"&out_{n}")
                self.outs.append((f"kkp_copied(&c, &kkp_type_{base}, &out_{n}, {self.owner_of(base)})", base))

    def owner_of(self, base):
        """Whose memory the pointers of a structure lead into."""
        has_pointers = any(f.stars for f in self.structs[base].fields)
        if not has_pointers:
            return "NULL"
        return self.first_owner or ("o_model" if "model" in self.by_name else "NULL")

    def text_parameter(self, call, k, p, following, skip, optional):
        n, line = p.name, self.lines.append
        with_length = following and following.base == "size_t" and following.stars == 0 and following.name == "length"
        if p.count:  # room for a text
            line(f"char out_{n}[{p.count} + 1];")
            line(f"memset(out_{n}, 0, sizeof out_{n});")
            self.arguments.append(f"out_{n}")
            self.outs.append((f"kkp_text_of(out_{n})", "str"))
        elif p.stars == 0:
            i = self.add(n, "str")
            line(f"const char c_{n} = (char)kkp_character(&c, {i});")
            self.arguments.append(f"c_{n}")
        elif p.stars == 2 and following and following.name == "count":
            i = self.add(n, "Sequence[str]" + (" | None" if optional else ""), optional)
            skip.add(k + 1)
            line("size_t c_count = 0;")
            line(f"const char *const *c_{n} = kkp_texts(&c, {i}, &c_count, {int(optional)});")
            self.arguments += [f"c_{n}", "(int)c_count"]
        elif p.stars == 2 and following and following.base == "size_t" and following.stars == 1:
            skip.add(k + 1)
            line(f"{'const ' if p.is_const else ''}char *out_{n} = NULL;")
            line("size_t out_size = 0;")
            self.arguments += [f"&out_{n}", "&out_size"]
            made = f'PyUnicode_DecodeUTF8(out_{n}, (Py_ssize_t)out_size, "replace")' if p.is_const else f"kkp_allocated_text(out_{n}, out_size)"
            self.outs.append((made, "str"))
        elif p.stars == 2:
            line(f"const char *out_{n} = NULL;")
            self.arguments.append(f"&out_{n}")
            self.outs.append((f"kkp_text_of(out_{n})", "str | None"))
        elif with_length:
            i = self.add(n, "str")
            skip.add(k + 1)
            line(f"Py_ssize_t length_{n} = 0;")
            line(f"const char *c_{n} = kkp_text(&c, {i}, 0, &length_{n});")
            self.arguments += [f"c_{n}", f"(size_t)length_{n}"]
        else:
            optional = optional or call.name == "kk_spec_keep_text"
            i = self.add(n, "str" + (" | None" if optional else ""), optional)
            line(f"const char *c_{n} = kkp_text(&c, {i}, {int(optional)}, NULL);")
            self.arguments.append(f"c_{n}")

    def bytes_parameter(self, p, following, skip, k, optional):
        n, line = p.name, self.lines.append
        skip.add(k + 1)
        if p.stars == 2:
            line(f"const void *out_{n} = NULL;")
            line("size_t out_size = 0;")
            self.arguments += [f"&out_{n}", "&out_size"]
            self.outs.append((f"PyBytes_FromStringAndSize(out_{n}, (Py_ssize_t)out_size)", "bytes"))
            return
        i = self.add(n, "Buffer")
        line(f"size_t c_{following.name} = 0;")
        function = f"kkp_bytes(&c, {i}, 0, &c_{following.name})" if p.is_const else f"kkp_room(&c, {i}, &c_{following.name})"
        line(f"{'const ' if p.is_const else ''}void *c_{n} = {function};")
        self.arguments += [f"c_{n}", f"c_{following.name}"]

    def array_parameter(self, call, k, p, following, skip, optional):
        n, base, line = p.name, p.base, self.lines.append
        code = "d" if base == "double" else "i"
        counted = following and following.stars == 0 and following.name in ("count", "room") and base != "double"
        if call.name in ("kk_number_parse", "kk_sincos", "kk_series_shift") or (base == "int" and not p.is_const and not counted and
                                                            (call.name, n) not in SIZES):
            line(f"{base} out_{n} = 0;")
            self.arguments.append(f"&out_{n}")
            made = f"PyFloat_FromDouble(out_{n})" if base == "double" else f"PyLong_FromLong(out_{n})"
            self.outs.append((made, "float" if base == "double" else "int"))
            return
        if counted and following.name == "room":
            i = self.add("room", "int")
            skip.add(k + 1)
            line(f"const int c_room = (int)kkp_integer(&c, {i}, 0, 1 << 20);")
            line(f"int *c_{n} = kkp_take(&c, (size_t)c_room * sizeof *c_{n});")
            self.arguments += [f"c_{n}", "c_room"]
            self.room = (n, "int", "room")
            self.outs.append(("ROOM", "list[int]"))
            return
        if counted:  # numbers of simulations; None: all of them
            i = self.add(n, "Numbers | None", True)
            skip.add(k + 1)
            line("size_t c_count = 0;")
            line(f"const int32_t *c_{n} = kkp_numbers(&c, {i}, 'i', (size_t)-1, &c_count, 0, 1);")
            line(f"const int is_all = {i} >= c.count || c.args[{i}] == Py_None;")
            self.arguments += [f"c_{n}", "is_all ? kk_simulations_count(c_simulations) : (int)c_count"]
            return
        length = self.length(call, n)
        hashed = call.name in ("kk_hash_doubles", "kk_hash_update_doubles")
        if following and following.name == "count" and hashed:
            skip.add(k + 1)
        if length is None:
            raise SystemExit(f"generate.py: how long is {n} of {call.name}? Its comment, or SIZES, must say")
        optional = optional and not (n in ("q",) and call.name not in ("kk_couplings_apply", "kk_simulations_rollout"))
        i = self.add(n, ("Numbers" if p.is_const else "Buffer") + (" | None" if optional else ""), optional)
        if hashed:
            line("size_t c_count = 0;")
        type_ = "double" if base == "double" else "int"
        line(f"{'const ' if p.is_const else ''}{type_} *c_{n} = kkp_numbers(&c, {i}, '{code}', c.failed ? 0 : {length}, "
             f"{'&c_count' if hashed else 'NULL'}, {int(not p.is_const)}, {int(optional)});")
        self.arguments.append(f"c_{n}")
        if hashed:
            self.arguments.append("c_count")

    def result(self, call):
        """(declaration, how it becomes Python, hint); the declaration is None for void."""
        base, stars = call.result, call.result_stars
        if base == "kk_status" and not stars:
            return "status", None, None
        if base == "void" and not stars:
            return None, None, None
        if call.name in VIEWS:
            code, dimensions, n0, n1 = VIEWS[call.name]
            owner = self.first_owner or "o_model"
            view = f"kkp_view(r, {owner}, '{code}', {dimensions}, {self.sized(n0)}, {self.sized(n1)}, {int(call.result_const)})"
            if call.name in COPIED_VIEWS:
                n = self.sized(n0)
                return f"const {base} *r", f"copy_of_doubles(r, {n})", "list[float]"
            return f"{'const ' if call.result_const else ''}{base} *r", view, "array"
        if stars and base == "char":
            return "const char *r", "kkp_text_of(r)", "str | None"
        if call.name in COUNTED:
            return (f"const {base} *r", f"kkp_copies(&c, &kkp_type_{base}, r, (size_t){COUNTED[call.name]}, NULL)", f"list[{base}]")
        if call.name in SNAPSHOTS:
            return f"const {base} *r", f"kkp_copied(&c, &kkp_type_{base}, r, {self.owner_of(base)})", base
        if stars and base in self.structs and "count" in self.by_name:
            return (f"const {base} *r", f"kkp_copies(&c, &kkp_type_{base}, r, r ? (size_t)out_count : 0, "
                    f"{self.first_owner or 'NULL'})", f"list[{base}]")
        if stars and base in self.structs:
            return (f"{'const ' if call.result_const else ''}{base} *r",
                    f"kkp_inside(&c, &kkp_type_{base}, (void *)(uintptr_t)r, {self.first_owner}, {int(call.result_const)})",
                    f"{base} | None")
        if stars and base in self.objects:
            return (f"{'const ' if call.result_const else ''}{base} *r",
                    f"kkp_borrowed(&kkp_type_{base}, (void *)(uintptr_t)r, {self.first_owner or 'o_model'}, {int(call.result_const)})", base)
        if base in self.structs:
            return f"{base} r", f"kkp_copied(&c, &kkp_type_{base}, &r, {self.owner_of(base)})", base
        if base in ("double", "float"):
            return "double r", "PyFloat_FromDouble(r)", "float"
        if base in ("uint64_t", "size_t"):
            return f"{base} r", "PyLong_FromUnsignedLongLong(r)", "int"
        if base in SCALARS or base in self.i.enums:
            return f"{base} r", "PyLong_FromLongLong((long long)r)", "int"
        raise SystemExit(f"generate.py: nobody knows the result of {call.name}")

    def finish(self, call, is_long, frees):
        declaration, made, hint = self.result(call)
        most = len(self.names)
        least = most
        while least and self.stub_in[least - 1][2]:
            least -= 1
        if any(out[0] == "ROOM" for out in self.outs):
            n, base, room = self.room
            count = f"(size_t)((r < 0 ? -1 - r : r) < c_{room} ? (r < 0 ? -1 - r : r) : c_{room})"
            listed = f"kkp_list_of_ints(c_{n}, {count})" if base == "int" else f"kkp_copies(&c, &kkp_type_{base}, c_{n}, {count}, NULL)"
            self.outs = [(listed if o[0] == "ROOM" else o[0], o[1]) for o in self.outs]
            made, hint = None, None  # the list says how many there are
        if call.name == "kk_log_figures":
            self.outs = []
        outs = ([(made, hint)] if made else []) + self.outs
        names = ", ".join(f'"{n}"' for n in self.names) or "NULL"
        c = [f"static PyObject *py_{call.name}(PyObject *module, PyObject *const *args, Py_ssize_t count) {{",
             "    (void)module;", f"    static const char *const names[] = {{{names}}};", "    kkp_call c;",
             "    PyObject *result = NULL;",
             f'    if (!kkp_begin(&c, "{call.name}", names, args, count, {least}, {most}, {int(is_long)})) {{', "        return NULL;",
             "    }"]
        c += ["    " + line for line in self.lines]
        if frees:
            c.append(f"    if (!c.failed && {self.first_owner or 'o_model'}->users > 0) {{")
            c.append(f'        kkp_fail(&c, 0, PyExc_ValueError, "is still needed by others; let go of them first");')
            c.append("    }")
            c.append(f"    if (!c.failed && !{self.first_owner or 'o_model'}->owns) {{")
            c.append(f'        kkp_fail(&c, 0, PyExc_ValueError, "belongs to another object, which frees it");')
            c.append("    }")
        if call.name in WHOLE:
            c.append("    kkp_check_spec(&c, o_spec);")
        if call.name == "kk_step":
            c.append("    c.is_long = kkp_size(&c, KKP_NV) > 3; /* less takes under a microsecond: giving the interpreter away costs more than it gives */")
        c.append("    if (kkp_go(&c)) {")
        what = f"{call.name}({', '.join(self.arguments)})"
        if declaration == "status":
            c.append(f"        const kk_status status = {what};")
        elif declaration:
            c.append(f"        {declaration} = {what};")
        else:
            c.append(f"        {what};")
        c.append("        kkp_back(&c);")
        c += ["        " + line for line in self.bumps]
        if frees:
            c.append(f"        kkp_freed({self.first_owner or 'o_model'});")
        if call.name == "kk_session_create":
            c.append("        if (status == KK_OK) { kkp_freed(o_spec); }")
        condition = "kkp_good(&c, status)" if declaration == "status" else "1"
        c.append(f"        if ({condition}) {{")
        if not outs:
            c.append("            result = kkp_none();")
        elif len(outs) == 1:
            c.append(f"            result = {outs[0][0]};")
        else:
            joined = f"kkp_pair({outs[0][0]}, {outs[1][0]})"
            if len(outs) == 3:
                c.append(f"            PyObject *third = {outs[2][0]};")
                c.append(f"            PyObject *first_two = {joined};")
                c.append('            result = first_two && third ? PySequence_Concat(first_two, PyTuple_Pack(1, third)) : NULL;')
                c.append("            Py_XDECREF(first_two);")
            else:
                c.append(f"            result = {joined};")
        c.append("        }")
        if call.name in ("kk_load_file",):
            c.append("        else if (made_messages) { Py_XDECREF(kkp_made_messages(&c, made_messages)); }")
        c += ["        " + line for line in self.after]
        if call.name == "kk_optimizer_create":
            c.append("        if (result) { ((kkp_object *)(void *)result)->extra = ((kk_optimizer_def *)kkp_pointer(o_def))->n; }")
        if call.name.startswith("kk_table_writer_") and "columns" in self.by_name:
            c.append("        if (result) { ((kkp_object *)(void *)result)->extra = (long)c_count; }")
        if call.name == "kk_session_create":
            c.append("        if (result) { kkp_moved_into(o_spec, result); }")
        c += ["    }", "    return kkp_end(&c, result);", "}", ""]
        self.c += c
        hints = [o[1] for o in outs]
        back = "None" if not hints else hints[0] if len(hints) == 1 else f"tuple[{', '.join(hints)}]"
        safe = {"lambda": "lambda_", "from": "from_", "def": "definition"}
        arguments = []
        for k, (name, kind, _) in enumerate(self.stub_in):
            arguments.append(f"{safe.get(name, name)}: {kind}" + (" = ..." if k >= least else ""))
        doc = call.doc.replace("\\", "\\\\").replace('"""', "'''")
        self.stubs.append(f"def {call.name}({', '.join(arguments + ['/'] if arguments else [])}) -> {back}:\n" +
                          f'    """{doc or call.name}"""\n')
        return call.name

    def field_hint(self, f):
        if f.stars == 0:
            kind = "float" if f.base in ("double", "float") else "str" if f.base == "char" and f.count else "int"
            if f.base in self.structs:
                kind = f.base
            if f.count and f.base in ("double", "float"):
                return "array", "Sequence[float] | Numbers"
            if f.count and f.base != "char":
                return f"tuple[{kind}, ...]", f"Sequence[{kind}]"
            return kind, (f"{kind} | Numbers" if f.base in self.structs and self.flat(f.base) else kind)
        if f.base == "char":
            return ("str | None",) * 2 if f.stars == 1 else ("list[str] | None", "Sequence[str] | None")
        if f.base in self.objects:
            return (f"{f.base} | None",) * 2
        if f.base in ("double", "faces", "unsigned char", "void", "kk_force", "kk_vec3"):
            return "array | None", "Numbers | Buffer | str | None" if f.base == "void" else "Numbers | None"
        return f"list[{f.base}] | None", f"Sequence[{f.base}] | {f.base} | None"

    def make_stubs(self, bound):
        head = ['"""The public C interface, call by call. Made by generate.py from the headers; do not edit."""',
                "from collections.abc import Callable, Sequence", "from typing import Any", "",
                "class Buffer:\n    \"\"\"A writable array of the right type: numpy, array.array, karakuri.c.array.\"\"\"", ""]
        head[2] = "from typing import Any, Protocol"
        head[4] = ("class _Buffer(Protocol):\n    def __buffer__(self, flags: int, /) -> memoryview: ...\n\n"
                   "class _Numpy(Protocol):\n    @property\n    def __array_interface__(self) -> Any: ...\n\n"
                   "Buffer = _Buffer | _Numpy | bytes | bytearray | memoryview\n"
                   "Numbers = Buffer | Sequence[float] | Sequence[int]\n\n"
                   "class array:\n    def __buffer__(self, flags: int, /) -> memoryview: ...\n    def __len__(self) -> int: ...\n"
                   "    def __getitem__(self, key: Any, /) -> Any: ...\n    def __setitem__(self, key: Any, value: Any, /) -> None: ...\n")
        for name in sorted(self.i.texts):
            head.append(f"{name}: str")
        for name in sorted(self.i.numbers):
            head.append(f"{name}: {'float' if '.' in self.i.numbers[name] else 'int'}")
        for names in self.i.enums.values():
            head += [f"{n}: int" for n in names]
        head.append("CALLS: tuple[str, ...]\nCHOICES: dict[str, str]\nCOUNTS: frozenset[str]\n")
        head.append("def workers(count: int, /) -> kk_workers: ...")
        head.append("def _draw(model: kk_model, q: Numbers, camera: Numbers, width: int, height: int, rgb: Buffer, depth: Buffer, body: Buffer, /) -> None: ...")
        head.append("def layout(name: str, /) -> tuple[list[str], list[str], list[int], int]: ...\n")
        for name in sorted(self.objects):
            doc = self.i.opaque[name]
            head.append(f'class {name}:\n    """{doc or name}"""\n')
        for name in sorted(self.structs):
            s = self.structs[name]
            head.append(f'class {name}:\n    """{s.doc or name}"""')
            fields = [f for f in s.fields if self.field_row(s, f)]
            head.append("    def __init__(self, *values: Any, **fields: Any) -> None: ...")
            if self.flat(name):
                head.append("    def __buffer__(self, flags: int, /) -> memoryview: ...")
            for f in fields:
                get, set_ = self.field_hint(f)
                head.append(f"    @property\n    def {f.name}(self) -> {get}: ...")
                head.append(f"    @{f.name}.setter\n    def {f.name}(self, value: {set_}, /) -> None: ...")
            head.append("")
        return "\n".join(head + self.stubs)

    def make(self):
        self.c = ['/* Made by generate.py from the headers; do not edit. */', '#include "runtime.h"', "", "#include <string.h>", ""]
        self.make_types()
        self.c.append("""
static PyObject *copy_of_doubles(const double *numbers, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list; i++) {
        PyList_SetItem(list, (Py_ssize_t)i, PyFloat_FromDouble(numbers[i]));
    }
    return list;
}

/// What a load that failed had to say, for the exception to carry.
static PyObject *kkp_made_messages(kkp_call *c, kk_messages *messages) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *made = kkp_made(c, &kkp_type_kk_messages, messages);
    if (made && value) {
        PyObject_SetAttrString(value, "messages", made);
    }
    PyErr_Restore(type, value, trace);
    return made;
}
""")
        bound = [name for name in (self.make_call(call) for call in self.i.calls) if name]
        self.c.append("""
static void forget_pool(PyObject *capsule) { kkp_pool_free(PyCapsule_GetPointer(capsule, NULL)); }

static PyObject *py_workers(PyObject *module, PyObject *argument) {
    (void)module;
    const long count = PyLong_AsLong(argument);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (count < 1 || count > 1024) {
        PyErr_Format(PyExc_ValueError, "workers: argument count must be from 1 to 1024, not %ld", count);
        return NULL;
    }
    PyObject *made = PyObject_CallNoArgs((PyObject *)(void *)kkp_type_kk_workers.python);
    kkp_pool *pool = made ? kkp_pool_create((int)count) : NULL;
    PyObject *capsule = pool ? PyCapsule_New(pool, NULL, forget_pool) : NULL;
    if (!capsule) {
        Py_XDECREF(made);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    kkp_object *o = (kkp_object *)(void *)made;
    *(kk_workers *)o->data = (kk_workers){.count = (int)count, .run = kkp_pool_run, .user = pool};
    PyObject *key = PyLong_FromSize_t(offsetof(kk_workers, user));
    kkp_keep(o, key, capsule);
    Py_XDECREF(key);
    Py_DECREF(capsule);
    return made;
}

/// Names, formats, offsets and size of a structure's fields, for numpy.dtype.
static PyObject *py_layout(PyObject *module, PyObject *argument) {
    (void)module;
    const char *name = PyUnicode_Check(argument) ? PyUnicode_AsUTF8AndSize(argument, NULL) : NULL;
    for (kkp_type *const *t = kkp_types; name && *t; t++) {
        if (strcmp((*t)->name, name) != 0 || !(*t)->is_struct) {
            continue;
        }
        PyObject *names = PyList_New(0), *formats = PyList_New(0), *offsets = PyList_New(0);
        for (int i = 0; i < (*t)->field_count; i++) {
            const kkp_field *f = &(*t)->fields[i];
            const char *const codes[] = {"f8", "f4", "i1", "u1", "i4", "u4", "i8", "u8", "u8"};
            const int flat = f->kind == KKP_STRUCT ? f->type->flat : 0;
            if (f->kind > KKP_SIZE && flat == 0) {
                continue;
            }
            PyObject *format = flat > 0       ? PyUnicode_FromFormat("%df8", flat * (f->count > 1 ? f->count : 1))
                               : f->count > 1 ? PyUnicode_FromFormat("%d%s", f->count, codes[f->kind])
                                            : PyUnicode_FromString(codes[f->kind]);
            PyObject *text = PyUnicode_FromString(f->name), *offset = PyLong_FromSize_t(f->offset);
            PyList_Append(names, text);
            PyList_Append(formats, format);
            PyList_Append(offsets, offset);
            Py_XDECREF(text);
            Py_XDECREF(format);
            Py_XDECREF(offset);
        }
        return Py_BuildValue("(NNNn)", names, formats, offsets, (Py_ssize_t)(*t)->size);
    }
    PyErr_SetString(PyExc_KeyError, "layout: no structure of that name");
    return NULL;
}
""")
        self.c.append("static PyMethodDef methods[] = {")
        docs = {call.name: call.doc for call in self.i.calls}
        for name in bound:
            doc = docs[name].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            self.c.append(f'    {{"{name}", (PyCFunction)(void (*)(void))py_{name}, METH_FASTCALL, "{doc}"}},')
        self.c.append('    {"workers", py_workers, METH_O, "A pool of so many threads, the calling one among them, for kk_step_options.workers."},')
        self.c.append('    {"layout", py_layout, METH_O, "Names, formats, offsets and size of a structure, for numpy.dtype."},')
        self.c.append("    {NULL, NULL, 0, NULL}};\n")
        enums = [n for names in self.i.enums.values() for n in names]
        self.c.append("static const struct { const char *name; long long value; } numbers[] = {")
        self.c += [f'    {{"{n}", (long long){n}}},' for n in dict.fromkeys(enums)] + ["    {NULL, 0}};"]
        fields = [f"{s.name}.{f.name}\", \"{' '.join(self.i.enums[f.base])}" for s in self.structs.values() for f in s.fields
                  if f.stars == 0 and f.base in self.i.enums]
        self.c.append("static const char *const field_enums[][2] = {" + ", ".join(f'{{"{row}"}}' for row in fields) + ", {NULL, NULL}};")
        self.c.append("static const char *const count_fields[] = {" + ", ".join(f'"{n}"' for n in sorted(self.counts) if re.search(r"_count$|\.size$", n)) + ", NULL};")
        self.c.append("static const char *const calls[] = {" + ", ".join(f'"{n}"' for n in bound) + ", NULL};")
        reals = "\n".join(f'    PyModule_AddObject(module, "{n}", PyFloat_FromDouble({n}));' if "." in v else
                          f'    PyModule_AddIntConstant(module, "{n}", {n});' for n, v in self.i.numbers.items())
        texts = "\n".join(f'    PyModule_AddStringConstant(module, "{n}", {n});' for n in self.i.texts)
        self.c.append(f"""
static struct PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "c", "The public C interface, call by call.", -1, methods, NULL, NULL, NULL, NULL}};

PyMODINIT_FUNC PyInit_c(void) {{
    PyObject *module = PyModule_Create(&definition);
    if (!module || kkp_start(module) != 0) {{
        return NULL;
    }}
    for (kkp_type *const *t = kkp_types; *t; t++) {{
        if (kkp_add_type(module, *t) != 0) {{
            return NULL;
        }}
    }}
    for (int i = 0; numbers[i].name; i++) {{
        PyObject *number = PyLong_FromLongLong(numbers[i].value);
        if (PyModule_AddObject(module, numbers[i].name, number) != 0) {{
            return NULL;
        }}
    }}
    PyObject *names = PyTuple_New({len(bound)});
    for (Py_ssize_t i = 0; names && calls[i]; i++) {{
        PyTuple_SetItem(names, i, PyUnicode_FromString(calls[i]));
    }}
    PyModule_AddObject(module, "CALLS", names);
    PyObject *choices = PyDict_New();
    for (int i = 0; choices && field_enums[i][0]; i++) {{
        PyObject *text = PyUnicode_FromString(field_enums[i][1]);
        PyDict_SetItemString(choices, field_enums[i][0], text);
        Py_XDECREF(text);
    }}
    PyModule_AddObject(module, "CHOICES", choices);
    PyObject *counts = PyFrozenSet_New(NULL);
    for (int i = 0; counts && count_fields[i]; i++) {{
        PyObject *text = PyUnicode_FromString(count_fields[i]);
        PySet_Add(counts, text);
        Py_XDECREF(text);
    }}
    PyModule_AddObject(module, "COUNTS", counts);
{reals}
{texts}
    return module;
}}
""")
        return "\n".join(self.c), self.make_stubs(bound), bound


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path)
    parser.add_argument("--stubs", type=pathlib.Path)
    parser.add_argument("--count", action="store_true", help="say how many calls there are and which are not bound")
    options = parser.parse_args()
    interface = read_headers(options.headers)
    source, stubs, bound = Maker(interface).make()
    for path, text in ((options.source, source), (options.stubs, stubs)):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if options.count:
        print(f"{len(bound)} of {len(interface.calls)} public calls are bound")
        for name, why in NOT_BOUND.items():
            print(f"  not {name}: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
