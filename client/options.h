/* Options of a command line as tables: what stands in a table is parsed, checked and explained.
 *
 * A table's values go into a struct of its owner, each at its offset: bool for a flag, const char *
 * for a text, int for a number, int64_t for a duration in ms, struct args for a list. What is not
 * given keeps what the owner put there before. Strings are those of argv; lists live in the arena.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/types.h"

enum opt_kind { OPT_FLAG, OPT_TEXT, OPT_INT, OPT_DURATION_MS, OPT_LIST };

struct opt {
    char letter;      /* 0: none */
    const char *name; /* without dashes */
    enum opt_kind kind;
    const char *value; /* how help calls the value: "REV"; NULL for a flag */
    size_t offset;
    int min, max; /* OPT_INT */
    const char *help;
};

struct opt_table {
    const struct opt *opts;
    size_t n;
    void *values;
};

/* What is no option. */
struct opt_words {
    struct args words; /* before "--" */
    struct args after; /* behind it */
    bool dashes;       /* "--" was there */
};

/* Parses all of argv; options and words may be mixed. 0, or -EINVAL with e filled: code "usage",
 * the field is the option as it was written. */
int opts_parse(struct arena *a, const struct opt_table *tables, size_t n_tables, struct args argv,
               struct opt_words *out, struct err *e);

/* Parses options up to the first word; *used is how many arguments that took. */
int opts_parse_leading(struct arena *a, const struct opt_table *table, struct args argv,
                       size_t *used, struct err *e);

/* Appends one line per option: "  -H, --host URL   the daemon of another machine". */
void opts_help(const struct opt *opts, size_t n, struct buf *out);
