/* Raw reports for commands that judge them here: of jobs of a daemon, or of evidence folders and
 * raw.json files on this machine. Each is decoded and summarised by the rules of core; whether an
 * evidence folder is what it says is the business of `aurabench verify`. Everything lives in
 * cli->a.
 */
#pragma once

#include "client/cli.h"
#include "core/gate/gate.h"

#define RAW_REPORTS_MAX 100

struct raw_reports {
    struct gate_report v[RAW_REPORTS_MAX];
    size_t n;
};

/* Each path is a folder that holds raw.json, or such a file. -errno or -EINVAL with e filled. */
int raw_reports_read(struct cli *cli, const struct args *paths, struct raw_reports *out,
                     struct err *e);
/* The ids of the jobs of a session, named by its id or label. */
int raw_reports_jobs_of(struct cli *cli, struct connection *c, const char *session,
                        struct args *out, struct err *e);
/* The reports of these jobs; "report.not_ready" when one has none. */
int raw_reports_fetch(struct cli *cli, struct connection *c, const struct args *jobs,
                      struct raw_reports *out, struct err *e);
