/* aurabench verify: is an evidence folder what it says, and who made it? No daemon is asked. */
#include <errno.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/verify/verify.h"
#include "client/view/inventory_view.h"
#include "client/view/table.h"

#define PATHS_MAX 100
#define KEY_FILE_BYTES_MAX 4096

struct values {
    const char *key, *covers, *repo;
    struct args paths;
    bool ignore_signature;
};

static const struct values defaults = {.repo = "."};

static const struct opt opts[] = {
    {'k', "key", OPT_TEXT, "KEY|FILE", offsetof(struct values, key), 0, 0,
     "the host's public key that must have signed: 64 hex digits, or a file that holds them"},
    {0, "covers", OPT_TEXT, "REV", offsetof(struct values, covers), 0, 0,
     "did nothing that was measured change up to this commit?"},
    {0, "paths", OPT_LIST, "PATH", offsetof(struct values, paths), 0, 0,
     "with --covers: only what is below these paths; several may follow"},
    {0, "repo", OPT_TEXT, "DIR", offsetof(struct values, repo), 0, 0,
     "with --covers: a checkout of the measured repository (.)"},
    {0, "ignore-signature", OPT_FLAG, NULL, offsetof(struct values, ignore_signature), 0, 0,
     "as if there were none: what shows by the report alone?"},
};

/* ---- the key */

static int read_key(struct cli *cli, const char *text, const char **out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf file = {0};
    size_t digits = strspn(text, "0123456789abcdefABCDEF");

    if (digits != KEY_HEX - 1 || text[digits] != '\0') {
        struct err why = {0};
        int rc = file_read(text, KEY_FILE_BYTES_MAX, &file, &why);
        if (rc < 0 && rc != -EFBIG)
            return err_set(e, rc, why.code, why.field, "%s", why.text);
        text = buf_str(&file); /* what `host --key` printed: the key, then its id */
        digits = strcspn(text, " \t\r\n");
    }
    char *key = arena_strndup(&cli->a, text, digits);
    for (char *p = key; *p; p++)
        if (*p >= 'A' && *p <= 'F')
            *p = (char)(*p - 'A' + 'a');
    if (!key_valid(key))
        return err_set(e, -EINVAL, "usage", "--key",
                       "--key takes a public key of 64 hex digits or a file that holds it; see "
                       "aurabench host --key");
    *out = key;
    return 0;
}

/* ---- what is printed */

static void print_text(const struct cli *cli, const struct verify *v)
{
    static const struct table_column columns[] = {
        {NULL, false, false}, {NULL, false, false}, {NULL, false, false}};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    size_t count[4] = {0};

    for (size_t i = 0; i < v->n_lines; i++) {
        const struct verify_line *l = &v->lines[i];
        table_cell(t, tri_style(l->status), "%s", tri_name(l->status));
        table_cell(t, TERM_PLAIN, "%s", l->check);
        table_cell(t, TERM_PLAIN, "%s", l->text);
        count[l->status]++;
    }
    table_print(t, &cli->out, 0, &out);
    table_free(t);
    buf_printf(&out, "%s: %zu passed, %zu failed, %zu unknown\n",
               count[TRI_FAIL] ? "not verified" : "verified", count[TRI_PASS], count[TRI_FAIL],
               count[TRI_UNKNOWN]);
    cli_put(&out);
}

static void print_json(const struct cli *cli, const struct verify *v)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    cli_json_begin(cli, &o, &b);
    json_put_bool(&o, "verified", !verify_failed(v));
    json_begin_array(&o, "checks");
    for (size_t i = 0; i < v->n_lines; i++) {
        json_begin(&o, NULL);
        json_put_str(&o, "check", v->lines[i].check);
        json_put_str(&o, "status", tri_name(v->lines[i].status));
        json_put_str(&o, "text", v->lines[i].text);
        json_end(&o);
    }
    json_end_array(&o);
    cli_json_end(&o);
}

/* ---- the run */

static int check_usage(const struct values *v, const struct args *words, struct err *e)
{
    if (!v->covers && v->paths.n > 0)
        return err_set(e, -EINVAL, "usage", "--paths",
                       "--paths says what --covers looks at; add --covers REV");
    if (v->paths.n + words->n > PATHS_MAX)
        return err_set(e, -EINVAL, "usage", "--paths", "--paths takes at most %d paths", PATHS_MAX);
    if (words->n > 1 && v->paths.n == 0)
        return err_set(e, -EINVAL, "usage", words->v[1],
                       "%s is too much here; one evidence folder is verified at a time",
                       words->v[1]);
    return 0;
}

/* `--paths a b c`: what follows the folder belongs to the paths. */
static struct args all_paths(struct cli *cli, const struct values *v, const struct args *words)
{
    struct args out = {arena_array(&cli->a, v->paths.n + words->n, sizeof *out.v), 0};

    for (size_t i = 0; i < v->paths.n; i++)
        out.v[out.n++] = v->paths.v[i];
    for (size_t i = 1; i < words->n; i++)
        out.v[out.n++] = words->v[i];
    return out;
}

static void check_session(struct verify *v)
{
    verify_sums(v);
    verify_session(v);
    verify_signature(v);
}

static void check_attempt(struct verify *v, const struct verify_covers *covers)
{
    verify_sums(v);
    verify_signature(v);
    verify_documents(v);
    verify_report(v);
    verify_suite(v);
    verify_profiles(v);
    verify_corrections(v);
    verify_bundle(v);
    if (covers->rev)
        verify_covers(v, covers);
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *o = values;
    const struct verify_covers covers = {o->covers, o->repo, all_paths(cli, o, &words->words)};
    struct err e = {0};
    struct verify v;
    int rc = check_usage(o, &words->words, &e);

    verify_init(&v, words->words.v[0]);
    v.ignore_signature = o->ignore_signature;
    if (rc == 0 && o->key)
        rc = read_key(cli, o->key, &v.key, &e);
    if (rc == 0)
        rc = verify_load(&v, &e);
    if (rc == 0 && v.session && covers.rev)
        rc = err_set(&e, -EINVAL, "usage", "--covers",
                     "--covers asks one report; name the folder of an attempt of this session");
    if (rc == 0) {
        if (v.session)
            check_session(&v);
        else
            check_attempt(&v, &covers);
        if (cli->shared.json)
            print_json(cli, &v);
        else
            print_text(cli, &v);
    }
    int status = rc < 0 ? cli_fail(cli, &e) : verify_failed(&v) ? EXIT_JOB : EXIT_GOOD;
    verify_deinit(&v);
    return status;
}

const struct command command_verify = {
    .name = "verify",
    .usage = "DIR [--key KEY|FILE] [--covers REV --paths PATH...]",
    .summary =
        "check an evidence folder, an attempt's or a session's, and recompute it, without a daemon",
    .more = "Ends with 0 when no check failed, else with 1.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .defaults = &defaults,
    .words_min = 1,
    .words_max = 1000,
    .run = run,
};
