// A plugin of QEMU's user emulation (7.2, version 1 of its interface) that counts instructions from one call to the next: of every step, not of a run. What
// a machine does meanwhile does not show, and every processor that QEMU knows is counted alike.
//
//   qemu-x86_64 -plugin count.so,from=kk_step@ADDRESS,to=spread_add@ADDRESS PROGRAM …
//
// The addresses are those of `nm`; where a program is loaded only their last twelve bits stay, which tells the call from what is inside of it. At the end
// one line: how many calls, in all, half of them, 99 % and 99.9999 % within, the most.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what the plugin has of QEMU's interface: no package of Debian carries the header

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*on_translation)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*on_execution)(unsigned vcpu, void *user);
typedef void (*on_exit)(qemu_plugin_id_t id, void *user);
enum { NO_REGISTERS = 0, ADD_U64 = 0 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, on_translation call);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, on_execution call, int flags, void *user);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op, void *pointer, uint64_t value);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, on_exit call, void *user);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *insn);

#define EXPORTED __attribute__((visibility("default")))
EXPORTED int qemu_plugin_version = 1;

// ---- counting

/// So fine that a quantile is right to 1 %.
enum { OCTAVES = 64, BINS_AN_OCTAVE = 64, BINS = OCTAVES * BINS_AN_OCTAVE, PAGE = 4096 };

typedef struct place {
    char name[256];
    uint64_t offset;
} place;

static place from, to;
static uint64_t executed, started, is_inside;
static uint64_t calls, total, most, bin[BINS];

static int bin_of(uint64_t count) {
    const int octave = count ? 63 - __builtin_clzll(count) : 0;
    const uint64_t rest = octave > 6 ? (count >> (octave - 6)) & 63 : (count << (6 - octave)) & 63;
    return octave * BINS_AN_OCTAVE + (int)rest;
}

/// The least count beyond a bin.
static uint64_t end_of(int index) {
    const int octave = index / BINS_AN_OCTAVE, rest = index % BINS_AN_OCTAVE;
    const double scale = octave > 0 ? (double)(1ULL << octave) : 1;
    return (uint64_t)(scale * (1 + (rest + 1) / 64.0));
}

static void begin(unsigned vcpu, void *user) {
    (void)vcpu;
    (void)user;
    started = executed;
    is_inside = 1;
}

static void end(unsigned vcpu, void *user) {
    (void)vcpu;
    (void)user;
    if (!is_inside) {
        return;
    }
    const uint64_t count = executed - started;
    is_inside = 0;
    calls++;
    total += count;
    most = count > most ? count : most;
    bin[bin_of(count)]++;
}

static int is_at(const struct qemu_plugin_insn *insn, const place *p) {
    const char *symbol = qemu_plugin_insn_symbol(insn);
    return symbol && qemu_plugin_insn_vaddr(insn) % PAGE == p->offset && strcmp(symbol, p->name) == 0;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    const size_t n = qemu_plugin_tb_n_insns(block);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
        // one by one: a block may be left in its middle
        qemu_plugin_register_vcpu_insn_exec_inline(insn, ADD_U64, &executed, 1);
        if (is_at(insn, &from)) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, begin, NO_REGISTERS, NULL);
        } else if (is_at(insn, &to)) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, end, NO_REGISTERS, NULL);
        }
    }
}

static uint64_t quantile(double share) {
    const uint64_t wanted = (uint64_t)(share * (double)calls + 0.5);
    uint64_t below = 0;
    for (int i = 0; i < BINS; i++) {
        below += bin[i];
        if (below >= wanted && below > 0) {
            return end_of(i) < most ? end_of(i) : most;
        }
    }
    return most;
}

static void tell(qemu_plugin_id_t id, void *user) {
    (void)id;
    (void)user;
    fprintf(stderr,
            "calls %" PRIu64 " instructions %" PRIu64 " median %" PRIu64 " p99 %" PRIu64 " p999999 %" PRIu64
            " most %" PRIu64 "\n",
            calls, total, quantile(0.5), quantile(0.99), quantile(0.999999), most);
}

/// name=SYMBOL@ADDRESS
static int read_place(const char *argument, const char *name, place *p) {
    const size_t length = strlen(name);
    const char *at = strchr(argument, '@');
    if (strncmp(argument, name, length) != 0 || argument[length] != '=' || !at) {
        return 0;
    }
    const size_t size = (size_t)(at - argument) - length - 1;
    if (size >= sizeof p->name) {
        return 0;
    }
    memcpy(p->name, argument + length + 1, size);
    p->name[size] = 0;
    p->offset = strtoull(at + 1, NULL, 16) % PAGE;
    return 1;
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (!read_place(argv[i], "from", &from) && !read_place(argv[i], "to", &to)) {
            fprintf(stderr, "count: %s is neither from=SYMBOL@ADDRESS nor to=SYMBOL@ADDRESS\n", argv[i]);
            return 1;
        }
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, tell, NULL);
    return 0;
}
