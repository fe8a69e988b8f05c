/* aurabench run -- A --vs B: two commands as they stand, timed whole. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/job/job_opts.h"
#include "proto/doc/documents.h"
#include "proto/evidence/pack.h"

struct values {
    const char *cwd;
    struct job_opts job;
};

static const struct values defaults = {.job = JOB_OPTS_INIT};

static const struct opt opts[] = {
    JOB_OPTS(struct values, job),
    {0, "cwd", OPT_TEXT, "DIR", offsetof(struct values, cwd), 0, 0,
     "where the commands run (the current folder; with --host an empty one)"},
    {0, "wait", OPT_FLAG, NULL, offsetof(struct values, job.wait), 0, 0,
     "show progress, then the report (done anyway)"},
    {0, "no-wait", OPT_FLAG, NULL, offsetof(struct values, job.no_wait), 0, 0,
     "only submit; print the job's id"},
};

/* ---- the commands */

static int check_commands(const struct args *a, const struct args *b, bool vs, struct err *e)
{
    if (a->n == 0 || (vs && b->n == 0))
        return err_set(e, -EINVAL, "usage", "--",
                       "name the commands behind --: aurabench run -- A ARGS... --vs B ARGS...");
    for (size_t i = 0; i < b->n; i++)
        if (strcmp(b->v[i], "--vs") == 0)
            return err_set(e, -EINVAL, "usage", "--vs",
                           "--vs stands there twice; one job compares two commands");
    return 0;
}

static int split(const struct opt_words *words, struct args *a, struct args *b, struct err *e)
{
    const struct args *all = &words->after;
    size_t at = 0;

    while (at < all->n && strcmp(all->v[at], "--vs") != 0)
        at++;
    bool vs = at < all->n;
    *a = (struct args){all->v, at};
    *b = (struct args){all->v ? all->v + at + vs : NULL, all->n - at - vs};
    return check_commands(a, b, vs, e);
}

/* The program's path by PATH of the user, who may have another one than the measured environment;
 * NULL when there is none. */
static const char *find_program(struct cli *cli, const char *name)
{
    const char *path = getenv("PATH");

    while (path && *path) {
        size_t len = strcspn(path, ":");
        const char *full = arena_printf(&cli->a, "%.*s/%s", (int)len, path, name);
        if (len && full[0] == '/' && access(full, X_OK) == 0)
            return full;
        path += len + (path[len] == ':');
    }
    return NULL;
}

static int resolve_program(struct cli *cli, struct args *command, struct err *e)
{
    const char **v = arena_array(&cli->a, command->n + 1, sizeof *v);

    if (cli->shared.host || strchr(command->v[0], '/'))
        return 0;
    memcpy(v, command->v, command->n * sizeof *v);
    v[0] = find_program(cli, command->v[0]);
    if (!v[0])
        return err_set(e, -ENOENT, "usage", "--",
                       "there is no program %.200s in PATH; name its path", command->v[0]);
    command->v = v;
    return 0;
}

static int resolve_cwd(struct cli *cli, const struct values *v, const char **cwd, struct err *e)
{
    CLEANUP(mem_freep) char *whole = NULL;

    *cwd = v->cwd;
    if (v->cwd && v->cwd[0] == '/')
        return 0;
    if (cli->shared.host && v->cwd)
        return err_set(e, -EINVAL, "usage", "--cwd",
                       "with --host --cwd must be an absolute path of that machine");
    if (cli->shared.host)
        return 0;
    whole = realpath(v->cwd ? v->cwd : ".", NULL);
    if (!whole)
        return err_sys(e, -errno, "open", v->cwd ? v->cwd : "the current folder");
    *cwd = arena_strdup(&cli->a, whole);
    return 0;
}

/* ---- the suite */

static void put_lane(struct json_out *o, const char *name, const struct args *command,
                     const char *cwd)
{
    if (command->n == 0)
        return;
    json_begin(o, name);
    json_put_args(o, "command", command);
    if (cwd)
        json_put_str(o, "cwd", cwd);
    json_end(o);
}

static void put_suite(const struct args *a, const struct args *b, const char *cwd, struct buf *out)
{
    struct json_out o;

    json_out_init(&o, out);
    json_begin(&o, NULL);
    json_put_str(&o, "schema", "aurabench.suite.v1");
    json_put_str(&o, "name", "run");
    json_begin_array(&o, "workloads");
    json_begin(&o, NULL);
    json_put_str(&o, "name", "command");
    json_put_str(&o, "measure", "process");
    json_begin(&o, "lanes");
    put_lane(&o, "a", a, cwd);
    put_lane(&o, "b", b, cwd);
    json_end(&o);
    json_end(&o);
    json_end_array(&o);
    json_end(&o);
}

static int check_suite(struct cli *cli, const struct suite_pack *pack, struct err *e)
{
    struct suite *suite = NULL;
    struct err why = {0};
    int rc = suite_decode(&cli->a, pack->json.data, pack->json.len, &suite, &why);

    if (rc == 0)
        return 0;
    if (strcmp(why.code, "suite.unknown_placeholder") == 0)
        return err_set(e, rc, why.code, "--",
                       "an argument has text in braces, which is kept for placeholders; put the "
                       "command into a script and run that");
    return err_set(e, rc, why.code, "--", "%s", why.text);
}

static int pack_suite(struct cli *cli, struct submission *s, const struct args *a,
                      const struct args *b, const char *cwd, struct err *e)
{
    struct suite_pack *pack = &s->pack;

    put_suite(a, b, cwd, &pack->json);
    struct pack_entry entry = {
        .path = "suite.json", .data = pack->json.data, .len = pack->json.len};
    int rc = check_suite(cli, pack, e);
    if (rc == 0)
        rc = pack_write(&entry, 1, &pack->bytes, e);
    if (rc < 0)
        return rc;
    pack->files = 1;
    digest_bytes(pack->bytes.data, pack->bytes.len, pack->sha256);
    s->job->suite_name = "run";
    s->job->suite_sha256 = pack->sha256;
    return 0;
}

/* ---- the job */

/* "sort against gsort", of the programs' names. */
static const char *default_label(struct cli *cli, const struct args *a, const struct args *b)
{
    const char *first = strrchr(a->v[0], '/'), *second = b->n ? strrchr(b->v[0], '/') : NULL;

    first = first ? first + 1 : a->v[0];
    if (b->n == 0)
        return arena_printf(&cli->a, "run %.80s", first);
    second = second ? second + 1 : b->v[0];
    return arena_printf(&cli->a, "run %.80s against %.80s", first, second);
}

static int prepare(struct cli *cli, const struct values *v, const struct opt_words *words,
                   struct submission *s, struct err *e)
{
    const char *cwd = NULL;
    struct args a, b;

    int rc = split(words, &a, &b, e);
    if (rc == 0)
        rc = job_opts_apply(cli, &v->job, s, e);
    if (rc < 0)
        return rc;
    s->job->is_run = true;
    if (!s->job->label)
        s->job->label = default_label(cli, &a, &b);
    rc = resolve_program(cli, &a, e);
    if (rc == 0 && b.n)
        rc = resolve_program(cli, &b, e);
    if (rc == 0)
        rc = resolve_cwd(cli, v, &cwd, e);
    return rc < 0 ? rc : pack_suite(cli, s, &a, &b, cwd, e);
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    const struct submission_after after = {!v->job.no_wait, v->job.report};
    CLEANUP(submission_deinit)
    struct submission s = {.job = arena_alloc(&cli->a, sizeof *s.job)};
    struct connection *c = NULL;
    struct err e = {0};

    int rc = submission_check_after(&after, &e);
    if (rc == 0)
        rc = prepare(cli, v, words, &s, &e);
    if (rc == 0)
        rc = submission_send(cli, &s, &c, &e);
    return rc < 0 ? cli_fail(cli, &e) : submission_finish(cli, &s, c, &after);
}

const struct command command_run = {
    .name = "run",
    .usage = "-- A ARGS... [--vs B ARGS...]",
    .summary = "measure two commands against each other, as whole processes",
    .more = "No shell reads the commands. Their reports are always diagnostic: nothing is known of "
            "what they are built from.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .defaults = &defaults,
    .takes_command = true,
    .run = run,
};
