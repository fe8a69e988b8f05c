/* Groups: several writing functions, one commit (see tx_begin and tx_end). */
#include "store/sql.h"
#include "store/store.h"

int store_group_begin(struct store *s, struct err *e)
{
    int rc = tx_begin(s, e);
    s->grouped = rc == 0;
    err_clear(&s->lost);
    return rc;
}

int store_group_end(struct store *s, struct err *e)
{
    int rc = tx_lost(s, e);
    s->grouped = false;
    return rc ? rc : tx_end(s, 0, e);
}
