#include "client/link/raw_reports.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/link/report_fetch.h"
#include "client/link/whole.h"
#include "core/session.h"
#include "proto/doc/documents.h"

#define RAW_BYTES_MAX ((size_t)512 << 20)

static int add(struct cli *cli, const char *name, const struct buf *json, struct raw_reports *out,
               struct err *e)
{
    struct raw *raw = NULL;

    if (out->n == RAW_REPORTS_MAX)
        return err_set(e, -EINVAL, "usage", NULL, "at most %d reports are judged at a time",
                       RAW_REPORTS_MAX);
    int rc = raw_decode(&cli->a, buf_str(json), json->len, &raw, e);
    if (rc < 0)
        return rc;
    out->v[out->n++] = (struct gate_report){name, raw, summarise(&cli->a, raw)};
    return 0;
}

/* ---- from files */

/* The error names the file: one of several. */
static int add_file(struct cli *cli, const char *path, const char *file, struct raw_reports *out,
                    struct err *e)
{
    CLEANUP(buf_deinit) struct buf json = {0};
    struct err why = {0};
    int rc = file_read(file, RAW_BYTES_MAX, &json, e);

    if (rc < 0)
        return rc;
    rc = add(cli, path, &json, out, &why);
    return rc < 0 ? err_set(e, rc, why.code, why.field, "%.200s: %.400s", file, why.text) : 0;
}

int raw_reports_read(struct cli *cli, const struct args *paths, struct raw_reports *out,
                     struct err *e)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < paths->n; i++) {
        const char *path = paths->v[i];
        struct stat st;
        bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
        rc =
            add_file(cli, path, folder ? arena_printf(&cli->a, "%s/raw.json", path) : path, out, e);
    }
    return rc;
}

/* ---- from the daemon */

int raw_reports_jobs_of(struct cli *cli, struct connection *c, const char *session,
                        struct args *out, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    struct json_in in;
    size_t n = 0;

    int rc = whole_list_over(c, &whole_session, session, &answer, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &cli->a, e); /* the ids outlive the answer */
    const cJSON *jobs = json_arr(&in, answer.msg.result, "jobs", SESSION_JOBS_MAX, &n), *job;
    *out = (struct args){arena_array(&cli->a, n, sizeof *out->v), 0};
    cJSON_ArrayForEach (job, jobs)
        out->v[out->n++] = json_str(&in, job, "id", 64);
    return connection_check(&in, e);
}

int raw_reports_fetch(struct cli *cli, struct connection *c, const struct args *jobs,
                      struct raw_reports *out, struct err *e)
{
    const struct term plain = {.fd = -1};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < jobs->n; i++) {
        CLEANUP(report_deinit) struct report r = {.format = REPORT_RAW};
        rc = report_fetch(c, jobs->v[i], &plain, &r, e);
        if (rc == 0)
            rc = add(cli, jobs->v[i], &r.data, out, e);
    }
    return rc;
}
