/// What the options ask for beyond the file.
#include "io/loader.h"

kk_status kki_stand(kki_loader *loader) {
    (void)loader;
    return KK_OK;
}
