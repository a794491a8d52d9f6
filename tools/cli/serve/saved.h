/// A page with a recording inside: description, meshes and frames in one element, so that one file shows everything anywhere.
#ifndef KARAKURI_CLI_SERVE_SAVED_H
#define KARAKURI_CLI_SERVE_SAVED_H

#include "../render/player.h"

/// Plays to the end and adds <script id="karakuri-film" type="application/json">…</script>, the format of
/// docs/guide/view-protocol.md. @param rate  frames a second of simulated time
int saved_element(player *p, double rate, cli_text *out);

#endif
