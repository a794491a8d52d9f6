// See saved.h. Bytes stand in base64.
#include "saved.h"

#include <karakuri/save.h>
#include <karakuri/view.h>
#include <stdlib.h>

#include "handshake.h"

static void add_bytes(cli_text *out, const void *bytes, size_t size) {
    text_add(out, "\"");
    base64_add(out, bytes, size);
    text_add(out, "\"");
}

static kk_status add_description(const player *p, cli_text *out, kk_error *error) {
    char *text = NULL;
    size_t size = 0;
    const kk_status status = kk_view_describe(p->m.spec, p->m.model, &p->step_options, NULL, &text, &size, error);
    if (status == KK_OK) {
        text_add(out, "\"description\":");
        text_add_bytes(out, text, size); // its strings have no '<', so nothing in them ends the element
        kk_text_free(NULL, text, size);
    }
    return status;
}

static void add_meshes(const kk_model *m, cli_text *out) {
    text_add(out, ",\"meshes\":[");
    for (int i = 0; i < kk_model_nmesh(m); i++) {
        const size_t size = kk_view_mesh_size(m, i);
        void *bytes = cli_allocate(size, 1);
        kk_view_mesh(m, i, bytes, size);
        text_add(out, i ? "," : "");
        add_bytes(out, bytes, size);
        free(bytes);
    }
    text_add(out, "],\"heights\":[");
    for (int i = 0; i < kk_model_nheight_field(m); i++) {
        const size_t size = kk_view_height_field_size(m, i);
        void *bytes = cli_allocate(size, 1);
        kk_view_height_field(m, i, bytes, size);
        text_add(out, i ? "," : "");
        add_bytes(out, bytes, size);
        free(bytes);
    }
    text_add(out, "]");
}

static kk_status add_frame(const player *p, cli_text *frames) {
    const bool has_step = p->is_stepped && p->step > 0;
    const size_t room = kk_view_frame_size(p->m.model, has_step ? kk_simulator_ncontact(p->simulator) : 0);
    const kk_view_source source = {.model = p->m.model,
                                   .data = p->m.data,
                                   .time = kk_state_time(p->state),
                                   .steps = (double)p->step,
                                   .newest = (double)p->step,
                                   .timestep = p->dt,
                                   .speed = 1,
                                   .q = kk_state_q_const(p->state),
                                   .v = kk_state_v_const(p->state),
                                   .control = p->control,
                                   .simulator = has_step ? p->simulator : NULL,
                                   .state_hash = kk_state_hash(p->state),
                                   .flags = has_step ? 0 : KK_VIEW_NO_STEP};
    char *bytes = cli_allocate(room, 1);
    size_t size = 0;
    const kk_status status = kk_view_frame(&source, bytes, room, &size);
    text_add_bytes(frames, bytes, size);
    free(bytes);
    return status;
}

static int add_frames(player *p, double rate, cli_text *out) {
    const long count = (long)((p->end - p->start) * rate + 1e-6) + 1;
    cli_text frames = {0};
    cli_progress progress = {0};
    kk_error error = {0};
    int code = 0;
    for (long i = 0; i < count && !code && !error.status; i++) {
        code = player_go(p, p->start + (double)i / rate);
        error.status = code ? KK_OK : add_frame(p, &frames);
        cli_progress_show(p->c, &progress, "playing", (size_t)i, (size_t)count);
    }
    cli_progress_show(p->c, &progress, "playing", (size_t)count, (size_t)count);
    code = code ? code : error.status ? cli_fail_error(p->c, &error) : 0;
    if (!code) {
        text_add(out, ",\"frames\":");
        add_bytes(out, frames.bytes, frames.size);
    }
    text_free(&frames);
    return code;
}

int saved_element(player *p, double rate, cli_text *out) {
    kk_error error = {0};
    text_add(out, "<script id=\"karakuri-film\" type=\"application/json\">{");
    error.status = add_description(p, out, &error);
    if (error.status) {
        return cli_fail_error(p->c, &error);
    }
    add_meshes(p->m.model, out);
    const int code = add_frames(p, rate, out);
    text_add(out, "}</script>\n");
    return code;
}
