/* What the page rests on: the files with their hashes, the way to measure again, and how many
 * comparisons it makes. */
#include <string.h>

#include "base/mem.h"
#include "report/number.h"
#include "report/page_parts.h"
#include "report/text.h"

static const char *folder_of(const struct page_report *r)
{
    return r->folder ? r->folder : r->raw->id;
}

/* ---- evidence */

void part_evidence(const struct release *p)
{
    struct table t = {0};
    table_column(&t, "file", ALIGN_LEFT, 0);
    table_column(&t, "SHA-256", ALIGN_LEFT, 1);
    for (size_t i = 0; i < p->in->n_reports; i++)
        for (size_t j = 0; j < p->in->reports[i].n_files; j++) {
            table_put(&t, p->in->reports[i].files[j].path);
            table_put(&t, p->in->reports[i].files[j].sha256);
        }
    if (!table_rows(&t)) {
        table_deinit(&t);
        return;
    }
    page_section(p->page, "Evidence", NULL);
    page_say(p->page, "SHA256SUMS of a folder covers its every file; summary.json names the hash "
                      "of its raw.json. Raw reports keep every observation.");
    page_table(p->page, &t);
}

/* ---- reproduction */

/* One word of a shell command, on one line whatever it holds. */
static void put_word(struct buf *out, const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./:=@%+,{}";
    CLEANUP(buf_deinit) struct buf clean = {0};
    text_clean(&clean, s, 0);
    const char *word = buf_str(&clean);
    if (*word && word[strspn(word, plain)] == '\0') {
        buf_puts(out, word);
        return;
    }
    buf_putc(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, *word);
    buf_putc(out, '\'');
}

static void put_line(struct buf *out, const char *before, const char *word, const char *after)
{
    buf_puts(out, before);
    put_word(out, word);
    buf_puts(out, after);
}

static void put_sources(const struct page_report *r, struct buf *out)
{
    CLEANUP(mem_freep) char *bundle = mem_printf("%s/commits.bundle", folder_of(r));
    put_line(out, "git bundle verify ", bundle, "\n");
    put_line(out, "git fetch ", bundle, " 'refs/aurabench/*:refs/aurabench/*'\n");
    for (size_t i = 0; i < r->raw->n_sources; i++) {
        const struct raw_source *s = &r->raw->sources[i];
        put_line(out, "git worktree add --detach ", s->side, " ");
        put_word(out, s->commit ? s->commit : "unknown");
        buf_putc(out, '\n');
    }
}

/* As comments: placeholders stand in them. */
static void put_builds(const struct page_report *r, struct buf *out)
{
    for (size_t i = 0; i < r->raw->n_builds; i++) {
        const struct raw_build *b = &r->raw->builds[i];
        bool suite = text_equal(b->side, JOB_SIDE_SUITE);
        buf_printf(out, "# %s is built by", suite ? "the suite" : b->side);
        for (size_t j = 0; j < b->argv.n; j++) {
            buf_putc(out, ' ');
            put_word(out, b->argv.v[j]);
        }
        buf_putc(out, '\n');
    }
}

static void put_commands(const struct page_report *r, struct buf *out)
{
    const char *folder = folder_of(r);
    put_line(out, "(cd ", folder, " && sha256sum -c SHA256SUMS)\n");
    put_line(out, "aurabench verify ", folder, " --key KEY\n");
    if (r->has_bundle)
        put_sources(r, out);
    put_builds(r, out);
    CLEANUP(mem_freep) char *script = mem_printf("%s/reproduce.sh", folder);
    put_line(out, "sh ", script, " NEW_FOLDER\n");
}

void part_reproduce(const struct release *p)
{
    if (!p->in->n_reports)
        return;
    page_section(p->page, "Measure it again", NULL);
    page_say(p->page, "In a clone of the measured repository, with the evidence folders beside "
                      "it. The last line builds and measures all of it; those before it check the "
                      "evidence and lay out its sources. KEY is the public key "
                      "of the host that made it.");
    for (size_t i = 0; i < p->in->n_reports; i++) {
        CLEANUP(buf_deinit) struct buf lines = {0};
        page_subsection(p->page, p->names[i], NULL);
        put_commands(&p->in->reports[i], &lines);
        page_code(p->page, buf_str(&lines));
    }
}

/* ---- how many comparisons */

struct counted {
    size_t verdicts, covered, ratios;
    double misses; /* expected by chance */
    struct interval_count values;
};

static void count_report(const struct member *m, struct counted *c)
{
    for (size_t i = 0; i < m->r.s->n_comparisons; i++) {
        const struct comparison *x = &m->r.s->comparisons[i];
        bool covered = !x->undefined && x->wall.interval.defined;
        if (!comparison_has_verdict(m, x)) {
            c->ratios += x->kind == COMPARE_LANES && !x->undefined;
            continue;
        }
        c->verdicts++;
        c->covered += covered;
        c->misses += covered ? 1 - x->wall.interval.coverage : 0;
    }
}

void part_notes(const struct release *p)
{
    struct counted c = {0};
    for (size_t i = 0; i < p->in->n_reports; i++) {
        struct member m;
        member_init(&m, p, i);
        count_report(&m, &c);
        report_count_value_intervals(&m.r, &c.values);
    }
    page_section(p->page, "Notes", NULL);
    page_item(
        p->page,
        "the page makes %zu comparison%s with a verdict, %zu of them with an interval; the "
        "coverage is that of each interval alone: by chance %.2f of them are expected to miss",
        c.verdicts, c.verdicts == 1 ? "" : "s", c.covered, c.misses);
    report_put_value_intervals(p->page, &c.values);
    if (c.ratios)
        page_item(p->page,
                  "beside them %zu ratio%s of medians, lane against reference; the intervals stand "
                  "in each summary.json",
                  c.ratios, c.ratios == 1 ? "" : "s");
    page_item(p->page, "every figure follows from the raw reports by the rules that summary.json "
                       "names; wall time unless CPU time is named");
}
