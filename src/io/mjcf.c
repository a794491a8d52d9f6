/// MJCF.
#include "io/loader.h"

kk_status kki_mjcf_load(kki_loader *loader, const kki_xml *xml) {
    return kki_report_node(&(kki_reader){xml, loader->diagnostics}, KKI_ERROR, KK_UNSUPPORTED, KKI_XML_ROOT,
                           "MJCF is not read yet", "");
}
