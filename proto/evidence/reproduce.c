#include "proto/evidence/reproduce.h"

#include <inttypes.h>
#include <string.h>

#include "base/ids.h"
#include "base/mem.h"
#include "proto/doc/doc_sides.h"
#include "proto/form/duration.h"
#include "proto/json/json.h"

/* One word of a shell command, whatever it holds. */
static void put_word(struct buf *out, const char *text)
{
    buf_putc(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, *text);
    buf_putc(out, '\'');
}

static void put_option(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, " \\\n    %s ", name);
    put_word(out, value);
}

static void put_number(struct buf *out, const char *name, int64_t value)
{
    buf_printf(out, " \\\n    %s %" PRId64, name, value);
}

static void put_duration(struct buf *out, const char *name, int64_t ms)
{
    char text[DURATION_TEXT];
    put_option(out, name, duration_text(ms, text));
}

/* ---- the pieces of the script */

/* The only text of the report that stands in the script without quotes. A report that was bent can
 * hold any; a line of it would be a command. */
static const char *attempt_of(const struct raw *raw)
{
    return ulid_valid(raw->id) ? raw->id : "unnamed";
}

static void put_head(struct buf *out, const struct raw *raw)
{
    buf_printf(out,
               "#!/bin/sh\n"
               "# Measures again what this folder reports (attempt %s).\n"
               "# usage: sh reproduce.sh FOLDER [OPTIONS of aurabench]\n"
               "# FOLDER is made; it receives what has to be unpacked. Needs git and aurabench.\n"
               "set -eu\n"
               "test $# -ge 1 || { echo 'usage: sh reproduce.sh FOLDER [OPTIONS]' >&2; exit 2; }\n"
               "work=$1\n"
               "shift\n"
               "here=$(CDPATH='' cd -- \"$(dirname -- \"$0\")\" && pwd)\n"
               "mkdir -- \"$work\"\n"
               "work=$(CDPATH='' cd -- \"$work\" && pwd)\n",
               attempt_of(raw));
}

/* Variables of a git command that runs us, from a hook say, would point git elsewhere. */
static void put_repository(struct buf *out)
{
    buf_puts(out, "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_NAMESPACE\n"
                  "git init -q \"$work/repo\"\n"
                  "git -C \"$work/repo\" fetch -q \"$here/commits.bundle\" "
                  "'refs/aurabench/*:refs/aurabench/*'\n");
}

static const struct job_source *source_of(const struct job *job, const char *side)
{
    for (size_t i = 0; i < job->n_sources; i++)
        if (strcmp(job->sources[i].side, side) == 0)
            return &job->sources[i];
    return NULL;
}

static bool has_correction(const struct job *job)
{
    for (size_t i = 0; i < job->n_sources; i++)
        if (job->sources[i].correction)
            return true;
    return false;
}

/* What the options of `compare` can say; the allowed diffs of corrections may be two. */
static bool is_comparison(const struct job *job)
{
    return job->n_sources == 2 && source_of(job, "before") && source_of(job, "after") &&
           job->n_pairs == 0 && job->sources[0].n_variant == 0 && job->sources[1].n_variant == 0 &&
           !has_correction(job);
}

/* "workload/lane", or "lane" for every workload. */
static char *lane_ref_text(const struct lane_ref *x)
{
    return x->workload ? mem_printf("%s/%s", x->workload, x->lane) : mem_strdup(x->lane);
}

static void put_excluded(struct buf *out, const struct job *job)
{
    for (size_t i = 0; i < job->n_exclude; i++) {
        CLEANUP(mem_freep) char *ref = lane_ref_text(&job->exclude[i]);
        put_option(out, "--exclude", ref);
    }
}

static void put_compare(struct buf *out, const struct job *job)
{
    buf_puts(out, "exec aurabench compare --repo \"$work/repo\" \\\n"
                  "    --suite \"$here/suite\" --policy \"$here/policy.json\"");
    put_option(out, "--before", source_of(job, "before")->commit);
    put_option(out, "--after", source_of(job, "after")->commit);
    put_number(out, "--repetitions", job->repetitions);
    put_number(out, "--warmups", job->warmups);
    put_option(out, "--order", order_name(job->order));
    put_excluded(out, job);
    if (job->label)
        put_option(out, "--label", job->label);
    if (job->retry_every_ms >= 0)
        put_duration(out, "--retry-every", job->retry_every_ms);
    if (job->retry_limit >= 0)
        put_number(out, "--retry-limit", job->retry_limit);
    if (job->allow_competing)
        buf_puts(out, " \\\n    --allow-competing");
    buf_puts(out, " \\\n    \"$@\"\n");
}

/* ---- jobs that no options of the command line say: by a job file beside the unpacked parts */

static void put_file_correction(struct json_out *o, const struct job_source *s)
{
    const struct job_correction *c = s->correction;
    if (!c)
        return;
    CLEANUP(mem_freep) char *diff = mem_printf("corrections/%s.diff", s->side);
    json_begin(o, "correction");
    json_put_str(o, "base", c->base_commit);
    json_put_str(o, "diff", diff);
    json_put_str(o, "approved_by", c->approved_by);
    json_put_str(o, "reason", c->reason);
    json_end(o);
}

static void put_file_sources(struct json_out *o, const struct job *job)
{
    if (job->n_sources == 0)
        return;
    json_begin(o, "sources");
    for (size_t i = 0; i < job->n_sources; i++) {
        json_begin(o, job->sources[i].side);
        json_put_str(o, "repo", "repo");
        json_put_str(o, "rev", job->sources[i].commit);
        put_file_correction(o, &job->sources[i]);
        variant_encode(o, &job->sources[i]);
        json_end(o);
    }
    json_end(o);
}

static void put_file_retry(struct json_out *o, const struct job *job)
{
    char text[DURATION_TEXT];
    if (job->retry_every_ms < 0 && job->retry_limit < 0)
        return;
    json_begin(o, "retry");
    if (job->retry_every_ms >= 0)
        json_put_str(o, "every", duration_text(job->retry_every_ms, text));
    if (job->retry_limit >= 0)
        json_put_int(o, "limit", job->retry_limit);
    json_end(o);
}

static void put_file_exclude(struct json_out *o, const struct job *job)
{
    json_begin_array(o, "exclude");
    for (size_t i = 0; i < job->n_exclude; i++) {
        CLEANUP(mem_freep) char *ref = lane_ref_text(&job->exclude[i]);
        json_put_str(o, NULL, ref);
    }
    json_end_array(o);
}

static void put_file(struct json_out *o, const struct job *job)
{
    json_begin(o, NULL);
    json_put_str(o, "schema", "aurabench.job.v1");
    if (job->label)
        json_put_str(o, "label", job->label);
    json_begin(o, "suite");
    json_put_str(o, "path", "suite");
    json_end(o);
    put_file_sources(o, job);
    pairs_encode(o, job);
    json_put_int(o, "repetitions", job->repetitions);
    json_put_int(o, "warmups", job->warmups);
    json_put_str(o, "order", order_name(job->order));
    put_file_retry(o, job);
    json_put_bool(o, "allow_competing", job->allow_competing);
    json_put_bool(o, "run", job->is_run);
    put_file_exclude(o, job);
    json_end(o);
}

static int put_submit(struct buf *out, const struct job *job, struct err *e)
{
    CLEANUP(buf_deinit) struct buf json = {0};
    struct json_out o;
    json_out_init(&o, &json);
    put_file(&o, job);
    buf_puts(out, "cp -R -- \"$here/suite\" \"$work/suite\"\n");
    if (has_correction(job))
        buf_puts(out, "cp -R -- \"$here/corrections\" \"$work/corrections\"\n");
    buf_puts(out, "cat >\"$work/job.json\" <<'END_OF_JOB'\n");
    int rc = json_canonical(json.data, json.len, out, e); /* one line: it cannot end early */
    buf_puts(out, "END_OF_JOB\n"
                  "exec aurabench submit \"$work/job.json\" --policy \"$here/policy.json\" "
                  "\"$@\"\n");
    return rc;
}

int reproduce_script(const struct raw *raw, bool has_bundle, struct buf *out, struct err *e)
{
    const struct job *job = &raw->job;
    put_head(out, raw);
    if (job->n_sources > 0 && !has_bundle)
        buf_puts(out, "echo 'reproduce.sh: this evidence was sealed without its commits' >&2\n"
                      "exit 1\n");
    else if (job->n_sources > 0)
        put_repository(out);
    if (!is_comparison(job))
        return put_submit(out, job, e);
    put_compare(out, job);
    return 0;
}
