// Names and meanings of the status codes, from the one list in status.h.
#include <karakuri/status.h>

const char *kk_status_name(kk_status status) {
    switch (status) {
#define NAME_CASE(code, name, text) \
    case KK_##name: return "KK_" #name;
        KK_STATUS_LIST(NAME_CASE)
#undef NAME_CASE
    }
    return "KK_UNKNOWN";
}

const char *kk_status_text(kk_status status) {
    switch (status) {
#define TEXT_CASE(code, name, text) \
    case KK_##name: return text;
        KK_STATUS_LIST(TEXT_CASE)
#undef TEXT_CASE
    }
    return "a status that is not in the list";
}
