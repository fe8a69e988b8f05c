/* How much of a lie shows: verify_mutations EVIDENCE.
 *
 * Changes every leaf of raw.json and of summary.json in turn (numbers by one, strings to another
 * word of their kind, booleans to their opposite, null to a value), mends everything that only
 * repeats a hash (the checksums, the summary's link), and verifies what came out, in this process.
 * Prints how many changes are caught by the signature, and how many without it; and each kind of
 * leaf that can be changed without being caught then. The caller knows which may be (those that
 * feed no figure, no verdict and no part of the grade).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/verify/verify.h"
#include "proto/evidence/signature.h"

#define DEPTH_MAX 64
#define ALTERNATIVES 2

/* ---- the evidence as it was sealed */

struct evidence {
    struct verify original; /* holds the texts */
    struct signature signature;
    struct manifest sums;
};

static int load(struct evidence *ev, const char *dir)
{
    CLEANUP(mem_freep) char *path = file_join(dir, MANIFEST_SIGNATURE);
    CLEANUP(buf_deinit) struct buf text = {0};
    struct err e = {0};

    verify_init(&ev->original, dir);
    int rc = verify_load(&ev->original, &e);
    if (rc == 0)
        rc = file_read(path, 1024, &text, &e);
    if (rc == 0)
        rc = signature_parse(text.data, text.len, &ev->signature, &e);
    if (rc == 0)
        rc = manifest_parse(&ev->original.a, ev->original.sums_text.data,
                            ev->original.sums_text.len, &ev->sums, &e);
    if (rc < 0)
        (void)fprintf(stderr, "%s\n", e.text);
    return rc;
}

/* ---- one lie */

struct lie {
    struct buf raw, summary;
};

/* The link is a hash like those of the checksums: whoever changes raw.json mends it. */
static void mend_link(const struct evidence *ev, struct lie *lie)
{
    char was[DIGEST_HEX], is[DIGEST_HEX];
    const struct verify_text *raw = &ev->original.files[VERIFY_RAW];

    digest_bytes(raw->data, raw->len, was);
    digest_bytes(lie->raw.data, lie->raw.len, is);
    char *at = strstr(lie->summary.data, was);
    if (at)
        memcpy(at, is, DIGEST_HEX - 1);
}

static void put_sum(struct buf *out, const struct manifest_entry *m, const struct lie *lie)
{
    char hex[DIGEST_HEX];
    const struct buf *text = strcmp(m->path, "raw.json") == 0       ? &lie->raw
                             : strcmp(m->path, "summary.json") == 0 ? &lie->summary
                                                                    : NULL;

    if (text)
        digest_bytes(text->data, text->len, hex);
    (void)manifest_line(out, m->path, text ? hex : m->sha256, NULL);
}

/* Mends SHA256SUMS; the signature that was made over the old one must not fit the new one. */
static bool caught_by_key(const struct evidence *ev, const struct lie *lie)
{
    CLEANUP(buf_deinit) struct buf sums = {0};

    for (size_t i = 0; i < ev->sums.n; i++)
        put_sum(&sums, &ev->sums.v[i], lie);
    return !key_verify(ev->signature.public_hex, sums.data, sums.len, ev->signature.bytes);
}

static bool caught_without(const struct evidence *ev, const struct lie *lie, bool with_suite)
{
    struct verify v;

    verify_init(&v, ev->original.dir);
    memcpy(v.files, ev->original.files, sizeof v.files);
    v.files[VERIFY_RAW] = (struct verify_text){lie->raw.data, lie->raw.len};
    v.files[VERIFY_SUMMARY] = (struct verify_text){lie->summary.data, lie->summary.len};
    verify_decode(&v);
    verify_report(&v); /* the cheap ones first */
    if (!verify_failed(&v))
        verify_documents(&v);
    if (!verify_failed(&v) && with_suite)
        verify_suite(&v);
    if (!verify_failed(&v))
        verify_profiles(&v);
    bool caught = verify_failed(&v);
    verify_deinit(&v);
    return caught;
}

/* ---- the leaves of a canonical document, and what each is changed to */

struct leaf {
    char path[512]; /* without indexes: "observations[].elapsed_ns" */
    size_t at, len; /* its token in the text */
};

/* Words that stand for each other: a word that does not exist would be caught too easily. */
static const char *const families[][5] = {
    {"PASS", "FAIL", "UNKNOWN", "NOT_APPLICABLE"},
    {"FASTER", "SLOWER", "SAME", "UNRESOLVED"},
    {"contractual", "diagnostic", "void"},
    {"warmup", "timed"},
    {"before", "after"},
    {"quiet", "busy", "partial"},
    {"known", "unknown", "absent"},
    {"require", "waive", "record"},
    {"interleaved", "sequential"},
    {"protocol", "process"},
    {"subject", "control"},
    {"before_build", "before_timing", "after_timing"},
    {"sides", "lanes"},
    {"source", "suite", "artifact", "tool"},
};

static const char *sibling(const char *word, size_t len, size_t which)
{
    for (size_t f = 0; f < ARRAY_LEN(families); f++)
        for (size_t i = 0; i < 5 && families[f][i]; i++)
            if (strlen(families[f][i]) == len && memcmp(families[f][i], word, len) == 0) {
                size_t n = 0;
                while (n < 5 && families[f][n])
                    n++;
                return families[f][(i + 1 + which % (n - 1)) % n];
            }
    return NULL;
}

/* text is the token with its quotes. Digits stay digits, so that hashes, ids and times keep their
 * form. */
static void change_string(struct buf *out, const char *text, size_t len, size_t which)
{
    const char *word = sibling(text + 1, len - 2, which);
    char last = text[len - 2];

    if (word) {
        buf_printf(out, "\"%s\"", word);
    } else if (len > 2 && isxdigit((unsigned char)last) && text[len - 3] != '\\') {
        buf_add(out, text, len - 2);
        buf_putc(out, last == '1' ? '2' : '1');
        buf_putc(out, '"');
    } else {
        buf_add(out, text, len - 1);
        buf_puts(out, "x\"");
    }
}

static void change_number(struct buf *out, const char *text, size_t len, size_t which)
{
    CLEANUP(mem_freep) char *copy = mem_printf("%.*s", (int)len, text);

    if (strpbrk(copy, ".eE"))
        buf_printf(out, "%.17g", strtod(copy, NULL) * (which ? 1.5 : 1) + !which);
    else
        buf_printf(out, "%lld", strtoll(copy, NULL, 10) + (which ? -1 : 1));
}

static void change(struct buf *out, const char *text, size_t len, size_t which)
{
    static const char *const instead_of_null[ALTERNATIVES] = {"1", "\"x\""};

    if (text[0] == '"')
        change_string(out, text, len, which);
    else if (text[0] == 'n')
        buf_puts(out, instead_of_null[which]);
    else if (text[0] == 't' || text[0] == 'f')
        buf_puts(out, text[0] == 't' ? "false" : "true");
    else
        change_number(out, text, len, which);
}

/* ---- walking a canonical text */

struct walk {
    const char *text;
    size_t at, len;
    char path[512];
    void (*visit)(void *ctx, const struct leaf *leaf);
    void *ctx;
};

static size_t string_len(const char *p)
{
    size_t n = 1;

    while (p[n] != '"')
        n += p[n] == '\\' ? 2 : 1;
    return n + 1;
}

static void walk_value(struct walk *w);

static void walk_leaf(struct walk *w)
{
    struct leaf leaf = {.at = w->at};

    leaf.len =
        w->text[w->at] == '"' ? string_len(w->text + w->at) : strcspn(w->text + w->at, ",]}\n");
    (void)snprintf(leaf.path, sizeof leaf.path, "%s", w->path);
    w->visit(w->ctx, &leaf);
    w->at += leaf.len;
}

static void walk_members(struct walk *w, char close)
{
    size_t base = strlen(w->path);

    w->at++;
    while (w->text[w->at] != close) {
        if (close == '}') {
            size_t n = string_len(w->text + w->at);
            (void)snprintf(w->path + base, sizeof w->path - base, "%s%.*s", base ? "." : "",
                           (int)n - 2, w->text + w->at + 1);
            w->at += n + 1;
        } else {
            (void)snprintf(w->path + base, sizeof w->path - base, "[]");
        }
        walk_value(w);
        w->path[base] = '\0';
        w->at += w->text[w->at] == ',';
    }
    w->at++;
}

static void walk_value(struct walk *w)
{
    if (w->text[w->at] == '{')
        walk_members(w, '}');
    else if (w->text[w->at] == '[')
        walk_members(w, ']');
    else
        walk_leaf(w);
}

/* ---- counting */

struct missed {
    char path[512];
    size_t count;
};

struct tally {
    const struct evidence *ev;
    enum verify_file file;
    bool with_suite;
    size_t leaves, by_key, without;
    struct missed *missed;
    size_t n_missed, cap_missed;
};

static void note_missed(struct tally *t, const char *path)
{
    for (size_t i = 0; i < t->n_missed; i++)
        if (strcmp(t->missed[i].path, path) == 0) {
            t->missed[i].count++;
            return;
        }
    MEM_GROW(t->missed, t->n_missed, t->cap_missed);
    struct missed *m = &t->missed[t->n_missed++];
    (void)snprintf(m->path, sizeof m->path, "%s", path);
    m->count = 1;
}

static void tell(const struct evidence *ev, enum verify_file file, const struct leaf *leaf,
                 size_t which, struct lie *lie)
{
    const struct verify_text *raw = &ev->original.files[VERIFY_RAW];
    const struct verify_text *summary = &ev->original.files[VERIFY_SUMMARY];
    const struct verify_text *from = &ev->original.files[file];
    struct buf *changed = file == VERIFY_RAW ? &lie->raw : &lie->summary;

    buf_clear(&lie->raw);
    buf_clear(&lie->summary);
    buf_add(&lie->raw, raw->data, raw->len);
    buf_add(&lie->summary, summary->data, summary->len);
    buf_clear(changed);
    buf_add(changed, from->data, leaf->at);
    change(changed, from->data + leaf->at, leaf->len, which);
    buf_add(changed, from->data + leaf->at + leaf->len, from->len - leaf->at - leaf->len);
    if (file == VERIFY_RAW)
        mend_link(ev, lie);
}

/* A leaf is caught when each of its changes is. */
static void try_leaf(void *ctx, const struct leaf *leaf)
{
    struct tally *t = ctx;
    struct lie lie = {0};
    bool by_key = true, without = true;

    for (size_t which = 0; which < ALTERNATIVES; which++) {
        tell(t->ev, t->file, leaf, which, &lie);
        by_key = by_key && caught_by_key(t->ev, &lie);
        without = without && caught_without(t->ev, &lie, t->with_suite);
    }
    t->leaves++;
    t->by_key += by_key;
    t->without += without;
    if (!without)
        note_missed(t, leaf->path);
    buf_deinit(&lie.raw);
    buf_deinit(&lie.summary);
}

static void print_tally(const struct tally *t)
{
    const char *name = verify_file_name(t->file);

    printf("%s: %zu leaves, %zu caught with the key (%.1f %%), %zu without it (%.1f %%)\n", name,
           t->leaves, t->by_key, 100.0 * (double)t->by_key / (double)t->leaves, t->without,
           100.0 * (double)t->without / (double)t->leaves);
    for (size_t i = 0; i < t->n_missed; i++)
        printf("missed %s %s %zu\n", name, t->missed[i].path, t->missed[i].count);
}

static bool is_honest(const struct evidence *ev)
{
    struct lie none = {0};

    buf_add(&none.raw, ev->original.files[VERIFY_RAW].data, ev->original.files[VERIFY_RAW].len);
    buf_add(&none.summary, ev->original.files[VERIFY_SUMMARY].data,
            ev->original.files[VERIFY_SUMMARY].len);
    bool honest = !caught_without(ev, &none, true) && !caught_by_key(ev, &none);
    buf_deinit(&none.raw);
    buf_deinit(&none.summary);
    return honest;
}

int main(int argc, char **argv)
{
    static const enum verify_file files[] = {VERIFY_RAW, VERIFY_SUMMARY};
    struct evidence ev = {0};
    int status = 0;

    if (argc != 2 || load(&ev, argv[1]) < 0)
        return 2;
    if (!is_honest(&ev)) {
        (void)fprintf(stderr, "the evidence does not verify as it is\n");
        status = 1;
    }
    for (size_t i = 0; status == 0 && i < ARRAY_LEN(files); i++) {
        struct tally t = {.ev = &ev, .file = files[i], .with_suite = files[i] == VERIFY_RAW};
        struct walk w = {.text = ev.original.files[files[i]].data, .visit = try_leaf, .ctx = &t};
        walk_value(&w);
        print_tally(&t);
        free(t.missed);
    }
    verify_deinit(&ev.original);
    return status;
}
