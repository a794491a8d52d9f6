// The smallest program: link the library and see that it is the one the headers belong to.
#include <karakuri/karakuri.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    printf("karakuri %s\n", kk_version());
    return strcmp(kk_version(), KK_VERSION) == 0 ? 0 : 1;
}
