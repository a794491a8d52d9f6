#include "papers/common.h"
const kki_paper kki_paper_kuroda = {0};
