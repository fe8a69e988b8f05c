/* Answers questions about zones and windows, one a line, for tests that ask an independent oracle
 * the same (tests/e2e/test_windows_oracle.py):
 *
 *   offset ZONE UTC_S                       seconds east of UTC
 *   wall ZONE WALL_S first|last             an instant
 *   night ZONE DAYS FROM TO UTC_MS          DATE OPENS_MS CLOSES_MS NEXT_OPEN_MS, "shut" for DATE
 *
 * An error is answered by its code. The zones are this machine's own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/zonefile.h"
#include "core/calendar/window.h"

struct probe {
    struct arena arena;
    char name[WINDOW_ZONE_MAX + 1]; /* of the zone that is loaded; questions come zone by zone */
    struct zone zone;
};

static int load(struct probe *p, const char *name, struct err *e)
{
    CLEANUP(buf_deinit) struct buf bytes = {0};
    if (strcmp(p->name, name) == 0)
        return 0;
    arena_deinit(&p->arena);
    p->name[0] = '\0';
    int rc = zonefile_read("", "zone", name, &bytes, e);
    if (rc == 0)
        rc = zone_parse(&p->arena, "zone", name, bytes.data, bytes.len, &p->zone, e);
    if (rc == 0)
        snprintf(p->name, sizeof p->name, "%s", name);
    return rc;
}

static int answer_night(struct probe *p, char *const *word, struct err *e)
{
    struct window w;
    struct window_night n;
    char date[WINDOW_DATE_TEXT] = "shut";
    int64_t utc_ms = strtoll(word[5], NULL, 10);
    int rc = window_parse(&p->arena, "window", word[2], word[3], word[4], word[1], &w, e);
    if (rc)
        return rc;
    if (window_night(&w, &p->zone, utc_ms, &n))
        window_date_text(n.day, date);
    else
        n = (struct window_night){0};
    printf("%s %" PRId64 " %" PRId64 " %" PRId64 "\n", date, n.opens_ms, n.closes_ms,
           window_next_open(&w, &p->zone, utc_ms));
    return 0;
}

/* Nonzero: not a question, or e says what is wrong. */
static int answer(struct probe *p, char *const *word, size_t n, struct err *e)
{
    int rc = n >= 3 ? load(p, word[1], e) : -1;
    if (rc)
        return rc;
    if (n == 3 && strcmp(word[0], "offset") == 0)
        printf("%d\n", zone_offset_at(&p->zone, strtoll(word[2], NULL, 10)));
    else if (n == 4 && strcmp(word[0], "wall") == 0)
        printf("%" PRId64 "\n",
               zone_wall_to_utc(&p->zone, strtoll(word[2], NULL, 10),
                                strcmp(word[3], "last") == 0 ? ZONE_LAST : ZONE_FIRST));
    else if (n == 6 && strcmp(word[0], "night") == 0)
        rc = answer_night(p, word, e);
    else
        rc = -1;
    return rc;
}

int main(void)
{
    struct probe p = {0};
    char line[512];
    while (fgets(line, sizeof line, stdin)) {
        char *word[8], *rest = NULL;
        size_t n = 0;
        struct err e = {0};
        for (char *w = strtok_r(line, " \n", &rest); w && n < ARRAY_LEN(word);
             w = strtok_r(NULL, " \n", &rest))
            word[n++] = w;
        if (answer(&p, word, n, &e))
            printf("%s\n", err_is_set(&e) ? e.code : "what?");
    }
    arena_deinit(&p.arena);
    return fflush(stdout) == 0 ? 0 : 1;
}
