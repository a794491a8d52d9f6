/// Options and arguments that several verbs have, for their tables: one form, one letter, one range. S is the verb's struct of options, whose
/// member has the option's name; what the option does there stands in `text`.
#ifndef KARAKURI_CLI_SHARED_OPTIONS_H
#define KARAKURI_CLI_SHARED_OPTIONS_H

#include "cli.h"

// clang-format off
#define ARGUMENT_MODEL(S) \
    {.name = "MODEL", .kind = CLI_MODEL, .is_required = true, .offset = offsetof(S, model), \
     .about = "a model file, or robot:NAME for one of our own"}
#define OPTION_KEYFRAME(S, text) \
    {.name = "keyframe", .letter = 'k', .kind = CLI_TEXT, .offset = offsetof(S, keyframe), .value = "NAME", .about = text}
#define OPTION_DT(S, text) \
    {.name = "dt", .kind = CLI_NUMBER, .offset = offsetof(S, dt), .value = "STEP", .low = 1e-9, .high = 10, .about = text}
#define OPTION_CONTROL(S, text) \
    {.name = "control", .letter = 'c', .kind = CLI_FILE, .offset = offsetof(S, control), .value = "FILE", .about = text}
#define OPTION_RECORDED_MODEL(S, text) \
    {.name = "model", .letter = 'm', .kind = CLI_MODEL, .offset = offsetof(S, model), .value = "MODEL", .about = text}
#define OPTION_IGNORE_EXTRA(S, text) \
    {.name = "ignore-extra", .kind = CLI_FLAG, .offset = offsetof(S, ignore_extra), .about = text}
#define OPTION_FLOOR_HEIGHT(S, text) \
    {.name = "floor-height", .kind = CLI_NUMBER, .offset = offsetof(S, floor), .value = "HEIGHT", .about = text}
#define OPTION_SEED(S, text) \
    {.name = "seed", .kind = CLI_COUNT, .offset = offsetof(S, seed), .value = "N", .low = 0, .high = 9e15, .about = text}
// clang-format on

#endif
