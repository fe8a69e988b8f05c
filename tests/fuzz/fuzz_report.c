/* Reports for people, of whatever a raw report holds: text, Markdown and a page of it. Nothing
 * steers a terminal, breaks a table or prints what is no figure; colour changes nothing but colour.
 * Targets are read from what stands behind a NUL, and held against the report. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "proto/doc/doc_targets.h"
#include "proto/doc/documents.h"
#include "report/page_session.h"
#include "report/report.h"

/* A word that printf makes of NaN and the like; a name may be one, so names with them are left
 * out by the caller. */
static void must_have_no_nan(const char *text)
{
    static const char *const bad[] = {"nan", "-nan", "inf", "-inf", "+inf", "nan%", "(null)"};

    for (const char *p = text; *p;) {
        size_t len = strcspn(p, " \n|");
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
            MUST(strlen(bad[i]) != len || strncmp(bad[i], p, len) != 0, "%s", text);
        p += len + (p[len] != '\0');
    }
}

static size_t count_bars(const char *line, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        if (line[i] == '\\')
            i++;
        else
            n += line[i] == '|';
    }
    return n;
}

static void must_have_whole_tables(const char *text)
{
    size_t expected = 0;

    for (const char *p = text; *p;) {
        size_t len = strcspn(p, "\n");
        size_t bars = *p == '|' ? count_bars(p, len) : 0;
        MUST(!bars || !expected || bars == expected, "%.*s", (int)len, p);
        expected = bars;
        p += len + (p[len] != '\0');
    }
}

/* No way out into HTML or links: every such sign is escaped, outside of our own code blocks. */
static void must_have_no_html(const char *text)
{
    bool code = false;

    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        code = strncmp(p, "```", 3) == 0 ? !code : code;
        for (size_t i = 0, len = strcspn(p, "\n"); !code && i < len; i++) {
            MUST(p[i] != '<' && p[i] != '>', "%.*s", (int)len, p);
            i += p[i] == '\\';
        }
    }
    MUST(!code, "%s", text);
}

static void check_markdown(const struct buf *b, bool names_nan)
{
    fuzz_must_be_shown(buf_str(b), b->len, FUZZ_LINES);
    must_have_whole_tables(buf_str(b));
    must_have_no_html(buf_str(b));
    if (!names_nan)
        must_have_no_nan(buf_str(b));
}

static void drop_styles(struct buf *b)
{
    size_t to = 0;

    for (size_t i = 0; i < b->len; i++)
        if (b->data[i] == '\x1b')
            i += strcspn(b->data + i, "m");
        else
            b->data[to++] = b->data[i];
    b->len = to;
    b->data[to] = '\0';
}

static void check_text(const struct raw *raw, const struct summary *s, int width, bool names_nan)
{
    const struct report_style plain = {.width = width}, coloured = {.width = width, .colour = true};
    struct buf text = {0}, other = {0};

    report_text(&text, raw, s, &plain);
    report_text(&other, raw, s, &coloured);
    fuzz_must_be_shown(text.data, text.len, FUZZ_LINES);
    fuzz_must_be_shown(other.data, other.len, FUZZ_LINES | FUZZ_STYLES);
    drop_styles(&other);
    MUST(strcmp(text.data, other.data) == 0);
    MUST(text.data[text.len - 1] == '\n');
    if (!names_nan)
        must_have_no_nan(text.data);
    buf_deinit(&text);
    buf_deinit(&other);
}

static void check_page(const struct raw *raw, const struct summary *s, struct targets *targets,
                       bool names_nan)
{
    const struct page_report reports[] = {{.raw = raw, .s = s}, {.raw = raw, .s = s, .name = "x"}};
    const struct page_input in = {
        .opened_wall_ms = -1, .reports = reports, .n_reports = 2, .targets = targets};
    struct buf page = {0};

    report_page(&page, &in);
    check_markdown(&page, names_nan);
    buf_deinit(&page);
}

static void check_gate(struct arena *a, const struct raw *raw, const struct summary *s,
                       const struct targets *targets)
{
    const struct gate_report report = {"r", raw, s};
    struct gate_result g;
    struct buf json = {0};
    struct json_out o;
    size_t sum = 0;

    gate_judge(a, targets, &report, 1, &g);
    for (size_t i = 0; i < GATE_STATUS_COUNT; i++)
        sum += g.count[i];
    for (size_t i = 0; i < g.n_rows; i++)
        MUST(g.rows[i].status != GATE_MET || !(g.rows[i].to_go > 1.000001));
    MUST(sum == g.n_rows && g.n_rows >= targets->n);
    MUST(g.passed == (g.n_rows > 0 && g.count[GATE_MET] == g.n_rows));
    json_out_init(&o, &json);
    json_begin(&o, NULL);
    gate_encode(&o, &g);
    json_end(&o);
    free(fuzz_canonical(&json));
    buf_deinit(&json);
}

static struct targets *take_targets(struct arena *a, const char *text, size_t len)
{
    struct targets *targets = NULL;
    struct err e = {0};

    return fuzz_accepted(targets_decode(a, text, len, &targets, &e), &e) ? targets : NULL;
}

static void check(struct arena *a, const struct raw *raw, struct targets *targets, bool names_nan)
{
    const struct summary *s = summarise(a, raw);
    CLEANUP(buf_deinit) struct buf markdown = {0};

    check_text(raw, s, 60, names_nan);
    check_text(raw, s, 120, names_nan);
    report_markdown(&markdown, raw, s);
    check_markdown(&markdown, names_nan);
    if (targets)
        check_gate(a, raw, s, targets);
    check_page(raw, s, targets, names_nan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *end = size ? memchr(text, '\0', size) : NULL;
    size_t len = end ? (size_t)(end - text) : size;
    struct arena a = {0};
    struct raw *raw = NULL;
    struct targets *targets = end ? take_targets(&a, end + 1, size - len - 1) : NULL;
    bool names_nan = size && (memmem(text, size, "nan", 3) || memmem(text, size, "inf", 3) ||
                              memmem(text, size, "null)", 5) || memchr(text, '\\', size));

    if (raw_decode(&a, text, len, &raw, NULL) == 0) {
        fuzz_count_good();
        check(&a, raw, targets, names_nan);
    }
    arena_deinit(&a);
    return 0;
}
