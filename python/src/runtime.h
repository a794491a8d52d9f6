/// What generated bindings stand on: objects of the library as Python objects, arguments checked and named, arrays as
/// views.
///
/// Rules that keep a program from crashing whatever it does:
/// - an object keeps alive what it was made from (model, walk, options with their arrays), and a view keeps alive
/// what it looks into;
/// - kk_…_free refuses an object that others still need, and everything refuses an object that was freed;
/// - what a call may move in memory (definitions of a spec, what a session stands on) is looked into with a count of
/// such calls;
/// - an object that a call changes is taken by one thread at a time;
/// - an array has the type and the length that the header says.
#ifndef KARAKURI_PYTHON_RUNTIME_H
#define KARAKURI_PYTHON_RUNTIME_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <karakuri/karakuri.h>

typedef enum kkp_kind {
    KKP_DOUBLE,
    KKP_FLOAT,
    KKP_CHAR,
    KKP_UCHAR,
    KKP_INT,
    KKP_UINT32,
    KKP_INT64,
    KKP_UINT64,
    KKP_SIZE,
    KKP_TEXT,    ///< const char *
    KKP_CHARS,   ///< char [count]
    KKP_STRUCT,  ///< inside; an array of them where count > 1
    KKP_OBJECT,  ///< pointer to an object of the library
    KKP_DOUBLES, ///< pointer to doubles
    KKP_BYTES,   ///< pointer to unsigned char
    KKP_FACES,   ///< pointer to int32_t [3]
    KKP_STRUCTS, ///< pointer to structures
    KKP_TEXTS,   ///< pointer to texts
    KKP_HIDDEN,
} kkp_kind;

/// How long what a pointer leads to is.
typedef enum kkp_length {
    KKP_ONE,
    KKP_BY_FIELD,  ///< another field of the structure, at length_offset, says
    KKP_BY_FIELDS, ///< two fields, at length_offset and length_is_size, whose product it is
    KKP_NQ,
    KKP_NV,
    KKP_NBODY,
    KKP_NACTUATOR,
    KKP_NSENSORDATA,
    KKP_NACTIVATION,
    KKP_UNKNOWN, ///< cannot be read
} kkp_length;

struct kkp_type;

typedef struct kkp_field {
    const char *name;
    kkp_kind kind;
    size_t offset;
    int count; ///< of an array inside; 1
    struct kkp_type *type;
    kkp_length length;
    size_t length_offset;
    size_t length_is_size; ///< the field is a size_t, not an int
    int width;             ///< doubles an item: 6 of wrenches
    int is_count;          ///< 1: says how long another field is, which sets it; 2: how long several are
    int is_needed;         ///< a call follows the pointer without asking
    int choices;           ///< of an enum: how many, from 0; 0: a number
    const char *doc;
} kkp_field;

typedef struct kkp_type {
    const char *name;
    const char *doc;
    int is_struct;
    size_t size;
    int flat; ///< so many doubles and nothing else
    const kkp_field *fields;
    int field_count;
    void (*destroy)(void *);
    void (*start)(void *); ///< default values; NULL: zeros
    PyTypeObject *python;
} kkp_type;

/// An object of the library, or a structure: in itself, or inside another.
typedef struct kkp_object {
    PyObject_HEAD void *data; ///< NULL: freed
    kkp_type *type;
    struct kkp_object *owner;  ///< whose memory this is in; NULL: its own
    struct kkp_object *model;  ///< that says how long arrays are
    PyObject *keep;            ///< dict of what must live as long
    uint64_t generation, seen; ///< of itself; of the owner, when this was made
    unsigned long thread;      ///< that holds it
    int holds;                 ///< −1: a call changes it; > 0: so many read it
    int users;                 ///< objects that need it
    int owns, is_fixed;
    int is_checked; ///< a structure whose arrays fit its model, and that was not written since
    long extra;
} kkp_object;

/// Numbers somewhere: in the library's memory, in somebody's buffer, or its own.
typedef struct kkp_array {
    PyObject_HEAD void *data;
    PyObject *owner;
    kkp_object *used;
    Py_buffer buffer;
    int has_buffer, owns, is_fixed, dimensions;
    char format[2];
    Py_ssize_t item, shape[3], strides[3];
} kkp_array;

enum { KKP_MOST_ARGUMENTS = 20 };

/// A call under way.
typedef struct kkp_call {
    const char *function;
    const char *const *names;
    PyObject *const *args;
    int count, failed;
    kkp_object *model; ///< that arrays are measured by
    const char *model_name;
    int has_variations; ///< objects of several variations of one model may meet
    int is_long;
    PyThreadState *thread;
    int nheld, nbuffer, nblock;
    struct {
        kkp_object *object;
        int changes;
    } held[KKP_MOST_ARGUMENTS];
    Py_buffer buffer[KKP_MOST_ARGUMENTS];
    void *block[KKP_MOST_ARGUMENTS];
    kk_error error;
} kkp_call;

// ---- a call

int kkp_begin(kkp_call *c, const char *function, const char *const *names, PyObject *const *args, Py_ssize_t count,
              int least, int most, int is_long);
/// Takes the objects, and lets other threads run where it is long; 0 where an argument was refused.
int kkp_go(kkp_call *c);
/// The call has returned.
void kkp_back(kkp_call *c);
PyObject *kkp_end(kkp_call *c, PyObject *result);
/// 1 where the status is good; sets the exception otherwise.
int kkp_good(kkp_call *c, kk_status status);
void kkp_fail(kkp_call *c, int argument, PyObject *kind, const char *format, ...);

// ---- arguments

enum { KKP_READ, KKP_CHANGE, KKP_OPTIONAL = 4, KKP_ANY_MODEL = 8 };

kkp_object *kkp_object_of(kkp_call *c, int i, kkp_type *type, int how);
void *kkp_pointer(kkp_object *o);
/// A structure by value, or numbers in their order where it consists of doubles.
void kkp_value(kkp_call *c, int i, kkp_type *type, void *out);
double kkp_double(kkp_call *c, int i);
long long kkp_integer(kkp_call *c, int i, long long least, long long most);
uint64_t kkp_unsigned(kkp_call *c, int i);
int kkp_character(kkp_call *c, int i);
const char *kkp_text(kkp_call *c, int i, int optional, Py_ssize_t *length);
const void *kkp_bytes(kkp_call *c, int i, int optional, size_t *size);
void *kkp_room(kkp_call *c, int i, size_t *size);
/// `code` is the buffer's format: 'd', 'i', 'B'. @param length  expected; (size_t)−1: any, told by *found
void *kkp_numbers(kkp_call *c, int i, char code, size_t length, size_t *found, int writes, int optional);
/// A sequence of structures as one block.
void *kkp_structs(kkp_call *c, int i, kkp_type *type, size_t length, size_t *found, int optional);
void kkp_structs_back(kkp_call *c, int i, kkp_type *type, const void *block, size_t count);
const char *const *kkp_texts(kkp_call *c, int i, size_t *found, int optional);
PyObject *kkp_callable(kkp_call *c, int i, int optional);
void *kkp_take(kkp_call *c, size_t size); ///< zeroed memory until the end of the call
size_t kkp_size(kkp_call *c, kkp_length what);
void kkp_same_length(kkp_call *c, int i, size_t found, size_t expected);

/// Refuses a spec that does not compile.
void kkp_check_spec(kkp_call *c, kkp_object *spec);

// ---- results

PyObject *kkp_none(void);
PyObject *kkp_text_of(const char *text);
/// A new object of the library that keeps its arguments.
PyObject *kkp_made(kkp_call *c, kkp_type *type, void *data);
/// An object that another one owns.
PyObject *kkp_borrowed(kkp_type *type, void *data, kkp_object *owner, int is_fixed);
/// A copy of a structure; `owner` is whose memory its pointers lead into.
PyObject *kkp_copied(kkp_call *c, kkp_type *type, const void *data, kkp_object *owner);
PyObject *kkp_copies(kkp_call *c, kkp_type *type, const void *data, size_t count, kkp_object *owner);
/// A structure in the owner's memory.
PyObject *kkp_inside(kkp_call *c, kkp_type *type, void *data, kkp_object *owner, int is_fixed);
PyObject *kkp_view(const void *data, kkp_object *owner, char code, int dimensions, size_t n0, size_t n1, int is_fixed);
PyObject *kkp_pair(PyObject *a, PyObject *b);
PyObject *kkp_list_of_ints(const int *numbers, size_t count);
PyObject *kkp_allocated_text(char *text, size_t size);

// ---- life

void kkp_keep(kkp_object *o, PyObject *key, PyObject *value);
void kkp_freed(kkp_object *o);
void kkp_moved_into(kkp_object *o, PyObject *made);

// ---- callbacks

typedef struct kkp_calls {
    PyObject *callable;
    kkp_call *call;
    kkp_object *model, *state, *command;
    long n;
} kkp_calls;

kk_status kkp_controller(void *user, const kk_model *model, const kk_state *state, double dt, kk_command *command,
                         kk_error *error);
kk_status kkp_cost(void *user, const double *x, double *cost, kk_error *error);
int kkp_sink(void *user, const void *bytes, size_t size);
int kkp_text_sink(void *user, const char *bytes, size_t size);

// ---- pictures

PyObject *kkp_draw(PyObject *module, PyObject *const *args, Py_ssize_t count);

// ---- the module

int kkp_add_type(PyObject *module, kkp_type *type);
int kkp_start(PyObject *module);
extern kkp_type *const kkp_types[];
extern kkp_type kkp_type_kk_model, kkp_type_kk_spec, kkp_type_kk_state, kkp_type_kk_command, kkp_type_kk_session,
    kkp_type_kk_simulations;

/// Threads: kk_workers with a pool behind it.
typedef struct kkp_pool kkp_pool;
kkp_pool *kkp_pool_create(int workers);
void kkp_pool_free(kkp_pool *pool);
void kkp_pool_run(void *pool, kk_task *task, void *context, int count);

#endif
