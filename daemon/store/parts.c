/* What some observations have several of: values, outputs, samples. */
#include <string.h>

#include "store/rows.h"

void *rows_load_part(struct store *s, const struct row_part *part, const char *attempt,
                     struct arena *a, size_t *n, int *rc, struct err *e)
{
    struct query q;

    query_begin(&q, s, part->select);
    query_text(&q, ":attempt", attempt);
    void *items = query_all(&q, part->fields, part->n_fields, part->item_bytes, a, n);
    *rc = query_end(&q, e);
    if (*rc != 0)
        *n = 0;
    return items;
}

static int seq_of(const struct row_part *part, const char *items, size_t i)
{
    int seq;

    memcpy(&seq, items + i * part->item_bytes, sizeof seq);
    return seq;
}

static char *copy_values(const struct row_part *part, struct arena *a, const char *items, size_t n)
{
    char *values = arena_array(a, n, part->value_bytes);

    for (size_t i = 0; i < n; i++)
        memcpy(values + i * part->value_bytes, items + i * part->item_bytes + part->value_at,
               part->value_bytes);
    return values;
}

/* Both lists ascend by seq: what comes next is the observation's own, or a later one's. */
void rows_attach_part(const struct row_part *part, struct arena *a, const void *items, size_t n,
                      struct raw *raw)
{
    char *values = copy_values(part, a, items, n);
    size_t at = 0;

    for (size_t i = 0; i < raw->n_observations; i++) {
        struct raw_observation *o = &raw->observations[i];
        size_t from = at;
        while (at < n && seq_of(part, items, at) == o->seq)
            at++;
        size_t count = at - from;
        const void *list = count > 0 ? values + from * part->value_bytes : NULL;
        memcpy((char *)o + part->list_at, &list, sizeof list);
        memcpy((char *)o + part->count_at, &count, sizeof count);
    }
}
