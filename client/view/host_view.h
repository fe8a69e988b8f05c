/* One picture of a host for a terminal or as a line: what the daemon does, how loud the host is and
 * where, what was refused last, what comes next. Texts live in the arena of what was decoded. */
#pragma once

#include "client/host_look.h"
#include "client/view/job_view.h"
#include "client/view/term.h"

#define HOST_VIEW_JOBS 5

struct host_view {
    const char *host;    /* its name */
    const char *job;     /* that runs; NULL: none */
    const char *state;   /* of that job */
    bool measuring;      /* a job or a calibration is timed: the host is not looked at */
    bool calibrating;    /* it is the calibration that runs */
    const char *blocked; /* why nothing is begun; NULL: nothing is in the way */
    bool drained;
    int64_t now_ms, next_try_ms; /* -1: none */
    struct progress_view progress;
    int64_t queued, waiting, held;
    struct {
        struct job_view job;
        const char *refused; /* why, the last time; NULL: it was not */
        int64_t refused_ms;
    } jobs[HOST_VIEW_JOBS]; /* the newest that wait */
    size_t n_jobs;
    const struct host_look *look; /* NULL: none was taken */
};

/* Of daemon.status. */
void host_view_status(struct json_in *in, const cJSON *result, struct host_view *v);
/* The picture, in lines no wider than the terminal and no more than it is high (rows; 0: any). */
void host_view_put(const struct host_view *v, const struct term *term, size_t rows,
                   struct buf *out);
/* One look as one line with its end. */
void host_view_line(const struct host_look *look, const struct term *term, struct buf *out);
