/// Recordings and the models they were made with: a recording's note says how the model was loaded.
#ifndef KARAKURI_CLI_TAPE_H
#define KARAKURI_CLI_TAPE_H

#include "columns.h"
#include "load.h"

/// Lines "key value" about a model and how it was loaded; paths from the root, so that they hold anywhere.
void tape_note(const cli *c, const char *model, cli_text *note);

typedef struct tape {
    kk_recording *recording;
    kk_recording_info info;
    cli_text model; ///< where it came from; empty: not known
    cli_list search, arguments;
    cli_text *kept; ///< texts of the lists
    int kept_count;
} tape;

/// Reads a recording and takes the loading options of its note over. 0, or the exit code after an error.
int tape_read(cli *c, const char *path, tape *t);
/// Loads its model, or `instead` where that is given, and checks that it is the one of the recording.
int tape_load_model(cli *c, tape *t, const char *instead, cli_model *m);
/// Whether the model that it names is there and may be opened unasked.
bool tape_finds_model(const tape *t);
void tape_free(tape *t);

/// Columns of frames: time, coordinates, velocities, controls, figures of the report.
void tape_columns(const kk_model *model, const kk_recording_info *info, column_list *columns);
/// The numbers of a frame in that order.
void tape_row(const kk_recording_info *info, const kk_recording_frame *frame, double *row);

/// A name for an actuator: its own, or that of what it drives; into a buffer that is emptied first.
void actuator_label(const kk_model *model, int actuator, cli_text *name);

#endif
