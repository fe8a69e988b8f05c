#include "client/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/form/duration.h"

#define HELP_COLUMN 28

struct parser {
    struct arena *a;
    const struct opt_table *tables;
    size_t n_tables;
    struct args argv;
    size_t at; /* next argument */
    struct err *e;
};

static void args_add(struct arena *a, struct args *list, const char *word)
{
    const char **v = arena_array(a, list->n + 2, sizeof *v);

    if (list->n)
        memcpy(v, list->v, list->n * sizeof *v);
    v[list->n] = word;
    list->v = v;
    list->n++;
}

static bool is_named(const struct opt *o, const char *name, size_t len, bool letter)
{
    if (letter)
        return o->letter == name[0];
    return strlen(o->name) == len && memcmp(o->name, name, len) == 0;
}

static const struct opt *find(const struct parser *p, const char *name, size_t len, bool letter,
                              void **values)
{
    for (size_t t = 0; t < p->n_tables; t++)
        for (size_t i = 0; i < p->tables[t].n; i++)
            if (is_named(&p->tables[t].opts[i], name, len, letter)) {
                *values = p->tables[t].values;
                return &p->tables[t].opts[i];
            }
    return NULL;
}

static int store_int(const struct opt *o, const char *shown, const char *value, void *to,
                     struct err *e)
{
    char *end = NULL;
    errno = 0;
    long v = strtol(value, &end, 10);

    if (value[0] == '\0' || *end || errno || v < o->min || v > o->max)
        return err_set(e, -EINVAL, "usage", shown, "%s takes a whole number from %d to %d, not %s",
                       shown, o->min, o->max, value[0] ? value : "nothing");
    *(int *)to = (int)v;
    return 0;
}

static int store_duration(const char *shown, const char *value, void *to, struct err *e)
{
    if (duration_parse(value, to))
        return 0;
    return err_set(e, -EINVAL, "usage", shown,
                   "%s takes a duration like 250ms, 90s, 10m, 2h or 1d, not %s", shown,
                   value[0] ? value : "nothing");
}

static int store(struct parser *p, const struct opt *o, const char *shown, const char *value,
                 void *values)
{
    void *to = (char *)values + o->offset;

    switch (o->kind) {
    case OPT_FLAG:
        *(bool *)to = true;
        return 0;
    case OPT_TEXT:
        *(const char **)to = value;
        return 0;
    case OPT_LIST:
        args_add(p->a, to, value);
        return 0;
    case OPT_INT:
        return store_int(o, shown, value, to, p->e);
    case OPT_DURATION_MS:
        return store_duration(shown, value, to, p->e);
    }
    return -EINVAL;
}

static int need_value(struct parser *p, const struct opt *o, const char *shown, const char **value)
{
    if (p->at == p->argv.n)
        return err_set(p->e, -EINVAL, "usage", shown, "%s needs a value: %s %s", shown, shown,
                       o->value);
    *value = p->argv.v[p->at++];
    return 0;
}

/* "--name", "--name value", "--name=value"; arg is already taken. */
static int parse_long(struct parser *p, const char *arg)
{
    size_t len = strcspn(arg + 2, "=");
    const char *value = arg[2 + len] ? arg + 3 + len : NULL;
    const char *shown = arena_printf(p->a, "--%.*s", (int)len, arg + 2);
    void *values = NULL;
    const struct opt *o = find(p, arg + 2, len, false, &values);

    if (!o)
        return err_set(p->e, -EINVAL, "usage", shown, "there is no option %s here", shown);
    if (o->kind == OPT_FLAG && value)
        return err_set(p->e, -EINVAL, "usage", shown, "%s takes no value", shown);
    int rc = o->kind == OPT_FLAG || value ? 0 : need_value(p, o, shown, &value);
    return rc ? rc : store(p, o, shown, value ? value : "", values);
}

/* "-n 5", "-n5"; letters of flags can be joined: "-ab". */
static int parse_letters(struct parser *p, const char *arg)
{
    for (const char *c = arg + 1; *c; c++) {
        const char *shown = arena_printf(p->a, "-%c", *c), *value = c[1] ? c + 1 : NULL;
        void *values = NULL;
        const struct opt *o = find(p, c, 1, true, &values);
        if (!o)
            return err_set(p->e, -EINVAL, "usage", shown, "there is no option %s here", shown);
        int rc = o->kind == OPT_FLAG || value ? 0 : need_value(p, o, shown, &value);
        if (rc == 0)
            rc = store(p, o, shown, value ? value : "", values);
        if (rc || o->kind != OPT_FLAG)
            return rc;
    }
    return 0;
}

static bool is_option(const char *arg)
{
    return arg[0] == '-' && arg[1];
}

static int parse_option(struct parser *p, const char *arg)
{
    return arg[1] == '-' ? parse_long(p, arg) : parse_letters(p, arg);
}

int opts_parse(struct arena *a, const struct opt_table *tables, size_t n_tables, struct args argv,
               struct opt_words *out, struct err *e)
{
    struct parser p = {a, tables, n_tables, argv, 0, e};

    *out = (struct opt_words){0};
    while (p.at < argv.n) {
        const char *arg = argv.v[p.at++];
        if (strcmp(arg, "--") == 0) {
            out->dashes = true;
            break;
        }
        int rc = 0;
        if (is_option(arg))
            rc = parse_option(&p, arg);
        else
            args_add(a, &out->words, arg);
        if (rc)
            return rc;
    }
    while (p.at < argv.n)
        args_add(a, &out->after, argv.v[p.at++]);
    return 0;
}

int opts_parse_leading(struct arena *a, const struct opt_table *table, struct args argv,
                       size_t *used, struct err *e)
{
    struct parser p = {a, table, 1, argv, 0, e};
    int rc = 0;

    while (rc == 0 && p.at < argv.n && is_option(argv.v[p.at])) {
        const char *arg = argv.v[p.at++];
        rc = parse_option(&p, arg);
    }
    *used = p.at;
    return rc;
}

void opts_help(const struct opt *opts, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        const struct opt *o = &opts[i];
        size_t start = out->len;
        if (o->letter)
            buf_printf(out, "  -%c, --%s", o->letter, o->name);
        else
            buf_printf(out, "      --%s", o->name);
        if (o->value)
            buf_printf(out, " %s", o->value);
        if (out->len - start >= HELP_COLUMN - 1) {
            buf_putc(out, '\n');
            start = out->len;
        }
        while (out->len - start < HELP_COLUMN)
            buf_putc(out, ' ');
        buf_printf(out, "%s\n", o->help);
    }
}
