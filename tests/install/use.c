// A program of a stranger to the repository: only what is installed.
#include <karakuri/karakuri.h>

#include <string.h>

int main(void) {
    return strcmp(kk_version(), KK_VERSION);
}
