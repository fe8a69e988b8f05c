/* The raw report, and all that follows from it alone. What is accepted is written and read again to
 * the same bytes and judged the same; every check of `verify` ends in a sentence or none; and
 * reproduce.sh holds no command that the report smuggled in. */
#include <ctype.h>
#include <string.h>

#include "core/grade/check.h"
#include "fuzz/fuzz.h"
#include "proto/doc/doc_evidence.h"
#include "proto/doc/documents.h"
#include "proto/evidence/reproduce.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char *raw_text(const struct raw *raw)
{
    struct buf out = {0};
    struct err e = {0};

    MUST(evidence_raw_text(raw, &out, &e) == 0, "%s", e.text);
    return buf_take(&out);
}

static char *summary_text(struct arena *a, const struct raw *raw)
{
    struct buf out = {0};
    struct err e = {0};

    MUST(evidence_summary_text(raw, summarise(a, raw), SHA, &out, &e) == 0, "%s", e.text);
    return buf_take(&out);
}

static void must_read_back(const struct raw *raw)
{
    CLEANUP(mem_freep) char *first = raw_text(raw);
    struct arena a = {0};
    struct raw *again = NULL;
    struct err e = {0};

    MUST(raw_decode(&a, first, strlen(first), &again, &e) == 0, "%s %s: %s", e.field, e.text,
         first);
    CLEANUP(mem_freep) char *second = raw_text(again);
    MUST(strcmp(first, second) == 0, "%s%s", first, second);
    CLEANUP(mem_freep) char *summary = summary_text(&a, raw);
    CLEANUP(mem_freep) char *same = summary_text(&a, again);
    MUST(strcmp(summary, same) == 0, "%s%s", summary, same);
    arena_deinit(&a);
}

/* Nothing that is required may be missing in a contractual report. */
static void check_grade(struct arena *a, const struct raw *raw)
{
    const struct summary *s = summarise(a, raw);

    MUST(s->grade.value <= GRADE_VOID && s->grade.line);
    MUST((s->grade.value == GRADE_VOID) == (raw->void_code != NULL));
    for (int p = 0; p < PRED_COUNT; p++) {
        const struct predicate_result *r = &s->grade.predicates[p];
        bool good = r->status == TRI_PASS || r->status == TRI_NOT_APPLICABLE;
        MUST(r->fact && r->status <= TRI_NOT_APPLICABLE, "%s", predicate_name((enum predicate)p));
        MUST(good || s->grade.value != GRADE_CONTRACTUAL, "%s", predicate_name((enum predicate)p));
    }
    for (size_t i = 0; i < s->n_rows; i++)
        MUST(s->grade.value == GRADE_CONTRACTUAL || s->rows[i].grade.value != GRADE_CONTRACTUAL);
}

static void check_checks(struct arena *a, const struct raw *raw)
{
    const char *(*const checks[])(struct arena *, const struct raw *) = {
        check_names,   check_plan,        check_observations,
        check_sources, check_inventories, check_conditions};

    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        const char *fault = checks[i](a, raw);
        MUST(!fault || fault[0], "check %zu", i);
    }
}

static void check_documents(const struct raw *raw)
{
    int (*const writers[])(const struct raw *, struct buf *, struct err *) = {
        evidence_job_text, evidence_policy_text, evidence_host_text, evidence_refusals_text};

    for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
        CLEANUP(buf_deinit) struct buf out = {0};
        struct err e = {0};
        MUST(writers[i](raw, &out, &e) == 0, "%s", e.text);
    }
}

/* ---- reproduce.sh */

/* The script without what stands between single quotes, and without its job document. */
static void put_skeleton(struct buf *out, const char *script)
{
    bool quoted = false;

    for (const char *p = script; *p; p++) {
        bool line_begins = !quoted && (p == script || p[-1] == '\n');
        if (line_begins && *p == '{') { /* one line of JSON between the marks of the heredoc */
            p += strcspn(p, "\n");
            MUST(strncmp(p, "\nEND_OF_JOB\n", 12) == 0, "%s", script);
        } else if (!quoted && p[0] == '\\' && p[1] == '\'') {
            p++;
        } else if (*p == '\'') {
            quoted = !quoted;
        } else if (!quoted) {
            buf_putc(out, *p);
        }
    }
    MUST(!quoted, "%s", script);
}

static bool begins_with_one_of(const char *line, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(line, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

static void check_script_line(const char *line, const char *script)
{
    static const char *const ours[] = {
        "#!/bin/sh",   "# Measures again", "# usage: ",      "# FOLDER is made", "set -eu",
        "test $# ",    "work=$1",          "shift",          "here=$(CDPATH=",   "mkdir -- \"$work",
        "work=$(CD",   "unset GIT_",       "git init -q \"", "git -C \"$work",   "exec aurabench ",
        "cp -R -- \"", "cat >\"$work",     "END_OF_JOB",     "echo  >&2",        "exit 1",
        "    --",      "    \"$@\""};

    MUST(!line[0] || begins_with_one_of(line, ours, ARRAY_LEN(ours)), "\"%s\" in %s", line, script);
    if (strncmp(line, "    ", 4) == 0)
        for (const char *p = line; *p; p++)
            MUST(isalnum((unsigned char)*p) || strchr(" -\\\"$@/.", *p), "%s in %s", line, script);
}

static void check_script(const struct raw *raw, bool has_bundle)
{
    struct buf script = {0}, skeleton = {0};
    struct err e = {0};
    char *save = NULL;

    MUST(reproduce_script(raw, has_bundle, &script, &e) == 0, "%s", e.text);
    put_skeleton(&skeleton, buf_str(&script));
    for (char *line = strtok_r(skeleton.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save))
        check_script_line(line, script.data);
    buf_deinit(&script);
    buf_deinit(&skeleton);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct raw *raw = NULL;
    struct err e = {0};

    if (fuzz_accepted(raw_decode(&a, (const char *)data, size, &raw, &e), &e)) {
        must_read_back(raw);
        check_grade(&a, raw);
        check_checks(&a, raw);
        check_documents(raw);
        check_script(raw, true);
        check_script(raw, false);
    }
    arena_deinit(&a);
    return 0;
}
