/// Candidates in a fixed order; the first that exists and lies in reach is taken.
#include "resolve.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "path.h"
#include "text.h"
#include "xml.h"

enum { MOST_LEVELS = 32 };

// ---- roots

static kk_status copy_string(const kk_allocator *allocator, const char *text, char **copy) {
    const size_t size = strlen(text) + 1;
    *copy = kki_allocate(allocator, size);
    if (!*copy) {
        return KK_OUT_OF_MEMORY;
    }
    memcpy(*copy, text, size);
    return KK_OK;
}

static void release_string(const kk_allocator *allocator, char *text) {
    if (text) {
        kki_release(allocator, text, strlen(text) + 1);
    }
}

static kk_status add_root(kki_resolver *r, const char *directory) {
    char canonical[KKI_PATH_SIZE];
    if (r->source.canonical(r->source.user, directory, canonical) != KK_OK) {
        return KK_OK; // a search path that does not exist reaches nothing
    }
    for (int i = 0; i < r->root_count; i++) {
        if (strcmp(r->root[i], canonical) == 0) {
            return KK_OK;
        }
    }
    if (r->root_count == KKI_MOST_ROOTS) {
        return KK_LIMIT_EXCEEDED;
    }
    const kk_status status = copy_string(&r->allocator, canonical, &r->root[r->root_count]);
    r->root_count += status == KK_OK;
    return status;
}

static bool is_in_reach(const kki_resolver *r, const char *canonical) {
    for (int i = 0; i < r->root_count; i++) {
        if (kki_path_is_below(canonical, r->root[i])) {
            return true;
        }
    }
    return false;
}

static bool holds_file(const kki_resolver *r, const char *directory, const char *name) {
    char path[KKI_PATH_SIZE];
    return kki_path_join(directory, name, path) && r->source.kind(r->source.user, path) == KKI_FILE_REGULAR;
}

static bool is_package(const kki_resolver *r, const char *directory) {
    return holds_file(r, directory, "package.xml") || holds_file(r, directory, "manifest.xml") ||
           holds_file(r, directory, "model.config");
}

static bool is_file_folder(const char *name) {
    static const char *const names[] = {"urdf", "xacro", "robots", "robot", "sdf", "mjcf", "xml", "model", "models"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/// The nearest directory above that is a package, else the file's own or the one above it.
static void find_package_root(const kki_resolver *r, const char *file_directory, char root[KKI_PATH_SIZE]) {
    char parent[KKI_PATH_SIZE];
    memcpy(root, file_directory, strlen(file_directory) + 1);
    for (int level = 0; level < MOST_LEVELS; level++) {
        if (is_package(r, root)) {
            return;
        }
        if (!kki_path_parent(root, root)) {
            break;
        }
    }
    memcpy(root, file_directory, strlen(file_directory) + 1);
    if (is_file_folder(kki_path_last(root)) && kki_path_parent(root, parent) && strcmp(parent, "/") != 0) {
        memcpy(root, parent, strlen(parent) + 1);
    }
}

static kk_status add_path_list(kki_resolver *r, const char *list) {
    kk_status status = KK_OK;
    while (list && *list && status == KK_OK) {
        const size_t length = strcspn(list, ":");
        char directory[KKI_PATH_SIZE];
        if (length > 0 && length < KKI_PATH_SIZE) {
            memcpy(directory, list, length);
            directory[length] = 0;
            status = add_root(r, directory);
        }
        list += length + (list[length] == ':');
    }
    return status;
}

// ---- the name of the package

static kk_status copy_package_name(kki_resolver *r, const kki_xml *xml) {
    const int32_t name = kki_xml_first(xml, KKI_XML_ROOT, "name");
    return copy_string(&r->allocator, name == KKI_XML_NONE ? "" : kki_xml_text(xml, name), &r->package_name);
}

/// What package.xml calls the package; its directory may be called otherwise.
static kk_status read_package_name(kki_resolver *r) {
    enum { MOST_BYTES = 1 << 20 };
    char path[KKI_PATH_SIZE];
    kki_file_data data = {NULL, 0};
    kki_xml *xml = NULL;
    kk_status status = KK_NOT_FOUND;
    if (r->root_count > 0 && kki_path_join(r->root[0], "package.xml", path) &&
        r->source.kind(r->source.user, path) == KKI_FILE_REGULAR) {
        status = r->source.read(r->source.user, path, MOST_BYTES, &r->allocator, &data, NULL);
    }
    status = status ? status : kki_xml_parse(path, data.bytes, data.size, NULL, &r->allocator, &xml, NULL);
    kki_file_release(&data, &r->allocator);
    if (status == KK_OUT_OF_MEMORY) {
        return status;
    }
    status = xml ? copy_package_name(r, xml) : copy_string(&r->allocator, "", &r->package_name);
    kki_xml_free(xml);
    return status;
}

static kk_status add_roots(kki_resolver *r, const char *main_file, const kki_resolve_options *o) {
    char directory[KKI_PATH_SIZE], root[KKI_PATH_SIZE];
    kk_status status = r->source.canonical(r->source.user, main_file ? main_file : "x", directory);
    if (status == KK_OK && kki_path_parent(directory, directory)) {
        find_package_root(r, directory, root);
        status = add_root(r, root);
    }
    for (int i = 0; o && i < o->search_count && status == KK_OK; i++) {
        status = add_root(r, o->search[i]);
    }
    status = status || !o ? status : add_path_list(r, o->package_path);
    return status ? status : read_package_name(r);
}

kk_status kki_resolver_create(kki_resolver *resolver, const kki_file_source *source, const char *main_file,
                              const kki_resolve_options *options, const kk_allocator *allocator, kk_error *error) {
    memset(resolver, 0, sizeof *resolver);
    resolver->allocator = kki_allocator_or_default(allocator);
    resolver->source = source ? *source : kki_file_source_system();
    resolver->allow_absolute = options && options->allow_absolute;
    const kk_status status = add_roots(resolver, main_file, options);
    if (status != KK_OK) {
        kki_resolver_destroy(resolver);
        return kki_error_at(error, status, main_file, 0, 0, "cannot set up the search for files: %s",
                            status == KK_LIMIT_EXCEEDED
                                ? "a path is too long, or its symbolic links lead in a circle; name the file itself"
                                : kk_status_text(status));
    }
    return KK_OK;
}

void kki_resolver_destroy(kki_resolver *resolver) {
    for (int i = 0; i < resolver->root_count; i++) {
        release_string(&resolver->allocator, resolver->root[i]);
    }
    release_string(&resolver->allocator, resolver->package_name);
    memset(resolver, 0, sizeof *resolver);
}

// ---- candidates

/// What is looked for, and what was found on the way.
typedef struct quest {
    kki_resolver *r;
    char directory[KKI_PATH_SIZE]; ///< of the file that asks; canonical
    char package[KKI_PATH_SIZE];   ///< "" for a plain path
    char path[KKI_PATH_SIZE];      ///< in the package, or from the directory
    char result[KKI_PATH_SIZE];
    bool leads_out;     ///< a candidate exists, or would, outside the reach
    bool leads_nowhere; ///< a candidate's links lead in a circle, or it is too long
    bool is_no_file;    ///< a candidate is a directory, a device ...
    bool out_of_memory; ///< a root could not be added
} quest;

/// Takes a candidate if it is a file in reach.
static bool try_path(quest *q, const char *directory, const char *rest) {
    const kki_file_source *s = &q->r->source;
    char path[KKI_PATH_SIZE], canonical[KKI_PATH_SIZE];
    if (!kki_path_join(directory, rest, path)) {
        return false;
    }
    const kk_status status = s->canonical(s->user, path, canonical);
    if (status != KK_OK) {
        q->leads_nowhere = q->leads_nowhere || status == KK_LIMIT_EXCEEDED;
        return false;
    }
    const kki_file_kind kind = s->kind(s->user, canonical);
    if (!is_in_reach(q->r, canonical)) {
        q->leads_out = q->leads_out || kind != KKI_FILE_MISSING;
        return false;
    }
    q->is_no_file = q->is_no_file || kind == KKI_FILE_DIRECTORY || kind == KKI_FILE_OTHER;
    if (kind != KKI_FILE_REGULAR) {
        return false;
    }
    memcpy(q->result, canonical, strlen(canonical) + 1);
    return true;
}

/// directory/package/path, and the same below one of the usual folders of a prefix.
static bool try_package_in(quest *q, const char *directory) {
    static const char *const folders[] = {"", "share", "models", "src"};
    char package[KKI_PATH_SIZE];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (kki_path_join(directory, folders[i], package) && kki_path_join(package, q->package, package) &&
            q->r->source.kind(q->r->source.user, package) == KKI_FILE_DIRECTORY && try_path(q, package, q->path)) {
            return true;
        }
    }
    return strcmp(kki_path_last(directory), q->package) == 0 && try_path(q, directory, q->path);
}

/// A directory above may be the package or hold it; beyond the reach only where it shows that it is a package.
static bool try_package_above(quest *q, const char *directory) {
    char package[KKI_PATH_SIZE];
    if (is_in_reach(q->r, directory)) {
        return try_package_in(q, directory);
    }
    const bool is_it = strcmp(kki_path_last(directory), q->package) == 0;
    if (!kki_path_join(directory, is_it ? "" : q->package, package) || !is_package(q->r, package)) {
        return false;
    }
    q->out_of_memory = add_root(q->r, package) == KK_OUT_OF_MEMORY;
    return try_path(q, package, q->path);
}

static bool try_packages(quest *q) {
    if (q->r->root_count > 0 && strcmp(q->r->package_name, q->package) == 0 && try_path(q, q->r->root[0], q->path)) {
        return true;
    }
    const int roots = q->r->root_count;
    for (int i = 0; i < roots; i++) {
        if (try_package_in(q, q->r->root[i])) {
            return true;
        }
    }
    char directory[KKI_PATH_SIZE];
    memcpy(directory, q->directory, sizeof directory);
    for (int level = 0; level < MOST_LEVELS; level++) {
        if (try_package_above(q, directory)) {
            return true;
        }
        if (!kki_path_parent(directory, directory)) {
            break;
        }
    }
    return false;
}

static bool try_plain(quest *q) {
    if (try_path(q, q->directory, q->path)) {
        return true;
    }
    for (int i = 0; i < q->r->root_count; i++) {
        if (try_path(q, q->r->root[i], q->path)) {
            return true;
        }
    }
    return false;
}

/// One end of the path in the directories from the file's up to the last in reach, and in the roots.
static bool try_suffix(quest *q, const char *suffix) {
    char directory[KKI_PATH_SIZE];
    memcpy(directory, q->directory, sizeof directory);
    for (int level = 0; level < MOST_LEVELS && is_in_reach(q->r, directory); level++) {
        if (try_path(q, directory, suffix)) {
            return true;
        }
        if (!kki_path_parent(directory, directory)) {
            break;
        }
    }
    for (int i = 0; i < q->r->root_count; i++) {
        if (try_path(q, q->r->root[i], suffix)) {
            return true;
        }
    }
    return false;
}

/// Ever shorter ends of the path, without those that start with "..".
static bool try_suffixes(quest *q) {
    const char *suffix = q->path;
    while (*suffix) {
        const size_t part = strcspn(suffix, "/");
        const bool goes_up = part == 2 && memcmp(suffix, "..", 2) == 0;
        if (part > 0 && !goes_up && try_suffix(q, suffix)) {
            return true;
        }
        suffix += part + strspn(suffix + part, "/");
    }
    return false;
}

/// An absolute path is taken as it is: where it may lead anywhere, or where it leads into the reach.
static bool try_absolute(quest *q) {
    const kki_file_source *s = &q->r->source;
    if (!q->r->allow_absolute) {
        return try_path(q, "", q->path);
    }
    const kki_file_kind kind = s->kind(s->user, q->path);
    q->is_no_file = kind == KKI_FILE_DIRECTORY || kind == KKI_FILE_OTHER;
    return kind == KKI_FILE_REGULAR && s->canonical(s->user, q->path, q->result) == KK_OK;
}

// ---- references

/// Some robot files are written on Windows.
static bool is_drive(const char *path) {
    return ((path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z')) && path[1] == ':';
}

static const char *skip_prefix(const char *text, const char *prefix) {
    const size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/// Splits package://name/path; false where the name is none.
static bool split_package(quest *q, const char *name) {
    const size_t length = strcspn(name, "/");
    if (length == 0 || name[length] == 0 || (name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.')))) {
        return false;
    }
    memcpy(q->package, name, length);
    q->package[length] = 0;
    const char *rest = name + length + strspn(name + length, "/");
    memcpy(q->path, rest, strlen(rest) + 1);
    return true;
}

static kk_status fail_scheme(const char *reference, kk_error *error) {
    return kki_error_set(
        error, KK_UNSUPPORTED,
        "'%s': only package://, model://, file:// and paths are read; download the file and name it by "
        "a path",
        kki_shorten_string(reference).text);
}

/// Takes the reference apart into package and path.
static kk_status read_reference(quest *q, const char *reference, kk_error *error) {
    char text[KKI_PATH_SIZE];
    const size_t length = strlen(reference);
    if (length >= sizeof text || length == 0) {
        return kki_error_set(error, reference[0] ? KK_LIMIT_EXCEEDED : KK_INVALID_ARGUMENT, "%s",
                             reference[0] ? "a path of more than 1023 bytes; shorten it"
                                          : "an empty path; name the file");
    }
    memcpy(text, reference, length + 1);
    for (char *slash = strchr(text, '\\'); slash; slash = strchr(slash, '\\')) {
        *slash = '/';
    }
    const char *path = skip_prefix(text, "file://");
    path = path ? path : text;
    const char *package = skip_prefix(path, "package://");
    package = package ? package : skip_prefix(path, "model://");
    if (package) {
        return split_package(q, package) ? KK_OK
                                         : kki_error_set(error, KK_INVALID_ARGUMENT,
                                                         "'%s' names no package and file; write package://name/path",
                                                         kki_shorten_string(reference).text);
    }
    if (strstr(path, "://")) {
        return fail_scheme(reference, error);
    }
    memcpy(q->path, path, strlen(path) + 1);
    return KK_OK;
}

/// True where the path, taken by its words, leads out of the package or of the reach, whatever exists there.
static bool leads_out(const quest *q) {
    const kki_file_source *s = &q->r->source;
    char path[KKI_PATH_SIZE], canonical[KKI_PATH_SIZE];
    if (q->package[0]) {
        return kki_path_canonical(q->path, NULL, NULL, canonical) == KK_INVALID_ARGUMENT;
    }
    return is_drive(q->path) || !kki_path_join(q->directory, q->path, path) ||
           s->canonical(s->user, path, canonical) != KK_OK || !is_in_reach(q->r, canonical);
}

static kk_status fail_quest(const quest *q, const char *reference, kk_error *error) {
    const kki_short_text shown = kki_shorten_string(reference);
    const char *root = q->r->root_count > 0 ? q->r->root[0] : "";
    if (q->out_of_memory) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "out of memory while looking for '%s'", shown.text);
    }
    if (q->is_no_file) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "'%s' is a directory, a device or a FIFO; only regular files are read, name one",
                             shown.text);
    }
    if (q->leads_nowhere) {
        return kki_error_set(
            error, KK_INVALID_ARGUMENT,
            "the symbolic links of '%s' lead in a circle, or its path is too long; name the file itself", shown.text);
    }
    if (q->leads_out) {
        const bool is_absolute = kki_path_is_absolute(q->path) || is_drive(q->path);
        return kki_error_set(
            error, KK_INVALID_ARGUMENT,
            "'%s' leads out of the package root %s and the search paths, which is refused; move the file "
            "there, %s",
            shown.text, root, is_absolute ? "or allow absolute paths" : "or give its directory as a search path");
    }
    return kki_error_set(error, KK_NOT_FOUND,
                         "'%s' is not found below %s or in %d search paths; add the file, or give its directory as a "
                         "search path or in ROS_PACKAGE_PATH",
                         shown.text, root, q->r->root_count - 1);
}

kk_status kki_resolve(kki_resolver *resolver, const char *from, const char *reference, char path[KKI_PATH_SIZE],
                      kk_error *error) {
    quest q = {.r = resolver};
    kk_status status = read_reference(&q, reference, error);
    if (status != KK_OK) {
        return status;
    }
    const kki_file_source *s = &resolver->source;
    if (s->canonical(s->user, from && from[0] ? from : "x", q.directory) != KK_OK ||
        !kki_path_parent(q.directory, q.directory)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "the path of the file itself is not valid; give another");
    }
    q.leads_out = leads_out(&q);
    bool found;
    if (q.package[0]) {
        found = try_packages(&q) || try_suffixes(&q);
    } else if (kki_path_is_absolute(q.path)) {
        found = try_absolute(&q);
    } else {
        found = try_plain(&q) || try_suffixes(&q);
    }
    if (!found || q.out_of_memory) {
        return fail_quest(&q, reference, error);
    }
    memcpy(path, q.result, sizeof q.result);
    return KK_OK;
}
