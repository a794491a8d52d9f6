/// What generated bindings stand on; see runtime.h.
#include "runtime.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/// Takes what a variable holds away and gives it something else.
#define KKP_REPLACE(variable, value)          \
    do {                                      \
        PyObject *const before_ = (variable); \
        (variable) = (value);                 \
        Py_XDECREF(before_);                  \
    } while (0)

static PyTypeObject *array_type;
static PyObject *make_error; ///< (status, text, file, line, column, function) → exception; set by the package

static kkp_object *as_object(PyObject *o) {
    return (kkp_object *)(void *)o;
}

static int is_object(PyObject *o) {
    const kkp_type *const *t = (const kkp_type *const *)kkp_types;
    for (PyTypeObject *type = Py_TYPE(o); *t; t++) {
        if ((*t)->python == type) {
            return 1;
        }
    }
    return 0;
}

// ---- who needs whom

/// Counts a user more or less of each object among what is kept.
static void count_users(PyObject *kept, int change) {
    if (PyDict_Check(kept)) {
        Py_ssize_t at = 0;
        PyObject *key, *value;
        while (PyDict_Next(kept, &at, &key, &value)) {
            count_users(value, change);
        }
    } else if (is_object(kept)) {
        as_object(kept)->users += change;
    }
}

/// A structure that is kept may change later: what it leads to now is kept in its place.
static PyObject *as_kept(PyObject *value) {
    if (is_object(value) && as_object(value)->type->is_struct && !as_object(value)->type->destroy) {
        const kkp_object *o = as_object(value);
        PyObject *copy = o->keep ? PyDict_Copy(o->keep) : PyDict_New();
        for (const kkp_object *up = o; copy && up->owner; up = up->owner) {
            PyObject *key = PyUnicode_FromFormat("owner %p", (void *)up);
            if (key) {
                PyDict_SetItem(copy, key, (PyObject *)up->owner);
            }
            Py_XDECREF(key);
        }
        return copy;
    }
    Py_INCREF(value);
    return value;
}

void kkp_keep(kkp_object *o, PyObject *key, PyObject *value) {
    if (!o->keep) {
        o->keep = PyDict_New();
    }
    if (!o->keep || !key) {
        return;
    }
    PyObject *before = PyDict_GetItemWithError(o->keep, key);
    if (before) {
        count_users(before, -1);
    }
    if (!value) {
        if (before) {
            PyDict_DelItem(o->keep, key);
        }
        return;
    }
    PyObject *kept = as_kept(value);
    if (kept) {
        PyDict_SetItem(o->keep, key, kept);
        count_users(kept, 1);
        Py_DECREF(kept);
    }
}

static void link_to(kkp_object **place, kkp_object *to) {
    if (to) {
        Py_INCREF((PyObject *)to);
        to->users++;
    }
    if (*place) {
        (*place)->users--;
        Py_DECREF((PyObject *)*place);
    }
    *place = to;
}

// ---- objects

static kkp_object *new_object(kkp_type *type, int inside) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type->python, Py_tp_alloc);
    kkp_object *o = (kkp_object *)(void *)allocate(type->python, 0);
    if (o) {
        o->type = type;
        if (inside) {
            o->data = PyMem_Calloc(1, type->size ? type->size : 1);
            o->owns = 1;
            if (!o->data) {
                Py_DECREF(o);
                PyErr_NoMemory();
                return NULL;
            }
        }
    }
    return o;
}

static void dealloc(PyObject *self) {
    kkp_object *o = as_object(self);
    PyTypeObject *type = Py_TYPE(self);
    if (o->data && o->owns && o->type->destroy) {
        PyObject *kind, *value, *trace;
        PyErr_Fetch(&kind, &value, &trace);
        o->type->destroy(o->data);
        if (PyErr_Occurred()) { // by a sink that was handed the rest
            PyErr_WriteUnraisable(NULL);
        }
        PyErr_Restore(kind, value, trace);
    } else if (o->data && o->owns && o->type->is_struct) {
        PyMem_Free(o->data);
    }
    if (o->keep) {
        count_users(o->keep, -1);
        Py_CLEAR(o->keep);
    }
    link_to(&o->owner, NULL);
    link_to(&o->model, NULL);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/// Why an object cannot be used; NULL: it can.
static const char *why_not(const kkp_object *o) {
    for (const kkp_object *up = o; up; up = up->owner) {
        if (!up->data) {
            return "was freed";
        }
        if (up->owner && up->seen != up->owner->generation) {
            return "is out of date: its owner was changed since; ask for it again";
        }
    }
    return NULL;
}

static int usable(kkp_object *o) {
    const char *why = why_not(o);
    if (why) {
        PyErr_Format(PyExc_ReferenceError, "this %s %s", o->type->name, why);
    }
    return !why;
}

static kkp_object *root_of(kkp_object *o) {
    while (o->owner && o->type->is_struct && o->owner->type->is_struct) {
        o = o->owner;
    }
    return o;
}

void *kkp_pointer(kkp_object *o) {
    return o ? o->data : NULL;
}

void kkp_freed(kkp_object *o) {
    o->data = NULL;
}

void kkp_moved_into(kkp_object *o, PyObject *made) {
    o->data = NULL;
    if (made && is_object(made)) {
        PyObject *key = PyUnicode_FromString("moved");
        kkp_keep(as_object(made), key, (PyObject *)o);
        Py_XDECREF(key);
    }
}

// ---- arrays

static void array_dealloc(PyObject *self) {
    kkp_array *a = (kkp_array *)(void *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (a->has_buffer) {
        PyBuffer_Release(&a->buffer);
    }
    if (a->owns) {
        PyMem_Free(a->data);
    }
    link_to(&a->used, NULL);
    Py_XDECREF(a->owner);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static int array_get_buffer(PyObject *self, Py_buffer *view, int flags) {
    kkp_array *a = (kkp_array *)(void *)self;
    if ((flags & PyBUF_WRITABLE) && a->is_fixed) {
        PyErr_SetString(PyExc_BufferError, "this array is read-only");
        view->obj = NULL;
        return -1;
    }
    if (a->used && why_not(a->used)) {
        PyErr_Format(PyExc_BufferError, "the %s of this array %s", a->used->type->name, why_not(a->used));
        view->obj = NULL;
        return -1;
    }
    Py_ssize_t size = a->item;
    for (int i = 0; i < a->dimensions; i++) {
        size *= a->shape[i];
    }
    static char nothing[8];
    view->buf = a->data ? a->data : nothing;
    view->obj = self;
    Py_INCREF(self);
    view->len = size;
    view->readonly = a->is_fixed;
    view->itemsize = a->item;
    view->format = flags & PyBUF_FORMAT ? a->format : NULL;
    view->ndim = a->dimensions;
    view->shape = flags & PyBUF_ND ? a->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? a->strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static Py_ssize_t array_length(PyObject *self) {
    return ((kkp_array *)(void *)self)->shape[0];
}

static PyObject *array_item(PyObject *self, PyObject *key) {
    PyObject *view = PyMemoryView_FromObject(self);
    PyObject *item = view ? PyObject_GetItem(view, key) : NULL;
    Py_XDECREF(view);
    return item;
}

static int array_set_item(PyObject *self, PyObject *key, PyObject *value) {
    PyObject *view = PyMemoryView_FromObject(self);
    const int result = view ? (value ? PyObject_SetItem(view, key, value) : PyObject_DelItem(view, key)) : -1;
    Py_XDECREF(view);
    return result;
}

static PyType_Slot array_slots[] = {
    {Py_tp_dealloc, (void *)array_dealloc},
    {Py_bf_getbuffer, (void *)array_get_buffer},
    {Py_mp_length, (void *)array_length},
    {Py_mp_subscript, (void *)array_item},
    {Py_mp_ass_subscript, (void *)array_set_item},
    {Py_tp_doc,
     "Numbers in the engine's memory, or in the caller's: a buffer, which numpy.asarray takes without copying."},
    {0, NULL}};
static PyType_Spec array_spec = {"karakuri.c.array", sizeof(kkp_array), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, array_slots};

static size_t item_size(char code) {
    return code == 'd' ? sizeof(double) : code == 'i' ? sizeof(int32_t) : code == 'q' ? 8 : code == 'f' ? 4 : 1;
}

static kkp_array *new_array(void *data, char code, int dimensions, size_t n0, size_t n1, int is_fixed) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(array_type, Py_tp_alloc);
    kkp_array *a = (kkp_array *)(void *)allocate(array_type, 0);
    if (!a) {
        return NULL;
    }
    a->data = data;
    a->format[0] = code;
    a->item = (Py_ssize_t)item_size(code);
    a->dimensions = dimensions;
    a->shape[0] = (Py_ssize_t)n0;
    a->shape[1] = (Py_ssize_t)n1;
    a->strides[dimensions - 1] = a->item;
    if (dimensions == 2) {
        a->strides[0] = a->item * a->shape[1];
    }
    a->is_fixed = is_fixed;
    return a;
}

PyObject *kkp_view(const void *data, kkp_object *owner, char code, int dimensions, size_t n0, size_t n1, int is_fixed) {
    if (!data) {
        return kkp_none();
    }
    kkp_array *a = new_array((void *)(uintptr_t)data, code, dimensions, n0, n1, is_fixed);
    if (a) {
        link_to(&a->used, owner);
    }
    return (PyObject *)a;
}

// ---- numbers out of buffers and sequences

static int has_format(const Py_buffer *b, char code) {
    const char *f = b->format ? b->format : "B";
    const char first = *f == '<' || *f == '=' || *f == '@' ? f[1] : *f;
    if (*f && first && f[first == *f ? 1 : 2]) {
        return 0; // more than one item
    }
    if (b->itemsize != (Py_ssize_t)item_size(code)) {
        return 0;
    }
    return code == 'i'   ? first == 'i' || first == 'l'
           : code == 'B' ? first == 'B' || first == 'b' || first == '?' || first == 'c'
                         : first == code;
}

static const char *type_of(char code) {
    return code == 'd' ? "float64" : code == 'i' ? "int32" : "bytes (uint8)";
}

/// Fills room for `n` items from a sequence of numbers; 0 with an exception otherwise.
static int fill(PyObject *sequence, char code, void *room, Py_ssize_t n) {
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        if (!item) {
            return 0;
        }
        if (code == 'd') {
            ((double *)room)[i] = PyFloat_AsDouble(item);
        } else {
            const long long x = PyLong_AsLongLong(item);
            const long long least = code == 'i' ? INT32_MIN : 0, most = code == 'i' ? INT32_MAX : 255;
            if (!PyErr_Occurred() && (x < least || x > most)) {
                PyErr_SetString(PyExc_OverflowError, "number out of range");
            }
            if (code == 'i') {
                ((int32_t *)room)[i] = (int32_t)x;
            } else {
                ((unsigned char *)room)[i] = (unsigned char)x;
            }
        }
        Py_DECREF(item);
        if (PyErr_Occurred()) {
            return 0;
        }
    }
    return 1;
}

static int is_sequence(PyObject *o) {
    return PyList_Check(o) || PyTuple_Check(o);
}

/// An array that a structure may lead to: over the caller's buffer, or a copy of a sequence.
static PyObject *array_from(PyObject *value, const char *name, char code) {
    if (is_sequence(value)) {
        const Py_ssize_t n = PySequence_Size(value);
        void *room = PyMem_Calloc(n > 0 ? (size_t)n : 1, item_size(code));
        kkp_array *a = room && fill(value, code, room, n) ? new_array(room, code, 1, (size_t)n, 1, 0) : NULL;
        if (!a) {
            PyMem_Free(room);
            return PyErr_Occurred() ? NULL : PyErr_NoMemory();
        }
        a->owns = 1;
        return (PyObject *)a;
    }
    kkp_array *a = new_array(NULL, code, 1, 0, 1, 0);
    if (!a) {
        return NULL;
    }
    if (PyObject_GetBuffer(value, &a->buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s must be a C-contiguous array of %s, or a list of numbers", name,
                     type_of(code));
        Py_DECREF(a);
        return NULL;
    }
    a->has_buffer = 1;
    a->is_fixed = a->buffer.readonly;
    if (!has_format(&a->buffer, code)) {
        PyErr_Format(PyExc_TypeError, "%s must be of %s, not of format '%s'", name, type_of(code),
                     a->buffer.format ? a->buffer.format : "B");
        Py_DECREF(a);
        return NULL;
    }
    a->data = a->buffer.buf;
    a->shape[0] = a->buffer.len / a->item;
    return (PyObject *)a;
}

// ---- fields of structures

static const kkp_field *closure(void *at) {
    return at;
}
static char *place_of(kkp_object *o, const kkp_field *f) {
    return (char *)o->data + f->offset;
}

static long long get_integer(const char *at, kkp_kind kind) {
    switch (kind) {
    case KKP_CHAR: return *(const signed char *)at;
    case KKP_UCHAR: return *(const unsigned char *)at;
    case KKP_INT: return *(const int *)(const void *)at;
    case KKP_UINT32: return *(const uint32_t *)(const void *)at;
    default: return *(const int64_t *)(const void *)at;
    }
}

static PyObject *get_scalar(const char *at, kkp_kind kind) {
    if (kind == KKP_DOUBLE) {
        return PyFloat_FromDouble(*(const double *)(const void *)at);
    }
    if (kind == KKP_FLOAT) {
        return PyFloat_FromDouble((double)*(const float *)(const void *)at);
    }
    if (kind == KKP_UINT64 || kind == KKP_SIZE) {
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)(const void *)at);
    }
    return PyLong_FromLongLong(get_integer(at, kind));
}

static size_t scalar_size(kkp_kind kind) {
    switch (kind) {
    case KKP_CHAR:
    case KKP_UCHAR: return 1;
    case KKP_FLOAT:
    case KKP_INT:
    case KKP_UINT32: return 4;
    default: return 8;
    }
}

static int in_range(long long x, kkp_kind kind) {
    switch (kind) {
    case KKP_CHAR: return x >= -128 && x <= 255;
    case KKP_UCHAR: return x >= 0 && x <= 255;
    case KKP_INT: return x >= INT32_MIN && x <= INT32_MAX;
    case KKP_UINT32: return x >= 0 && x <= UINT32_MAX;
    default: return 1;
    }
}

static int set_scalar(char *at, kkp_kind kind, PyObject *value, const char *name) {
    if (kind == KKP_DOUBLE || kind == KKP_FLOAT) {
        const double x = PyFloat_AsDouble(value);
        if (PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError, "%s must be a number", name);
            return -1;
        }
        if (kind == KKP_DOUBLE) {
            *(double *)(void *)at = x;
        } else {
            *(float *)(void *)at = (float)x;
        }
        return 0;
    }
    if (kind == KKP_CHAR && PyUnicode_Check(value) && PyUnicode_GetLength(value) == 1) {
        *at = (char)PyUnicode_ReadChar(value, 0);
        return 0;
    }
    PyObject *number = PyNumber_Index(value);
    if (!number) {
        PyErr_Format(PyExc_TypeError, "%s must be a whole number", name);
        return -1;
    }
    const int is_wide = kind == KKP_UINT64 || kind == KKP_SIZE;
    const uint64_t wide = is_wide ? PyLong_AsUnsignedLongLong(number) : 0;
    const long long x = is_wide ? 0 : PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (PyErr_Occurred() || !in_range(x, kind)) {
        PyErr_Format(PyExc_OverflowError, "%s is out of range", name);
        return -1;
    }
    if (is_wide) {
        memcpy(at, &wide, 8);
    } else if (kind == KKP_INT64) {
        memcpy(at, &x, 8);
    } else if (kind == KKP_INT || kind == KKP_UINT32) {
        const uint32_t narrow = (uint32_t)x;
        memcpy(at, &narrow, 4);
    } else {
        *at = (char)x;
    }
    return 0;
}

static kkp_object *model_of(kkp_object *o) {
    for (; o; o = o->owner) {
        if (o->type == &kkp_type_kk_model) {
            return o;
        }
        if (o->model) {
            return o->model;
        }
    }
    return NULL;
}

static size_t count_in_model(const kkp_object *model, kkp_length what) {
    const kk_model *m = model ? model->data : NULL;
    if (!m) {
        return 0;
    }
    switch (what) {
    case KKP_NQ: return (size_t)kk_model_nq(m);
    case KKP_NV: return (size_t)kk_model_nv(m);
    case KKP_NBODY: return (size_t)kk_model_nbody(m);
    case KKP_NACTUATOR: return (size_t)kk_model_nactuator(m);
    case KKP_NSENSORDATA: return (size_t)kk_model_nsensordata(m);
    case KKP_NACTIVATION: return (size_t)kk_model_nactivation(m);
    default: return 0;
    }
}

static PyObject *key_of(kkp_object *root, const char *at) {
    return PyLong_FromLongLong((long long)(at - (const char *)root->data));
}

static size_t int_at(const char *data, size_t offset) {
    const int x = *(const int *)(const void *)(data + offset);
    return x > 0 ? (size_t)x : 0;
}

/// How many items a field's pointer leads to; (size_t)−1: nobody knows.
static size_t length_of(kkp_object *o, const kkp_field *f) {
    if (f->length == KKP_BY_FIELDS) {
        return int_at(o->data, f->length_offset) * int_at(o->data, f->length_is_size);
    }
    if (f->length == KKP_ONE) {
        return 1;
    }
    if (f->length == KKP_BY_FIELD) {
        const char *at = (const char *)o->data + f->length_offset;
        return f->length_is_size ? *(const size_t *)(const void *)at : int_at(o->data, f->length_offset);
    }
    kkp_object *root = root_of(o);
    PyObject *key = key_of(root, place_of(o, f));
    PyObject *kept = root->keep && key ? PyDict_GetItemWithError(root->keep, key) : NULL;
    Py_XDECREF(key);
    if (kept && Py_TYPE(kept) == array_type) {
        const size_t bytes_an_item = f->kind == KKP_TEXTS ? sizeof(char *) : f->kind == KKP_STRUCTS ? f->type->size : 0;
        const size_t width = bytes_an_item ? bytes_an_item : f->width > 1 ? (size_t)f->width : 1;
        return (size_t)((kkp_array *)(void *)kept)->shape[0] / width;
    }
    kkp_object *model = model_of(o);
    return f->length == KKP_UNKNOWN || !model ? (size_t)-1 : count_in_model(model, f->length);
}

/// An object over a place inside another.
static PyObject *inside(kkp_type *type, void *data, kkp_object *owner, int is_fixed) {
    kkp_object *o = new_object(type, 0);
    if (o) {
        o->data = data;
        o->is_fixed = is_fixed;
        o->seen = owner->generation;
        link_to(&o->owner, owner);
        link_to(&o->model, model_of(owner));
    }
    return (PyObject *)o;
}

static PyObject *get_pointer(kkp_object *o, const kkp_field *f, const void *pointer) {
    const size_t n = length_of(o, f);
    kkp_object *root = root_of(o);
    PyObject *key = key_of(root, place_of(o, f));
    PyObject *kept = root->keep && key ? PyDict_GetItemWithError(root->keep, key) : NULL;
    Py_XDECREF(key);
    if (kept && (f->kind == KKP_OBJECT || f->kind == KKP_DOUBLES || f->kind == KKP_BYTES || f->kind == KKP_FACES)) {
        Py_INCREF(kept);
        return kept;
    }
    if (f->kind == KKP_OBJECT) {
        return inside(f->type, (void *)(uintptr_t)pointer, o, 1);
    }
    if (n == (size_t)-1) {
        return kkp_none();
    }
    if (f->kind == KKP_DOUBLES) {
        const size_t width = f->width > 1 ? (size_t)f->width : 1;
        const int is_fixed = !o->type->destroy; // commands and players are made to be written
        return kkp_view(pointer, o, 'd', width > 1 ? 2 : 1, n, width, is_fixed);
    }
    if (f->kind == KKP_BYTES) {
        return kkp_view(pointer, o, 'B', 1, n, 1, 1);
    }
    if (f->kind == KKP_FACES) {
        return kkp_view(pointer, o, 'i', 2, n, 3, 1);
    }
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *item = f->kind == KKP_TEXTS ? kkp_text_of(((const char *const *)pointer)[i])
                                              : inside(f->type, (char *)(uintptr_t)pointer + i * f->type->size, o, 1);
        if (!item) {
            Py_CLEAR(list);
        } else {
            PyList_SetItem(list, (Py_ssize_t)i, item);
        }
    }
    return list;
}

static PyObject *get_items(kkp_object *o, const kkp_field *f) {
    const size_t size = f->kind == KKP_STRUCT ? f->type->size : scalar_size(f->kind);
    if (f->kind == KKP_DOUBLE) {
        return kkp_view(place_of(o, f), o, 'd', 1, (size_t)f->count, 1, o->is_fixed);
    }
    if (f->kind == KKP_FLOAT) {
        return kkp_view(place_of(o, f), o, 'f', 1, (size_t)f->count, 1, o->is_fixed);
    }
    PyObject *list = PyTuple_New(f->count);
    for (int i = 0; list && i < f->count; i++) {
        char *at = place_of(o, f) + (size_t)i * size;
        PyObject *item = f->kind == KKP_STRUCT ? inside(f->type, at, o, o->is_fixed) : get_scalar(at, f->kind);
        if (!item) {
            Py_CLEAR(list);
        } else {
            PyTuple_SetItem(list, i, item);
        }
    }
    return list;
}

static PyObject *get_field(PyObject *self, void *at) {
    kkp_object *o = as_object(self);
    const kkp_field *f = closure(at);
    if (!usable(o)) {
        return NULL;
    }
    char *place = place_of(o, f);
    switch (f->kind) {
    case KKP_CHARS: return PyUnicode_DecodeUTF8(place, (Py_ssize_t)strnlen(place, (size_t)f->count), "replace");
    case KKP_TEXT: return kkp_text_of(*(const char **)(void *)place);
    case KKP_OBJECT:
    case KKP_DOUBLES:
    case KKP_BYTES:
    case KKP_FACES:
    case KKP_STRUCTS:
    case KKP_TEXTS: {
        const void *pointer = *(const void **)(void *)place;
        return pointer ? get_pointer(o, f, pointer) : kkp_none();
    }
    case KKP_STRUCT: return f->count > 1 ? get_items(o, f) : inside(f->type, place, o, o->is_fixed);
    default: return f->count > 1 ? get_items(o, f) : get_scalar(place, f->kind);
    }
}

/// What the source keeps for the bytes of a structure, kept for a copy of them.
static void hand_over(kkp_object *to, char *to_at, kkp_object *from, size_t size) {
    kkp_object *root_from = root_of(from), *root_to = root_of(to);
    const long long first = (const char *)from->data - (const char *)root_from->data;
    const long long shift = (to_at - (const char *)root_to->data) - first;
    if (root_from->keep) {
        PyObject *copy = PyDict_Copy(root_from->keep), *key, *value;
        Py_ssize_t at = 0;
        while (copy && PyDict_Next(copy, &at, &key, &value)) {
            const long long offset = PyLong_Check(key) ? PyLong_AsLongLong(key) : -1;
            if (offset >= first && offset < first + (long long)size) {
                PyObject *moved = PyLong_FromLongLong(offset + shift);
                kkp_keep(root_to, moved, value);
                Py_XDECREF(moved);
            }
        }
        Py_XDECREF(copy);
    }
    if (root_from->owner && root_from != root_to) { // its pointers lead into somebody's memory
        PyObject *key = PyUnicode_FromFormat("at %lld", first + shift);
        kkp_keep(root_to, key, (PyObject *)root_from->owner);
        Py_XDECREF(key);
    }
}

/// Reads a structure from an object of its type, or from numbers in their order.
static int read_struct(kkp_type *type, PyObject *value, const char *name, void *out) {
    if (Py_TYPE(value) == type->python) {
        if (!usable(as_object(value))) {
            return -1;
        }
        memcpy(out, as_object(value)->data, type->size);
        return 0;
    }
    if (!type->flat) {
        PyErr_Format(PyExc_TypeError, "%s must be a %s", name, type->name);
        return -1;
    }
    PyObject *array = NULL;
    if (is_sequence(value) || PyObject_CheckBuffer(value)) {
        array = array_from(value, name, 'd');
    } else {
        PyErr_Format(PyExc_TypeError, "%s must be a %s, or its %d numbers", name, type->name, type->flat);
    }
    if (!array) {
        return -1;
    }
    const kkp_array *a = (const kkp_array *)(const void *)array;
    const int fits = a->shape[0] == type->flat;
    if (fits) {
        memcpy(out, a->data, type->size);
    } else {
        PyErr_Format(PyExc_ValueError, "%s has %zd numbers; a %s has %d", name, a->shape[0], type->name, type->flat);
    }
    Py_DECREF(array);
    return fits ? 0 : -1;
}

static int set_struct(kkp_object *o, const kkp_field *f, char *place, PyObject *value) {
    if (read_struct(f->type, value, f->name, place) != 0) {
        return -1;
    }
    if (Py_TYPE(value) == f->type->python) {
        hand_over(o, place, as_object(value), f->type->size);
    }
    return 0;
}

static int set_items(kkp_object *o, const kkp_field *f, PyObject *value) {
    if (PySequence_Size(value) != f->count) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%s takes %d items", f->name, f->count);
        return -1;
    }
    const size_t size = f->kind == KKP_STRUCT ? f->type->size : scalar_size(f->kind);
    int result = 0;
    for (int i = 0; i < f->count && result == 0; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        char *at = place_of(o, f) + (size_t)i * size;
        result = !item                   ? -1
                 : f->kind == KKP_STRUCT ? set_struct(o, f, at, item)
                                         : set_scalar(at, f->kind, item, f->name);
        Py_XDECREF(item);
    }
    return result;
}

/// A number, or one of the choices of an enum.
static int set_number(kkp_object *o, const kkp_field *f, PyObject *value) {
    char *place = place_of(o, f);
    const int before = f->choices ? *(int *)(void *)place : 0;
    if (set_scalar(place, f->kind, value, f->name) != 0) {
        return -1;
    }
    const int now = f->choices ? *(int *)(void *)place : 0;
    if (f->choices && (now < 0 || now >= f->choices)) {
        *(int *)(void *)place = before;
        PyErr_Format(PyExc_ValueError, "%s is %d; its choices have numbers from 0 to %d", f->name, now, f->choices - 1);
        return -1;
    }
    return 0;
}

/// The spec that a definition is edited in; NULL: none.
static kk_spec *spec_of(kkp_object *o) {
    for (kkp_object *up = o; up; up = up->owner) {
        if (up->type == &kkp_type_kk_spec) {
            return up->data;
        }
    }
    return NULL;
}

static int set_text(kkp_object *o, const kkp_field *f, PyObject *value) {
    const char **place = (const char **)(void *)place_of(o, f);
    kkp_object *root = root_of(o);
    PyObject *key = key_of(root, (const char *)place);
    int result = 0;
    if (value == Py_None) {
        *place = NULL;
        kkp_keep(root, key, NULL);
    } else {
        Py_ssize_t length = 0;
        const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, &length) : NULL;
        kk_spec *spec = spec_of(o);
        if (!text || strlen(text) != (size_t)length) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError, "%s must be a text without zeros, or None", f->name);
            result = -1;
        } else if (spec) {
            if (kk_spec_keep_text(spec, text, place, NULL) != KK_OK) {
                PyErr_NoMemory();
                result = -1;
            }
        } else {
            *place = text;
            kkp_keep(root, key, value);
        }
    }
    Py_XDECREF(key);
    return result;
}

static void set_length(kkp_object *o, const kkp_field *f, size_t n) {
    if (f->length == KKP_BY_FIELD) {
        char *at = (char *)o->data + f->length_offset;
        if (f->length_is_size) {
            *(size_t *)(void *)at = n;
        } else {
            *(int *)(void *)at = (int)n;
        }
    }
}

/// A block of structures or texts that a field leads to; what its items lead to is kept with it.
static PyObject *block_from(kkp_object *o, const kkp_field *f, PyObject *value, Py_ssize_t n) {
    const size_t size = f->kind == KKP_TEXTS ? sizeof(char *) : f->type->size;
    kkp_array *a = new_array(PyMem_Calloc(n > 0 ? (size_t)n : 1, size), 'B', 1, (size_t)n * size, 1, 1);
    PyObject *kept = PyList_New(0);
    int good = a && a->data && kept;
    if (a) {
        a->owns = 1;
    }
    for (Py_ssize_t i = 0; i < n && good; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        char *at = (char *)a->data + (size_t)i * size;
        good = item != NULL;
        if (good && f->kind == KKP_TEXTS) {
            *(const char **)(void *)at = PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
            good = *(const char **)(void *)at != NULL;
            if (!good && !PyErr_Occurred()) {
                PyErr_Format(PyExc_TypeError, "%s must be a list of texts", f->name);
            }
            good = good && PyList_Append(kept, item) == 0;
        } else if (good) {
            good = read_struct(f->type, item, f->name, at) == 0;
            PyObject *held = good ? as_kept(item) : NULL;
            good = held && PyList_Append(kept, held) == 0;
            Py_XDECREF(held);
        }
        Py_XDECREF(item);
    }
    (void)o;
    if (!good) {
        Py_XDECREF(kept);
        Py_XDECREF((PyObject *)a);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    a->owner = kept;
    return (PyObject *)a;
}

static char code_of(kkp_kind kind) {
    return kind == KKP_DOUBLES ? 'd' : kind == KKP_FACES ? 'i' : 'B';
}

static int set_pointer(kkp_object *o, const kkp_field *f, PyObject *value) {
    void **place = (void **)(void *)place_of(o, f);
    kkp_object *root = root_of(o);
    PyObject *held = NULL, *key = NULL;
    void *pointer = NULL;
    size_t n = 0;
    if (f->kind == KKP_OBJECT && value != Py_None) {
        if (Py_TYPE(value) != f->type->python) {
            PyErr_Format(PyExc_TypeError, "%s must be a %s", f->name, f->type->name);
            return -1;
        }
        if (!usable(as_object(value))) {
            return -1;
        }
        held = value;
        Py_INCREF(held);
        pointer = as_object(value)->data;
    } else if (value != Py_None && (f->kind == KKP_STRUCTS || f->kind == KKP_TEXTS)) {
        if (f->kind == KKP_STRUCTS && f->length == KKP_ONE) {
            PyObject *one = PyTuple_Pack(1, value);
            held = one ? block_from(o, f, one, 1) : NULL;
            Py_XDECREF(one);
        } else if (!is_sequence(value)) {
            PyErr_Format(PyExc_TypeError, "%s must be a list", f->name);
        } else {
            n = (size_t)PySequence_Size(value);
            const size_t wanted =
                f->length >= KKP_NQ && f->length <= KKP_NACTIVATION ? count_in_model(model_of(o), f->length) : n;
            if (n == wanted) {
                held = block_from(o, f, value, (Py_ssize_t)n);
            } else {
                PyErr_Format(PyExc_ValueError, "%s has %zu items; %zu are wanted", f->name, n, wanted);
            }
        }
        pointer = held ? ((kkp_array *)(void *)held)->data : NULL;
    } else if (value != Py_None && f->kind == KKP_BYTES && PyUnicode_Check(value)) {
        PyObject *bytes = PyUnicode_AsUTF8String(value);
        held = bytes ? array_from(bytes, f->name, 'B') : NULL;
        Py_XDECREF(bytes);
        pointer = held ? ((kkp_array *)(void *)held)->data : NULL;
        n = held ? (size_t)((kkp_array *)(void *)held)->shape[0] : 0;
    } else if (value != Py_None) {
        held = array_from(value, f->name, code_of(f->kind));
        kkp_array *a = (kkp_array *)(void *)held;
        const size_t width = f->kind == KKP_FACES ? 3 : f->width > 1 ? (size_t)f->width : 1;
        if (a && (size_t)a->shape[0] % width) {
            PyErr_Format(PyExc_ValueError, "%s must have a multiple of %zu numbers", f->name, width);
            Py_CLEAR(held);
        }
        pointer = held ? a->data : NULL;
        n = held ? (size_t)a->shape[0] / width : 0;
    }
    if (value != Py_None && !held) {
        return -1;
    }
    kk_spec *spec = spec_of(o);
    key = spec && held ? PyUnicode_FromFormat("held %p", (void *)held) : key_of(root, (const char *)place);
    // a definition inside a spec outlives the view it was edited by
    kkp_object *keeper = root;
    for (kkp_object *up = o; spec && held && up; up = up->owner) {
        keeper = up->type == &kkp_type_kk_spec ? up : keeper;
    }
    *place = pointer;
    set_length(o, f, n);
    kkp_keep(keeper, key, held);
    Py_XDECREF(key);
    Py_XDECREF(held);
    return PyErr_Occurred() ? -1 : 0;
}

/// Whether a grid's numbers are somebody else's: nobody knows then how many there are but its rows and columns.
static int measures_others(kkp_object *o) {
    int others = 0;
    for (int k = 0; k < o->type->field_count; k++) {
        const kkp_field *f = &o->type->fields[k];
        if (f->length == KKP_BY_FIELDS && *(void **)(void *)place_of(o, f)) {
            PyObject *key = key_of(root_of(o), place_of(o, f));
            others |= !root_of(o)->keep || !key || !PyDict_GetItemWithError(root_of(o)->keep, key);
            Py_XDECREF(key);
        }
    }
    return others;
}

static int set_field(PyObject *self, PyObject *value, void *at) {
    kkp_object *o = as_object(self);
    const kkp_field *f = closure(at);
    if (!usable(o)) {
        return -1;
    }
    const int is_of_call =
        o->type->destroy && (f->kind == KKP_OBJECT || f->kind == KKP_DOUBLES); // which frees them itself
    if (!value || o->is_fixed || f->kind == KKP_CHARS || is_of_call || f->is_count == 1 ||
        (f->is_count && measures_others(o))) {
        PyErr_Format(PyExc_AttributeError, "%s of this %s is read-only", f->name, o->type->name);
        return -1;
    }
    root_of(o)->is_checked = 0;
    switch (f->kind) {
    case KKP_TEXT: return set_text(o, f, value);
    case KKP_OBJECT:
    case KKP_DOUBLES:
    case KKP_BYTES:
    case KKP_FACES:
    case KKP_STRUCTS:
    case KKP_TEXTS: return set_pointer(o, f, value);
    case KKP_STRUCT: return f->count > 1 ? set_items(o, f, value) : set_struct(o, f, place_of(o, f), value);
    default: return f->count > 1 ? set_items(o, f, value) : set_number(o, f, value);
    }
}

// ---- structures as Python types

static kkp_type *type_of_python(PyTypeObject *python) {
    for (kkp_type *const *t = kkp_types; *t; t++) {
        if ((*t)->python == python) {
            return *t;
        }
    }
    return NULL;
}

static PyObject *struct_new(PyTypeObject *python, PyObject *args, PyObject *keywords) {
    kkp_type *type = type_of_python(python);
    if (!type || !type->is_struct || type->destroy) {
        PyErr_SetString(PyExc_TypeError, "objects of this type are made by calls");
        return NULL;
    }
    kkp_object *o = new_object(type, 1);
    if (!o) {
        return NULL;
    }
    if (type->start) {
        type->start(o->data);
    }
    const Py_ssize_t given = PyTuple_Size(args);
    int good = given <= type->field_count;
    if (!good) {
        PyErr_Format(PyExc_TypeError, "%s takes at most %d values", type->name, type->field_count);
    }
    for (Py_ssize_t i = 0; i < given && good; i++) {
        good = set_field((PyObject *)o, PyTuple_GetItem(args, i), (void *)(uintptr_t)&type->fields[i]) == 0;
    }
    PyObject *key, *value;
    for (Py_ssize_t at = 0; keywords && good && PyDict_Next(keywords, &at, &key, &value);) {
        good = PyObject_SetAttr((PyObject *)o, key, value) == 0;
    }
    if (!good) {
        Py_DECREF(o);
        return NULL;
    }
    return (PyObject *)o;
}

static PyObject *struct_repr(PyObject *self) {
    kkp_object *o = as_object(self);
    if (why_not(o)) {
        return PyUnicode_FromFormat("<%s, which %s>", o->type->name, why_not(o));
    }
    PyObject *text = PyUnicode_FromFormat("%s(", o->type->name);
    for (int i = 0; i < o->type->field_count && text; i++) {
        PyObject *value = PyObject_GetAttrString(self, o->type->fields[i].name);
        if (value && Py_TYPE(value) == array_type) {
            PyObject *view = PyMemoryView_FromObject(value);
            PyObject *list = view ? PyObject_CallMethod(view, "tolist", NULL) : NULL;
            Py_XDECREF(view);
            KKP_REPLACE(value, list);
        }
        PyObject *next =
            value ? PyUnicode_FromFormat("%U%s%s=%R", text, i ? ", " : "", o->type->fields[i].name, value) : NULL;
        Py_XDECREF(value);
        KKP_REPLACE(text, next);
    }
    if (text) {
        KKP_REPLACE(text, PyUnicode_FromFormat("%U)", text));
    }
    return text;
}

static PyObject *object_repr(PyObject *self) {
    const char *why = why_not(as_object(self));
    return PyUnicode_FromFormat(why ? "<%s, which %s>" : "<%s at %p>", as_object(self)->type->name,
                                why ? (const void *)why : (const void *)self);
}

static int struct_get_buffer(PyObject *self, Py_buffer *view, int flags) {
    kkp_object *o = as_object(self);
    view->obj = NULL;
    if (!usable(o)) {
        PyErr_Clear();
        PyErr_SetString(PyExc_BufferError, "this structure cannot be read any more");
        return -1;
    }
    PyObject *array = kkp_view(o->data, o, 'd', 1, (size_t)o->type->flat, 1, o->is_fixed);
    const int result = array ? PyObject_GetBuffer(array, view, flags) : -1;
    Py_XDECREF(array);
    return result;
}

int kkp_add_type(PyObject *module, kkp_type *type) {
    PyGetSetDef *fields = PyMem_Calloc((size_t)type->field_count + 1, sizeof *fields); // lives as long as the type
    if (!fields) {
        return -1;
    }
    for (int i = 0; i < type->field_count; i++) {
        fields[i] = (PyGetSetDef){type->fields[i].name, get_field, set_field, type->fields[i].doc,
                                  (void *)(uintptr_t)&type->fields[i]};
    }
    char *name = PyMem_Calloc(1, strlen(type->name) + 12);
    if (!name) {
        return -1;
    }
    strcpy(name, "karakuri.c.");
    strcat(name, type->name);
    PyType_Slot slots[10];
    int n = 0;
    slots[n++] = (PyType_Slot){Py_tp_dealloc, (void *)dealloc};
    slots[n++] = (PyType_Slot){Py_tp_repr, (void *)(type->is_struct ? struct_repr : object_repr)};
    slots[n++] = (PyType_Slot){Py_tp_getset, fields};
    slots[n++] = (PyType_Slot){Py_tp_doc, (void *)(uintptr_t)type->doc};
    slots[n++] = (PyType_Slot){Py_tp_new, (void *)struct_new};
    if (type->flat) {
        slots[n++] = (PyType_Slot){Py_bf_getbuffer, (void *)struct_get_buffer};
    }
    slots[n] = (PyType_Slot){0, NULL};
    PyType_Spec spec = {name, sizeof(kkp_object), 0, Py_TPFLAGS_DEFAULT, slots};
    type->python = (PyTypeObject *)(void *)PyType_FromSpec(&spec);
    if (!type->python) {
        return -1;
    }
    Py_INCREF((PyObject *)(void *)type->python);
    return PyModule_AddObject(module, type->name, (PyObject *)(void *)type->python);
}

// ---- a call

void kkp_fail(kkp_call *c, int argument, PyObject *kind, const char *format, ...) {
    if (!c->failed) {
        va_list more;
        va_start(more, format);
        PyObject *text = PyUnicode_FromFormatV(format, more);
        va_end(more);
        PyErr_Clear();
        if (text) {
            PyErr_Format(kind, "%s: argument %s %U", c->function, c->names[argument], text);
            Py_DECREF(text);
        }
    }
    c->failed = 1;
}

int kkp_begin(kkp_call *c, const char *function, const char *const *names, PyObject *const *args, Py_ssize_t count,
              int least, int most, int is_long) {
    c->function = function;
    c->names = names;
    c->args = args;
    c->count = (int)count;
    c->failed = 0;
    c->model = NULL;
    c->model_name = NULL;
    c->has_variations = 0;
    c->is_long = is_long;
    c->thread = NULL;
    c->nheld = c->nbuffer = c->nblock = 0;
    c->error.status = KK_OK;
    c->error.line = c->error.column = 0;
    c->error.file[0] = c->error.text[0] = c->error.trail[0] = 0;
    if (count < least || count > most) {
        PyErr_Format(PyExc_TypeError,
                     least == most ? "%s takes %d arguments, not %zd" : "%s takes %d to %d arguments, not %zd",
                     function, least, least == most ? (int)count : most, count);
        c->failed = 1;
        return 0;
    }
    return 1;
}

static PyObject *argument(const kkp_call *c, int i) {
    return i < c->count ? c->args[i] : Py_None;
}

static int can_hold(const kkp_object *o, int changes) {
    return o->holds == 0 || (!changes && (o->holds > 0 || o->thread == PyThread_get_thread_ident()));
}

int kkp_go(kkp_call *c) {
    for (int i = 0; i < c->nheld && !c->failed; i++) {
        kkp_object *o = c->held[i].object;
        for (int k = 0; k < i && c->is_long; k++) {
            if (c->held[k].object == o && (c->held[k].changes || c->held[i].changes)) {
                PyErr_Format(PyExc_ValueError, "%s: the same %s is given twice, and the call changes it", c->function,
                             o->type->name);
                c->failed = 1;
            }
        }
        if (!c->failed && !can_hold(o, c->held[i].changes)) {
            PyErr_Format(PyExc_RuntimeError,
                         "%s: argument %s is in use by another call; one thread at a time may use a %s", c->function,
                         o->type->name, o->type->name);
            c->failed = 1;
        }
    }
    if (c->failed) {
        return 0;
    }
    if (c->is_long) {
        const unsigned long self = PyThread_get_thread_ident();
        for (int i = 0; i < c->nheld; i++) {
            kkp_object *o = c->held[i].object;
            if (c->held[i].changes) {
                o->holds = -1;
                o->thread = self;
            } else if (o->holds >= 0) {
                o->holds++;
            }
        }
        c->thread = PyEval_SaveThread();
    }
    return 1;
}

void kkp_back(kkp_call *c) {
    if (!c->is_long) {
        return;
    }
    PyEval_RestoreThread(c->thread);
    for (int i = 0; i < c->nheld; i++) {
        kkp_object *o = c->held[i].object;
        o->holds = c->held[i].changes ? 0 : o->holds > 0 ? o->holds - 1 : o->holds;
    }
}

PyObject *kkp_end(kkp_call *c, PyObject *result) {
    for (int i = 0; i < c->nbuffer; i++) {
        PyBuffer_Release(&c->buffer[i]);
    }
    for (int i = 0; i < c->nblock; i++) {
        PyMem_Free(c->block[i]);
    }
    if (result && PyErr_Occurred()) { // by a callback whose call had nobody to tell
        Py_CLEAR(result);
    }
    return result;
}

int kkp_good(kkp_call *c, kk_status status) {
    if (status >= 0) {
        return 1; // kkp_end sees what a callback raised
    }
    if (PyErr_Occurred()) {
        return 0;
    }
    const kk_error *e = &c->error;
    const char *text = e->text[0] ? e->text : kk_status_text(status);
    PyObject *exception = make_error ? PyObject_CallFunction(make_error, "issiiss", (int)status, text, e->file, e->line,
                                                             e->column, c->function, e->trail)
                                     : NULL;
    if (exception) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    } else if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_RuntimeError, "%s: %s", c->function, text);
    }
    return 0;
}

// ---- arguments

/// An array has as many numbers as the fields that count them say.
static void check_product(kkp_call *c, int i, kkp_object *o, const kkp_field *f, char *data) {
    kkp_object *root = root_of(o);
    PyObject *key = key_of(root, data + f->offset);
    PyObject *kept = root->keep && key ? PyDict_GetItemWithError(root->keep, key) : NULL;
    Py_XDECREF(key);
    const size_t others = f->length == KKP_BY_FIELDS ? int_at(data, f->length_is_size) : (size_t)f->width;
    const size_t expected = int_at(data, f->length_offset) * others;
    const size_t found = kept && Py_TYPE(kept) == array_type ? (size_t)((kkp_array *)(void *)kept)->shape[0] : expected;
    if (found != expected) {
        kkp_fail(c, i, PyExc_ValueError, "has %zu numbers in %s; %zu are wanted", found, f->name, expected);
    }
}

/// Structures that lead to arrays whose length a model says must fit the model of the call.
static void check_arrays(kkp_call *c, int i, kkp_object *o, kkp_type *type, char *data) {
    for (int k = 0; k < type->field_count && !c->failed; k++) {
        const kkp_field *f = &type->fields[k];
        if (f->kind == KKP_STRUCT && f->count == 1) {
            check_arrays(c, i, o, f->type, data + f->offset);
        }
        if (f->is_needed && !*(void **)(void *)(data + f->offset)) {
            kkp_fail(c, i, PyExc_ValueError, "has no %s", f->name);
            return;
        }
        if ((f->length == KKP_BY_FIELDS ||
             (f->length == KKP_BY_FIELD && f->kind == KKP_DOUBLES && !f->length_is_size)) &&
            *(void **)(void *)(data + f->offset)) {
            check_product(c, i, o, f, data);
        }
        if ((f->kind != KKP_DOUBLES && f->kind != KKP_BYTES) || f->length < KKP_NQ || f->length > KKP_NACTIVATION ||
            !*(void **)(void *)(data + f->offset)) {
            continue;
        }
        kkp_object *root = root_of(o);
        PyObject *key = key_of(root, data + f->offset);
        PyObject *kept = root->keep && key ? PyDict_GetItemWithError(root->keep, key) : NULL;
        Py_XDECREF(key);
        const size_t expected = count_in_model(c->model, f->length) * (size_t)(f->width ? f->width : 1);
        if (kept && Py_TYPE(kept) == array_type) {
            const size_t found = (size_t)((kkp_array *)(void *)kept)->shape[0];
            if (c->model && found != expected) {
                kkp_fail(c, i, PyExc_ValueError, "has %zu numbers in %s; the model wants %zu", found, f->name,
                         expected);
            }
        } else if (c->model && model_of(o) != c->model) {
            kkp_fail(c, i, PyExc_ValueError, "leads to %s of another model", f->name);
        }
    }
}

/// Simulations have states of variations of their model among their own: the library looks whose.
static int may_meet(const kkp_call *c, const kk_model *a, const kk_model *b) {
    return kk_model_hash(a) == kk_model_hash(b) || (c->has_variations && kk_model_base(a) == kk_model_base(b));
}

static void meet_model(kkp_call *c, int i, kkp_object *o) {
    c->has_variations |= o->type == &kkp_type_kk_simulations;
    kkp_object *model = o->type == &kkp_type_kk_model ? o : model_of(o);
    if (!model || (o->type->is_struct && !o->type->destroy)) {
        return;
    }
    if (!c->model) {
        c->model = model;
        c->model_name = c->names[i];
    } else if (c->model != model && !may_meet(c, c->model->data, model->data)) {
        kkp_fail(c, i, PyExc_ValueError, "belongs to another model than %s", c->model_name);
    }
}

kkp_object *kkp_object_of(kkp_call *c, int i, kkp_type *type, int how) {
    PyObject *value = argument(c, i);
    if (c->failed) {
        return NULL;
    }
    if (value == Py_None && (how & KKP_OPTIONAL)) {
        return NULL;
    }
    if (Py_TYPE(value) != type->python) {
        PyObject *name = PyObject_GetAttrString((PyObject *)(void *)Py_TYPE(value), "__name__");
        kkp_fail(c, i, PyExc_TypeError, "must be a %s, not %S", type->name, name ? name : Py_None);
        Py_XDECREF(name);
        return NULL;
    }
    kkp_object *o = as_object(value);
    const char *why = why_not(o);
    if (why) {
        kkp_fail(c, i, PyExc_ReferenceError, "%s", why);
        return NULL;
    }
    if ((how & KKP_CHANGE) && o->is_fixed) {
        kkp_fail(c, i, PyExc_ValueError, "is read-only here");
        return NULL;
    }
    if (!(how & KKP_ANY_MODEL)) {
        meet_model(c, i, o);
    }
    if (type->is_struct && !c->failed && !(o->is_checked && o->model == c->model)) {
        check_arrays(c, i, o, type, o->data);
        if (!c->failed && !o->owner && c->model && !type->destroy) { // the next call need not look again
            link_to(&o->model, c->model);
            o->is_checked = 1;
        }
    }
    c->held[c->nheld].object = o;
    c->held[c->nheld++].changes = how & KKP_CHANGE;
    return c->failed ? NULL : o;
}

static int refused(kkp_call *c) {
    if (PyErr_Occurred()) {
        c->failed = 1;
    }
    return c->failed;
}

void kkp_value(kkp_call *c, int i, kkp_type *type, void *out) {
    if (!c->failed && read_struct(type, argument(c, i), c->names[i], out) != 0) {
        PyObject *kind = PyErr_ExceptionMatches(PyExc_ValueError) ? PyExc_ValueError : PyExc_TypeError;
        if (type->flat) {
            kkp_fail(c, i, kind, "must be a %s, or its %d numbers", type->name, type->flat);
        } else {
            kkp_fail(c, i, kind, "must be a %s", type->name);
        }
    }
}

double kkp_double(kkp_call *c, int i) {
    if (c->failed) {
        return 0;
    }
    const double x = PyFloat_AsDouble(argument(c, i));
    if (PyErr_Occurred()) {
        kkp_fail(c, i, PyExc_TypeError, "must be a number");
    }
    return x;
}

long long kkp_integer(kkp_call *c, int i, long long least, long long most) {
    if (c->failed) {
        return 0;
    }
    const long long x = PyLong_AsLongLong(argument(c, i));
    if (PyErr_Occurred()) {
        kkp_fail(c, i, PyErr_ExceptionMatches(PyExc_OverflowError) ? PyExc_OverflowError : PyExc_TypeError,
                 "must be a whole number");
        return 0;
    }
    if (x < least || x > most) {
        kkp_fail(c, i, PyExc_OverflowError, "is %lld, which is out of range", x);
    }
    return x;
}

uint64_t kkp_unsigned(kkp_call *c, int i) {
    if (c->failed) {
        return 0;
    }
    PyObject *number = PyNumber_Index(argument(c, i));
    const uint64_t x = number ? PyLong_AsUnsignedLongLong(number) : 0;
    Py_XDECREF(number);
    if (PyErr_Occurred()) {
        kkp_fail(c, i, PyErr_ExceptionMatches(PyExc_OverflowError) ? PyExc_OverflowError : PyExc_TypeError,
                 "must be a whole number from 0 on");
    }
    return x;
}

int kkp_character(kkp_call *c, int i) {
    PyObject *value = argument(c, i);
    if (!c->failed && PyUnicode_Check(value) && PyUnicode_GetLength(value) == 1 && PyUnicode_ReadChar(value, 0) < 128) {
        return (int)PyUnicode_ReadChar(value, 0);
    }
    kkp_fail(c, i, PyExc_TypeError, "must be one ASCII character");
    return 0;
}

const char *kkp_text(kkp_call *c, int i, int optional, Py_ssize_t *length) {
    PyObject *value = argument(c, i);
    if (c->failed || (optional && value == Py_None)) {
        return NULL;
    }
    Py_ssize_t n = 0;
    const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, &n) : NULL;
    if (!text) {
        kkp_fail(c, i, PyExc_TypeError, "must be a text");
    } else if (!length && strlen(text) != (size_t)n) {
        kkp_fail(c, i, PyExc_ValueError, "has a zero in it");
    }
    if (length) {
        *length = n;
    }
    return text;
}

/// A buffer of the argument until the end of the call; NULL where it gives none.
static Py_buffer *buffer_of(kkp_call *c, int i, int flags, const char *what) {
    Py_buffer *b = &c->buffer[c->nbuffer];
    if (PyObject_GetBuffer(argument(c, i), b, flags) == 0) {
        c->nbuffer++;
        return b;
    }
    const int is_buffer = PyObject_CheckBuffer(argument(c, i));
    PyErr_Clear();
    kkp_fail(c, i, is_buffer ? PyExc_ValueError : PyExc_TypeError, "must be a C-contiguous%s array of %s",
             flags & PyBUF_WRITABLE ? " and writable" : "", what);
    return NULL;
}

const void *kkp_bytes(kkp_call *c, int i, int optional, size_t *size) {
    *size = 0;
    if (c->failed || (optional && argument(c, i) == Py_None)) {
        return NULL;
    }
    if (PyUnicode_Check(argument(c, i))) {
        Py_ssize_t n = 0;
        const char *text = kkp_text(c, i, 0, &n);
        *size = (size_t)n;
        return text;
    }
    const Py_buffer *b = buffer_of(c, i, PyBUF_C_CONTIGUOUS, "bytes");
    *size = b ? (size_t)b->len : 0;
    return b ? b->buf : NULL;
}

void *kkp_room(kkp_call *c, int i, size_t *size) {
    const Py_buffer *b = c->failed ? NULL : buffer_of(c, i, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE, "bytes");
    *size = b ? (size_t)b->len : 0;
    return b ? b->buf : NULL;
}

void *kkp_take(kkp_call *c, size_t size) {
    void *block = c->failed ? NULL : PyMem_Calloc(1, size ? size : 1);
    if (block) {
        c->block[c->nblock++] = block;
    } else if (!c->failed) {
        PyErr_NoMemory();
        c->failed = 1;
    }
    return block;
}

void kkp_same_length(kkp_call *c, int i, size_t found, size_t expected) {
    if (!c->failed && found != expected) {
        kkp_fail(c, i, PyExc_ValueError, "has %zu numbers; %zu are wanted", found, expected);
    }
}

void *kkp_numbers(kkp_call *c, int i, char code, size_t length, size_t *found, int writes, int optional) {
    PyObject *value = argument(c, i);
    size_t n = 0;
    void *data = NULL;
    if (c->failed || (optional && value == Py_None)) {
        if (found) {
            *found = 0;
        }
        return NULL;
    }
    if (!writes && is_sequence(value)) {
        n = (size_t)PySequence_Size(value);
        data = kkp_take(c, n * item_size(code));
        if (data && !fill(value, code, data, (Py_ssize_t)n)) {
            kkp_fail(c, i, PyExc_TypeError, "must be a list of numbers");
        }
    } else {
        const Py_buffer *b =
            buffer_of(c, i, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writes ? PyBUF_WRITABLE : 0), type_of(code));
        if (b && !has_format(b, code)) {
            kkp_fail(c, i, PyExc_TypeError, "must be of %s, not of format '%s'", type_of(code),
                     b->format ? b->format : "B");
        }
        n = b ? (size_t)b->len / item_size(code) : 0;
        data = b ? b->buf : NULL;
    }
    if (found) {
        *found = n;
    }
    if (length != (size_t)-1) {
        kkp_same_length(c, i, n, length);
    }
    return data;
}

void *kkp_structs(kkp_call *c, int i, kkp_type *type, size_t length, size_t *found, int optional) {
    PyObject *value = argument(c, i);
    if (found) {
        *found = 0;
    }
    if (c->failed || (optional && value == Py_None)) {
        return NULL;
    }
    if (type->flat && !is_sequence(value)) { // numbers, row by row
        size_t n = 0;
        void *data = kkp_numbers(c, i, 'd', (size_t)-1, &n, 0, 0);
        if (!c->failed && n % (size_t)type->flat) {
            kkp_fail(c, i, PyExc_ValueError, "must have rows of %d numbers", type->flat);
        }
        n /= (size_t)type->flat;
        if (length != (size_t)-1) {
            kkp_same_length(c, i, n, length);
        }
        if (found) {
            *found = n;
        }
        return data;
    }
    if (!is_sequence(value)) {
        kkp_fail(c, i, PyExc_TypeError, "must be a list of %s", type->name);
        return NULL;
    }
    const size_t n = (size_t)PySequence_Size(value);
    char *block = kkp_take(c, n * type->size);
    for (size_t k = 0; k < n && !c->failed; k++) {
        PyObject *item = PySequence_GetItem(value, (Py_ssize_t)k);
        if (!item || read_struct(type, item, c->names[i], block + k * type->size) != 0) {
            kkp_fail(c, i, PyExc_TypeError, "must be a list of %s; item %zu is none", type->name, k);
        } else if (Py_TYPE(item) == type->python) {
            check_arrays(c, i, as_object(item), type, as_object(item)->data);
        }
        Py_XDECREF(item);
    }
    if (length != (size_t)-1) {
        kkp_same_length(c, i, n, length);
    }
    if (found) {
        *found = n;
    }
    return block;
}

/// Structures that a call changed, given back into the caller's list.
void kkp_structs_back(kkp_call *c, int i, kkp_type *type, const void *block, size_t count) {
    PyObject *value = argument(c, i);
    for (size_t k = 0; k < count && PyList_Check(value); k++) {
        PyObject *copy = kkp_copied(c, type, (const char *)block + k * type->size, NULL);
        if (copy) {
            PyList_SetItem(value, (Py_ssize_t)k, copy);
        }
    }
}

const char *const *kkp_texts(kkp_call *c, int i, size_t *found, int optional) {
    PyObject *value = argument(c, i);
    *found = 0;
    if (c->failed || (optional && value == Py_None)) {
        return NULL;
    }
    if (!is_sequence(value)) {
        kkp_fail(c, i, PyExc_TypeError, "must be a list of texts");
        return NULL;
    }
    const Py_ssize_t n = PySequence_Size(value);
    const char **texts = kkp_take(c, (size_t)n * sizeof *texts);
    for (Py_ssize_t k = 0; k < n && !c->failed; k++) {
        PyObject *item = PyList_Check(value) ? PyList_GetItem(value, k) : PyTuple_GetItem(value, k);
        texts[k] = item && PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        if (!texts[k]) {
            kkp_fail(c, i, PyExc_TypeError, "must be a list of texts");
        }
    }
    *found = (size_t)n;
    return texts;
}

PyObject *kkp_callable(kkp_call *c, int i, int optional) {
    PyObject *value = argument(c, i);
    if (c->failed || (optional && value == Py_None)) {
        return NULL;
    }
    if (!PyCallable_Check(value)) {
        kkp_fail(c, i, PyExc_TypeError, "must be callable");
        return NULL;
    }
    return value;
}

void kkp_check_spec(kkp_call *c, kkp_object *spec) {
    kk_model *model = NULL;
    if (!c->failed && spec && !kkp_good(c, kk_model_compile(spec->data, NULL, &model, &c->error))) {
        c->failed = 1;
    }
    kk_model_free(model);
}

size_t kkp_size(kkp_call *c, kkp_length what) {
    return refused(c) ? 0 : count_in_model(c->model, what);
}

// ---- results

PyObject *kkp_none(void) {
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject *kkp_text_of(const char *text) {
    return text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace") : kkp_none();
}

PyObject *kkp_made(kkp_call *c, kkp_type *type, void *data) {
    if (!data) {
        return kkp_none();
    }
    kkp_object *o = new_object(type, 0);
    if (!o) {
        if (type->destroy) {
            type->destroy(data);
        }
        return NULL;
    }
    o->data = data;
    o->owns = 1;
    if (type == &kkp_type_kk_model && kk_model_base(data) != data) { // has the arrays of its model
        link_to(&o->model, c->model);
    }
    if (type != &kkp_type_kk_model && type != &kkp_type_kk_spec) { // these copy what they are made from
        for (int i = 0; i < c->count; i++) {
            if (is_object(c->args[i])) {
                PyObject *key = PyUnicode_FromString(c->names[i]);
                kkp_keep(o, key, c->args[i]);
                Py_XDECREF(key);
            }
        }
        link_to(&o->model, c->model);
    }
    return (PyObject *)o;
}

PyObject *kkp_borrowed(kkp_type *type, void *data, kkp_object *owner, int is_fixed) {
    if (!data) {
        return kkp_none();
    }
    if (owner->data == data) {
        Py_INCREF((PyObject *)owner);
        return (PyObject *)owner;
    }
    if (owner->model && owner->model->data == data) {
        Py_INCREF((PyObject *)owner->model);
        return (PyObject *)owner->model;
    }
    return inside(type, data, owner, is_fixed);
}

PyObject *kkp_copied(kkp_call *c, kkp_type *type, const void *data, kkp_object *owner) {
    kkp_object *o = new_object(type, 1);
    if (o) {
        memcpy(o->data, data, type->size);
        if (owner) {
            o->seen = owner->generation;
            link_to(&o->owner, owner);
        }
        link_to(&o->model, c->model);
    }
    return (PyObject *)o;
}

PyObject *kkp_copies(kkp_call *c, kkp_type *type, const void *data, size_t count, kkp_object *owner) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list; i++) {
        PyObject *item = kkp_copied(c, type, (const char *)data + i * type->size, owner);
        if (!item) {
            Py_CLEAR(list);
        } else {
            PyList_SetItem(list, (Py_ssize_t)i, item);
        }
    }
    return list;
}

PyObject *kkp_inside(kkp_call *c, kkp_type *type, void *data, kkp_object *owner, int is_fixed) {
    (void)c;
    return data ? inside(type, data, owner, is_fixed) : kkp_none();
}

PyObject *kkp_pair(PyObject *a, PyObject *b) {
    PyObject *pair = a && b ? PyTuple_Pack(2, a, b) : NULL;
    Py_XDECREF((PyObject *)a);
    Py_XDECREF(b);
    return pair;
}

PyObject *kkp_list_of_ints(const int *numbers, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list; i++) {
        PyList_SetItem(list, (Py_ssize_t)i, PyLong_FromLong(numbers[i]));
    }
    return list;
}

PyObject *kkp_allocated_text(char *text, size_t size) {
    PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
    kk_text_free(NULL, text, size);
    return result;
}

// ---- callbacks. The caller's thread has given the interpreter away; each callback takes it back for its time.

static kk_status raised(kk_error *error) {
    if (error) {
        memset(error, 0, sizeof *error);
        error->status = KK_INVALID_ARGUMENT;
    }
    return KK_INVALID_ARGUMENT;
}

kk_status kkp_controller(void *user, const kk_model *model, const kk_state *state, double dt, kk_command *command,
                         kk_error *error) {
    const kkp_calls *calls = user;
    (void)model;
    (void)state;
    (void)command;
    PyGILState_STATE before = PyGILState_Ensure();
    PyObject *result = PyObject_CallFunction(calls->callable, "OOdO", (PyObject *)calls->model,
                                             (PyObject *)calls->state, dt, (PyObject *)calls->command);
    Py_XDECREF(result);
    PyGILState_Release(before);
    return result ? KK_OK : raised(error);
}

kk_status kkp_cost(void *user, const double *x, double *cost, kk_error *error) {
    const kkp_calls *calls = user;
    PyGILState_STATE before = PyGILState_Ensure();
    PyObject *list = PyList_New(calls->n);
    for (long i = 0; i < calls->n && list; i++) {
        PyList_SetItem(list, i, PyFloat_FromDouble(x[i]));
    }
    PyObject *result = list ? PyObject_CallFunctionObjArgs(calls->callable, list, NULL) : NULL;
    *cost = result ? PyFloat_AsDouble(result) : 0;
    const int good = result && !PyErr_Occurred();
    Py_XDECREF(list);
    Py_XDECREF(result);
    PyGILState_Release(before);
    return good ? KK_OK : raised(error);
}

int kkp_sink(void *user, const void *bytes, size_t size) {
    PyGILState_STATE before = PyGILState_Ensure();
    PyObject *block = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    PyObject *result = block ? PyObject_CallFunctionObjArgs(user, block, NULL) : NULL;
    Py_XDECREF(block);
    Py_XDECREF(result);
    PyGILState_Release(before);
    return result ? 0 : -1;
}

int kkp_text_sink(void *user, const char *bytes, size_t size) {
    return kkp_sink(user, bytes, size);
}

// ---- the module

static PyObject *set_error_maker(PyObject *module, PyObject *callable) {
    (void)module;
    Py_INCREF(callable);
    KKP_REPLACE(make_error, callable);
    return kkp_none();
}

static PyObject *same_bits_hash(PyObject *module, PyObject *argument) {
    (void)module;
    Py_buffer b;
    if (PyObject_GetBuffer(argument, &b, PyBUF_C_CONTIGUOUS) != 0) {
        return NULL;
    }
    const uint64_t hash = kk_hash_bytes(b.buf, (size_t)b.len, 0);
    PyBuffer_Release(&b);
    return PyLong_FromUnsignedLongLong(hash);
}

static PyMethodDef own_calls[] = {
    {"_set_error_maker", set_error_maker, METH_O, "How a status becomes an exception."},
    {"_draw", (PyCFunction)(void (*)(void))kkp_draw, METH_FASTCALL, "A picture into arrays."},
    {"_hash", same_bits_hash, METH_O, "XXH64 of a buffer."},
    {NULL, NULL, 0, NULL}};

int kkp_start(PyObject *module) {
    array_type = (PyTypeObject *)(void *)PyType_FromSpec(&array_spec);
    if (!array_type) {
        return -1;
    }
    Py_INCREF((PyObject *)(void *)array_type);
    if (PyModule_AddObject(module, "array", (PyObject *)(void *)array_type) != 0 ||
        PyModule_AddFunctions(module, own_calls) != 0) {
        return -1;
    }
    return 0;
}
