/* What some observations have several of: values, outputs, samples. */
#include <string.h>

#include "base/mem.h"
#include "store/rows.h"

static const void *list_of(const struct row_part *part, const struct raw_observation *o, size_t *n)
{
    const void *list;

    memcpy(&list, (const char *)o + part->list_at, sizeof list);
    memcpy(n, (const char *)o + part->count_at, sizeof *n);
    return list;
}

int rows_add_part(struct store *s, const struct row_part *part, const char *attempt,
                  const struct raw_observation *o, struct err *e)
{
    size_t n, bytes = part->table.item_bytes;
    const char *list = list_of(part, o, &n);
    if (n == 0)
        return 0;
    CLEANUP(mem_freep) char *items = mem_realloc_array(NULL, n, bytes);

    memset(items, 0, n * bytes);
    for (size_t i = 0; i < n; i++) {
        const struct row_place at = {o->seq, (int)i};
        memcpy(items + i * bytes, &at, sizeof at);
        memcpy(items + i * bytes + part->value_at, list + i * part->value_bytes, part->value_bytes);
    }
    return rows_add_list(s, &part->table, attempt, items, n, e);
}

static int seq_of(const struct row_part *part, const char *items, size_t i)
{
    struct row_place at;

    memcpy(&at, items + i * part->table.item_bytes, sizeof at);
    return at.seq;
}

static char *copy_values(const struct row_part *part, struct arena *a, const char *items, size_t n)
{
    char *values = arena_array(a, n, part->value_bytes);

    for (size_t i = 0; i < n; i++)
        memcpy(values + i * part->value_bytes, items + i * part->table.item_bytes + part->value_at,
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
