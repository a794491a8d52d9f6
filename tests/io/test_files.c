// Files: what is read, what is refused, and which file a reference means.
#define _DEFAULT_SOURCE // mkdtemp, symlink, mkfifo
#include "support.h"

#include <stdio.h>

#include "io/path.h"
#include "io/resolve.h"

// ---- paths

static void check_canonical(const char *path, kk_status status, const char *expected) {
    char result[KKI_PATH_SIZE];
    KK_CHECK_EQ_INT(kki_path_canonical(path, NULL, NULL, result), status);
    if (status == KK_OK) {
        KK_CHECK_STR(result, expected);
    }
}

KK_TEST(paths_become_canonical) {
    check_canonical("", KK_OK, "");
    check_canonical(".", KK_OK, "");
    check_canonical("/", KK_OK, "/");
    check_canonical("/..", KK_OK, "/");
    check_canonical("/../..//a", KK_OK, "/a");
    check_canonical("a/./b//c/", KK_OK, "a/b/c");
    check_canonical("a/../b", KK_OK, "b");
    check_canonical("a/b/../../c", KK_OK, "c");
    check_canonical("/a/b/../../c", KK_OK, "/c");
    check_canonical("..", KK_INVALID_ARGUMENT, NULL);
    check_canonical("a/../../b", KK_INVALID_ARGUMENT, NULL);
    check_canonical("...", KK_OK, "...");
    char long_path[KKI_PATH_SIZE + 10];
    memset(long_path, 'a', sizeof long_path);
    long_path[KKI_PATH_SIZE - 1] = 0;
    check_canonical(long_path, KK_OK, long_path);
    long_path[KKI_PATH_SIZE - 1] = 'a';
    long_path[KKI_PATH_SIZE] = 0;
    check_canonical(long_path, KK_LIMIT_EXCEEDED, NULL);
}

/// /l -> /a/b, r -> x/y, up -> .., loop -> loop.
static int fake_link(void *user, const char *path, char target[KKI_PATH_SIZE]) {
    (void)user;
    const char *last = kki_path_last(path);
    const char *to = strcmp(last, "l") == 0      ? "/a/b"
                     : strcmp(last, "r") == 0    ? "x/y"
                     : strcmp(last, "up") == 0   ? ".."
                     : strcmp(last, "loop") == 0 ? "loop"
                                                 : "";
    memcpy(target, to, strlen(to) + 1);
    return (int)strlen(to);
}

KK_TEST(paths_follow_links) {
    char result[KKI_PATH_SIZE];
    KK_CHECK_EQ_INT(kki_path_canonical("/q/l/c", fake_link, NULL, result), KK_OK);
    KK_CHECK_STR(result, "/a/b/c");
    KK_CHECK_EQ_INT(kki_path_canonical("/q/r/../c", fake_link, NULL, result), KK_OK);
    KK_CHECK_STR(result, "/q/x/c");
    KK_CHECK_EQ_INT(kki_path_canonical("/q/w/up/c", fake_link, NULL, result), KK_OK);
    KK_CHECK_STR(result, "/q/c");
    KK_CHECK_EQ_INT(kki_path_canonical("q/up/up/c", fake_link, NULL, result), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kki_path_canonical("/q/loop/c", fake_link, NULL, result), KK_LIMIT_EXCEEDED);
}

KK_TEST(paths_join_and_split) {
    char result[KKI_PATH_SIZE];
    KK_CHECK(kki_path_join("a", "b", result));
    KK_CHECK_STR(result, "a/b");
    KK_CHECK(kki_path_join("a/", "b", result));
    KK_CHECK_STR(result, "a/b");
    KK_CHECK(kki_path_join("a", "/b", result));
    KK_CHECK_STR(result, "/b");
    KK_CHECK(kki_path_join("", "b", result));
    KK_CHECK_STR(result, "b");
    KK_CHECK(kki_path_join("a", "", result));
    KK_CHECK_STR(result, "a");
    KK_CHECK(kki_path_parent("a/b/c", result));
    KK_CHECK_STR(result, "a/b");
    KK_CHECK(kki_path_parent("/c", result));
    KK_CHECK_STR(result, "/");
    KK_CHECK(kki_path_parent("c", result));
    KK_CHECK_STR(result, "");
    KK_CHECK(!kki_path_parent("/", result));
    KK_CHECK(!kki_path_parent("", result));
    KK_CHECK(kki_path_is_below("/a/b", "/a") && kki_path_is_below("/a", "/a") && kki_path_is_below("/a", "/"));
    KK_CHECK(!kki_path_is_below("/ab", "/a") && !kki_path_is_below("/a", "/a/b"));
    KK_CHECK(kki_path_is_below("a/b", "") && !kki_path_is_below("/a", ""));
}

// ---- which file a reference means

static const kki_memory_file files[] = {
    {"/ws/robot/package.xml", "<package><name>real_name</name></package>", 41},
    {"/ws/robot/urdf/robot.urdf", "x", 1},
    {"/ws/robot/urdf/near.stl", "x", 1},
    {"/ws/robot/meshes/hand.stl", "x", 1},
    {"/ws/robot/meshes/deep/finger.stl", "x", 1},
    {"/ws/hands/package.xml", "<package/>", 10},
    {"/ws/hands/meshes/thumb.stl", "x", 1},
    {"/ws/private/secret.stl", "x", 1},
    {"/opt/ros/share/arm/meshes/arm.stl", "x", 1},
    {"/lib/tool/meshes/tool.stl", "x", 1},
    {"/lib/loose.stl", "x", 1},
    {"/etc/passwd", "x", 1},
    {"/models/table/model.config", "<model/>", 8},
    {"/models/table/table.dae", "x", 1},
};

static const char *const search[] = {"/lib", "/models", "/not/there"};

static kk_status resolve(const char *from, const char *reference, bool allow_absolute, char path[KKI_PATH_SIZE],
                         kk_error *error) {
    kki_memory_files memory = {files, sizeof files / sizeof *files};
    const kki_file_source source = kki_file_source_memory(&memory);
    const kki_resolve_options options = {search, 3, "/opt/ros::/nowhere", allow_absolute};
    kki_resolver resolver;
    KK_CHECK_EQ_INT(kki_resolver_create(&resolver, &source, "/ws/robot/urdf/robot.urdf", &options, NULL, error), KK_OK);
    path[0] = 0;
    const kk_status status = kki_resolve(&resolver, from, reference, path, error);
    kki_resolver_destroy(&resolver);
    return status;
}

KK_TEST(references_are_found) {
    static const char *const cases[][2] = {
        {"near.stl", "/ws/robot/urdf/near.stl"},
        {"./near.stl", "/ws/robot/urdf/near.stl"},
        {"../meshes/hand.stl", "/ws/robot/meshes/hand.stl"},
        {"..\\meshes\\hand.stl", "/ws/robot/meshes/hand.stl"},
        {"meshes/hand.stl", "/ws/robot/meshes/hand.stl"},
        {"hand.stl", NULL}, // meshes/ is nowhere in the path
        {"wrong/meshes/hand.stl", "/ws/robot/meshes/hand.stl"},
        {"../../../meshes/hand.stl", "/ws/robot/meshes/hand.stl"},
        {"package://robot/meshes/hand.stl", "/ws/robot/meshes/hand.stl"},
        {"package://real_name/meshes/hand.stl", "/ws/robot/meshes/hand.stl"},
        {"package://renamed/meshes/deep/finger.stl", "/ws/robot/meshes/deep/finger.stl"},
        {"package://renamed/old/place/meshes/hand.stl", "/ws/robot/meshes/hand.stl"},
        {"package://hands/meshes/thumb.stl", "/ws/hands/meshes/thumb.stl"},
        {"package://arm/meshes/arm.stl", "/opt/ros/share/arm/meshes/arm.stl"},
        {"package://tool/meshes/tool.stl", "/lib/tool/meshes/tool.stl"},
        {"package://tool//meshes/../meshes/tool.stl", "/lib/tool/meshes/tool.stl"},
        {"file://package://tool/meshes/tool.stl", "/lib/tool/meshes/tool.stl"},
        {"model://table/table.dae", "/models/table/table.dae"},
        {"loose.stl", "/lib/loose.stl"},
        {"file://near.stl", "/ws/robot/urdf/near.stl"},
        {"file:///ws/robot/meshes/hand.stl", "/ws/robot/meshes/hand.stl"},
        {"/ws/robot/meshes/hand.stl", "/ws/robot/meshes/hand.stl"},
        {"/ws/robot/../robot/meshes/hand.stl", "/ws/robot/meshes/hand.stl"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[KKI_PATH_SIZE];
        kk_error error = {0};
        const kk_status status = resolve("/ws/robot/urdf/robot.urdf", cases[i][0], false, path, &error);
        if (status != (cases[i][1] ? KK_OK : KK_NOT_FOUND) || (cases[i][1] && strcmp(path, cases[i][1]) != 0)) {
            KK_FAIL("%s: %s '%s'", cases[i][0], path, error.text);
        }
    }
}

KK_TEST(references_that_lead_out_are_refused) {
    static const struct {
        const char *reference;
        kk_status status;
        const char *says;
    } cases[] = {
        {"/etc/passwd", KK_INVALID_ARGUMENT, "leads out"},
        {"/etc/nothing", KK_INVALID_ARGUMENT, "leads out"},
        {"file:///etc/passwd", KK_INVALID_ARGUMENT, "leads out"},
        {"//etc/passwd", KK_INVALID_ARGUMENT, "leads out"},
        {"../../../etc/passwd", KK_INVALID_ARGUMENT, "leads out"},
        {"../../../../../../etc/passwd", KK_INVALID_ARGUMENT, "leads out"},
        {"..\\..\\..\\etc\\passwd", KK_INVALID_ARGUMENT, "leads out"},
        {"../../private/secret.stl", KK_INVALID_ARGUMENT, "leads out"},
        {"../../nothing/there.stl", KK_INVALID_ARGUMENT, "leads out"},
        {"./../urdf/../../../etc/passwd", KK_INVALID_ARGUMENT, "leads out"},
        {"/ws/robot/../private/secret.stl", KK_INVALID_ARGUMENT, "leads out"},
        {"/ws/robotx/secret.stl", KK_INVALID_ARGUMENT, "leads out"},
        {"package://robot/../private/secret.stl", KK_INVALID_ARGUMENT, "leads out"},
        {"package://robot/../../etc/passwd", KK_INVALID_ARGUMENT, "leads out"},
        {"package://arm/../../../../etc/passwd", KK_INVALID_ARGUMENT, "leads out"},
        {"package://private/secret.stl", KK_NOT_FOUND, "not found"}, // no package.xml: not taken for a package
        {"package://../ws/private/secret.stl", KK_INVALID_ARGUMENT, "names no package"},
        {"package://./secret.stl", KK_INVALID_ARGUMENT, "names no package"},
        {"package:///etc/passwd", KK_INVALID_ARGUMENT, "names no package"},
        {"package://robot", KK_INVALID_ARGUMENT, "names no package"},
        {"model://", KK_INVALID_ARGUMENT, "names no package"},
        {"C:\\meshes\\hand.stl", KK_OK, ""}, // by its end
        {"C:\\windows\\system.ini", KK_INVALID_ARGUMENT, "leads out"},
        {"http://example.org/hand.stl", KK_UNSUPPORTED, "download"},
        {"https://example.org/hand.stl", KK_UNSUPPORTED, "download"},
        {"ftp://x/y", KK_UNSUPPORTED, "download"},
        {"", KK_INVALID_ARGUMENT, "empty"},
        {"nothing.stl", KK_NOT_FOUND, "not found"},
        {"../meshes/nothing.stl", KK_NOT_FOUND, "not found"},
        {"package://robot/meshes/nothing.stl", KK_NOT_FOUND, "not found"},
        {"package://nowhere/nothing.stl", KK_NOT_FOUND, "not found"},
        {"../meshes", KK_INVALID_ARGUMENT, "directory"},
        {"package://robot/meshes", KK_INVALID_ARGUMENT, "directory"},
        {"package://robot/", KK_INVALID_ARGUMENT, "directory"},
        {".", KK_INVALID_ARGUMENT, "directory"},
        {"..", KK_INVALID_ARGUMENT, "directory"},
        {"../..", KK_INVALID_ARGUMENT, "leads out"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[KKI_PATH_SIZE];
        kk_error error = {0};
        const kk_status status = resolve("/ws/robot/urdf/robot.urdf", cases[i].reference, false, path, &error);
        if (status != cases[i].status || !strstr(error.text, cases[i].says) || (status && !strchr(error.text, ';'))) {
            KK_FAIL("%s: %s %s %s", cases[i].reference, kk_status_name(status), path, error.text);
        }
    }
}

KK_TEST(absolute_paths_need_a_flag) {
    char path[KKI_PATH_SIZE];
    kk_error error = {0};
    KK_CHECK_EQ_INT(resolve("/ws/robot/urdf/robot.urdf", "/etc/passwd", true, path, &error), KK_OK);
    KK_CHECK_STR(path, "/etc/passwd");
    KK_CHECK_EQ_INT(resolve("/ws/robot/urdf/robot.urdf", "/etc", true, path, &error), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(resolve("/ws/robot/urdf/robot.urdf", "../../../etc/passwd", true, path, &error),
                    KK_INVALID_ARGUMENT);
    char long_name[2000];
    memset(long_name, 'a', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    KK_CHECK_EQ_INT(resolve("/ws/robot/urdf/robot.urdf", long_name, true, path, &error), KK_LIMIT_EXCEEDED);
    long_name[1000] = 0;
    KK_CHECK(resolve("/ws/robot/urdf/robot.urdf", long_name, false, path, &error) != KK_OK);
}

KK_TEST(resolver_survives_failing_allocations) {
    kki_memory_files memory = {files, sizeof files / sizeof *files};
    const kki_file_source source = kki_file_source_memory(&memory);
    const kki_resolve_options options = {search, 3, "/opt/ros", false};
    int calls = 1;
    for (int k = -1; k < calls; k++) {
        counter c = {.fail_at = k};
        const kk_allocator allocator = counter_allocator(&c);
        kki_resolver resolver;
        kk_error error = {0};
        char path[KKI_PATH_SIZE];
        kk_status status =
            kki_resolver_create(&resolver, &source, "/ws/robot/urdf/robot.urdf", &options, &allocator, &error);
        if (status == KK_OK) {
            status =
                kki_resolve(&resolver, "/ws/robot/urdf/robot.urdf", "package://hands/meshes/thumb.stl", path, &error);
            kki_resolver_destroy(&resolver);
        }
        calls = k < 0 ? c.calls : calls;
        KK_CHECK_EQ_INT(status, k < 0 ? KK_OK : KK_OUT_OF_MEMORY);
        KK_CHECK_EQ_INT(c.blocks, 0);
        KK_CHECK_EQ_INT(c.bytes, 0);
    }
    KK_CHECK(calls > 8);
}

KK_TEST(memory_files_are_read) {
    kki_memory_files memory = {files, sizeof files / sizeof *files};
    const kki_file_source source = kki_file_source_memory(&memory);
    kki_file_data data;
    kk_error error = {0};
    KK_CHECK_EQ_INT(source.read(source.user, "/ws/../etc/passwd", 1, NULL, &data, &error), KK_OK);
    KK_CHECK(data.size == 1 && data.bytes[0] == 'x' && data.bytes[1] == 0);
    kki_file_release(&data, NULL);
    KK_CHECK_EQ_INT(source.read(source.user, "/etc/passwd", 0, NULL, &data, &error), KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(source.read(source.user, "/etc", 1, NULL, &data, &error), KK_NOT_FOUND);
    KK_CHECK_EQ_INT(source.kind(source.user, "/etc"), KKI_FILE_DIRECTORY);
    KK_CHECK_EQ_INT(source.kind(source.user, "/et"), KKI_FILE_MISSING);
}

// ---- the system's files

#if defined(__wasm__)
KK_TEST(system_files) {
    KK_SKIP("needs links and FIFOs");
}
#else
#include <sys/stat.h>
#include <unistd.h>

typedef struct folder {
    char path[64];
} folder;

static folder make_folder(void) {
    folder f = {"/tmp/karakuri_test_XXXXXX"};
    KK_CHECK(mkdtemp(f.path) != NULL);
    return f;
}

/// A path in the folder, in a buffer that the next call uses again.
static const char *in(const folder *f, const char *name) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    return path;
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    if (KK_CHECK(file != NULL)) {
        fputs(text, file);
        fclose(file);
    }
}

static void check_read(const char *path, size_t most, kk_status status, const char *says) {
    const kki_file_source source = kki_file_source_system();
    kki_file_data data;
    kk_error error = {0};
    const kk_status got = source.read(source.user, path, most, NULL, &data, &error);
    if (got != status || !strstr(error.text, says)) {
        KK_FAIL("%s: %s %s", path, kk_status_name(got), error.text);
    }
    KK_CHECK((got == KK_OK) == (data.bytes != NULL));
    kki_file_release(&data, NULL);
}

KK_TEST(system_files_are_read_or_refused) {
    const folder f = make_folder();
    write_file(in(&f, "good"), "hello");
    write_file(in(&f, "empty"), "");
    KK_CHECK_EQ_INT(mkfifo(in(&f, "fifo"), 0600), 0);
    KK_CHECK_EQ_INT(symlink("good", in(&f, "link")), 0);
    KK_CHECK_EQ_INT(symlink("fifo", in(&f, "fifo_link")), 0);
    KK_CHECK_EQ_INT(symlink("loop", in(&f, "loop")), 0);
    check_read(in(&f, "good"), 5, KK_OK, "");
    check_read(in(&f, "link"), 5, KK_OK, "");
    check_read(in(&f, "empty"), 0, KK_OK, "");
    check_read(in(&f, "good"), 4, KK_LIMIT_EXCEEDED, "limit");
    check_read(in(&f, "nothing"), 5, KK_NOT_FOUND, "no such file");
    check_read(in(&f, "good/x"), 5, KK_NOT_FOUND, "no such file");
    check_read(in(&f, "fifo"), 5, KK_IO, "a FIFO");
    check_read(in(&f, "fifo_link"), 5, KK_IO, "a FIFO");
    check_read(in(&f, "loop"), 5, KK_IO, "symbolic links");
    check_read(f.path, 5, KK_IO, "a directory");
    check_read("/dev/null", 5, KK_IO, "a device");
    check_read("/dev/zero", 5, KK_IO, "a device");
    check_read("/proc/self/status", 1 << 20, KK_IO, "changed");
    static const char *const names[] = {"good", "empty", "fifo", "link", "fifo_link", "loop"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unlink(in(&f, names[i]));
    }
    KK_CHECK_EQ_INT(rmdir(f.path), 0);
}

static void check_resolved(kki_resolver *r, const folder *f, const char *reference, kk_status status,
                           const char *says) {
    char path[KKI_PATH_SIZE] = "", from[200];
    kk_error error = {0};
    snprintf(from, sizeof from, "%s/pkg/urdf/robot.urdf", f->path);
    const kk_status got = kki_resolve(r, from, reference, path, &error);
    if (got != status || !strstr(got ? error.text : path, says)) {
        KK_FAIL("%s: %s %s %s", reference, kk_status_name(got), path, error.text);
    }
}

KK_TEST(links_of_the_system_do_not_lead_out) {
    const folder f = make_folder();
    static const char *const folders[] = {"pkg", "pkg/urdf", "pkg/meshes", "out"};
    for (size_t i = 0; i < 4; i++) {
        KK_CHECK_EQ_INT(mkdir(in(&f, folders[i]), 0700), 0);
    }
    write_file(in(&f, "pkg/package.xml"), "<package/>");
    write_file(in(&f, "pkg/urdf/robot.urdf"), "<robot/>");
    write_file(in(&f, "pkg/meshes/a.stl"), "x");
    write_file(in(&f, "out/b.stl"), "x");
    KK_CHECK_EQ_INT(symlink("../../out/b.stl", in(&f, "pkg/meshes/b.stl")), 0);
    KK_CHECK_EQ_INT(symlink("/etc/passwd", in(&f, "pkg/meshes/c.stl")), 0);
    KK_CHECK_EQ_INT(symlink("../../out", in(&f, "pkg/meshes/out")), 0);
    KK_CHECK_EQ_INT(symlink("a.stl", in(&f, "pkg/meshes/d.stl")), 0);
    KK_CHECK_EQ_INT(symlink("loop", in(&f, "pkg/meshes/loop")), 0);
    KK_CHECK_EQ_INT(mkfifo(in(&f, "pkg/meshes/fifo"), 0600), 0);
    kki_resolver r;
    KK_CHECK_EQ_INT(kki_resolver_create(&r, NULL, in(&f, "pkg/urdf/robot.urdf"), NULL, NULL, NULL), KK_OK);
    check_resolved(&r, &f, "../meshes/a.stl", KK_OK, "/pkg/meshes/a.stl");
    check_resolved(&r, &f, "package://pkg/meshes/d.stl", KK_OK, "/pkg/meshes/a.stl");
    check_resolved(&r, &f, "../meshes/b.stl", KK_INVALID_ARGUMENT, "leads out");
    check_resolved(&r, &f, "../meshes/c.stl", KK_INVALID_ARGUMENT, "leads out");
    check_resolved(&r, &f, "package://pkg/meshes/c.stl", KK_INVALID_ARGUMENT, "leads out");
    check_resolved(&r, &f, "../meshes/out/b.stl", KK_INVALID_ARGUMENT, "leads out");
    check_resolved(&r, &f, "package://pkg/meshes/out/b.stl", KK_INVALID_ARGUMENT, "leads out");
    check_resolved(&r, &f, "../meshes/out/../b.stl", KK_INVALID_ARGUMENT, "leads out");
    check_resolved(&r, &f, "../../out/b.stl", KK_INVALID_ARGUMENT, "leads out");
    check_resolved(&r, &f, in(&f, "out/b.stl"), KK_INVALID_ARGUMENT, "leads out");
    check_resolved(&r, &f, in(&f, "pkg/meshes/a.stl"), KK_OK, "/pkg/meshes/a.stl");
    check_resolved(&r, &f, "/dev/zero", KK_INVALID_ARGUMENT, "leads out");
    check_resolved(&r, &f, "/proc/self/environ", KK_INVALID_ARGUMENT, "leads out");
    check_resolved(&r, &f, "../meshes/fifo", KK_INVALID_ARGUMENT, "FIFO");
    check_resolved(&r, &f, "../meshes/loop", KK_INVALID_ARGUMENT, "in a circle");
    check_resolved(&r, &f, "../meshes/nothing", KK_NOT_FOUND, "not found");
    kki_resolver_destroy(&r);
    kk_error error = {0};
    KK_CHECK_EQ_INT(kki_resolver_create(&r, NULL, in(&f, "pkg/meshes/loop"), NULL, NULL, &error), KK_LIMIT_EXCEEDED);
    KK_CHECK(strstr(error.text, "in a circle; name the file itself") != NULL);
    static const char *const names[] = {
        "pkg/package.xml",  "pkg/urdf/robot.urdf", "pkg/meshes/a.stl", "out/b.stl",       "pkg/meshes/b.stl",
        "pkg/meshes/c.stl", "pkg/meshes/out",      "pkg/meshes/d.stl", "pkg/meshes/loop", "pkg/meshes/fifo"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        KK_CHECK_EQ_INT(unlink(in(&f, names[i])), 0);
    }
    for (int i = 3; i >= 0; i--) {
        KK_CHECK_EQ_INT(rmdir(in(&f, folders[i])), 0);
    }
    KK_CHECK_EQ_INT(rmdir(f.path), 0);
}
#endif
