#include "client/view/kernel_view.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "client/view/table.h"

#define DIGEST_SHOWN 16

static void cell_ms(struct table *t, double ms)
{
    if (isnan(ms))
        table_cell(t, TERM_DIM, "-");
    else
        table_cell(t, TERM_PLAIN, ms < 0.1 ? "%.6f" : "%.4f", ms);
}

static void row(struct table *t, const char *phase, double first_ms, const struct kernel_stats *s)
{
    const double values[] = {s->min_ms, s->mean_ms, s->p50_ms, s->p95_ms, s->max_ms, s->stddev_ms};

    table_cell(t, TERM_PLAIN, "%s", phase);
    cell_ms(t, first_ms);
    table_cell(t, s->iterations ? TERM_PLAIN : TERM_DIM, "%lld", (long long)s->iterations);
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        cell_ms(t, s->iterations ? values[i] : NAN);
}

static void put_phases(const struct kernel_receipt *r, const struct term *term, struct buf *out)
{
    static const struct table_column columns[] = {
        {"phase, ms", false, false}, {"first", true, false}, {"repeated", true, false},
        {"min", true, false},        {"mean", true, false},  {"p50", true, false},
        {"p95", true, false},        {"max", true, false},   {"stddev", true, false},
    };
    struct table *t = table_new(columns, ARRAY_LEN(columns));

    row(t, "compile", r->compile.first_ms, &r->compile.repeated);
    row(t, "decode", NAN, &r->decode);
    row(t, "dispatch", r->dispatch.first_ms, &r->dispatch.repeated);
    table_print(t, term, 0, out);
    table_free(t);
}

static void put_line(const struct term *term, struct buf *out, const char *what, const char *text)
{
    term_styled(term, out, TERM_DIM, what);
    buf_putc(out, ' ');
    term_clean(out, text, strlen(text), 0);
    buf_putc(out, '\n');
}

static void put_what(const struct kernel_receipt *r, const struct term *term, struct buf *out)
{
    CLEANUP(mem_freep)
    char *what = mem_printf("%s, %s %s, %lld worker%s", r->source, kernel_entry_name(r->entry_kind),
                            r->entry, (long long)r->workers, r->workers == 1 ? "" : "s");
    term_clean(out, what, strlen(what), 0);
    buf_puts(out, "\n\n");
}

static void put_provenance(const struct kernel_receipt *r, const struct term *term, struct buf *out)
{
    const struct kernel_provenance *p = &r->provenance;
    CLEANUP(mem_freep)
    char *kernel =
        mem_printf("%s %s, kernel %s, format %lld, %s build, %s %s", //
                   p->driver ? p->driver : "harn",
                   p->driver_version ? p->driver_version : p->version, p->kernel_version,
                   (long long)p->format_version, kernel_profile_name(p->profile), p->os, p->arch);
    CLEANUP(mem_freep)
    char *artifact = mem_printf("%lld bytes, %.*s", (long long)r->artifact_bytes, DIGEST_SHOWN,
                                r->artifact_digest);
    CLEANUP(mem_freep) char *terminal = mem_printf("%.*s", DIGEST_SHOWN, r->terminal_digest);

    put_line(term, out, "artifact", artifact);
    put_line(term, out, "terminal value", terminal);
    put_line(term, out, kernel_target_name(r->target), kernel);
    if (p->profile == KERNEL_DEBUG)
        term_styled(term, out, TERM_YELLOW,
                    "a debug build: its figures say nothing of a release build\n");
}

void kernel_view_receipt(const struct kernel_receipt *r, const struct term *term, struct buf *out)
{
    put_what(r, term, out);
    put_phases(r, term, out);
    buf_printf(out, "\nbatch: %lld dispatches in %.4f ms, %.1f a second\n",
               (long long)r->iterations, r->dispatch.batch_wall_ms, r->dispatch.throughput);
    if (!isnan(r->initialization_ms))
        buf_printf(out, "initialization: %.4f ms\n", r->initialization_ms);
    put_provenance(r, term, out);
    buf_puts(out, "The phases are different boundaries: their times are not added, and not divided "
                  "by each other.\n");
}

void kernel_view_diff(const struct kernel_receipt *x, const struct kernel_receipt *y,
                      const struct term *term, struct buf *out)
{
    static const struct table_column columns[] = {
        {"phase", false, false}, {"figure", false, false}, {"unit", false, false},
        {"first", true, false},  {"second", true, false},  {"second/first", true, false},
    };
    struct kernel_figure figures[KERNEL_FIGURES];
    struct table *t = table_new(columns, ARRAY_LEN(columns));

    kernel_figures(x, y, figures);
    for (size_t i = 0; i < KERNEL_FIGURES; i++) {
        const struct kernel_figure *f = &figures[i];
        if (isnan(f->x) && isnan(f->y))
            continue;
        table_cell(t, TERM_PLAIN, "%s", f->phase);
        table_cell(t, TERM_PLAIN, "%s", f->name);
        table_cell(t, TERM_PLAIN, "%s", f->per_second ? "per s" : "ms");
        cell_ms(t, f->x);
        cell_ms(t, f->y);
        if (isnan(f->ratio))
            table_cell(t, TERM_DIM, "-");
        else
            table_cell(t, TERM_PLAIN, "%.4f", f->ratio);
    }
    table_print(t, term, 0, out);
    table_free(t);
    buf_puts(out, "One receipt is one run: a difference that counts shows in several of each.\n");
}
