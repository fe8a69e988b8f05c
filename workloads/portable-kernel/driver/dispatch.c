/* Dispatch: the first on this thread, the others on workers that wait at a barrier until all are
 * ready. They share the decoded program, which nobody changes; state, input and stack are each
 * one's own. */
#include "driver/driver.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t ready;
    bool open;
};

struct worker {
    pthread_t thread;
    bool started;
    const struct pk_program *program;
    const struct pk_entry *entry;
    const char *input;
    const struct pk_value *first; /* the value that every dispatch must give */
    struct gate *gate;
    int64_t *ns;
    size_t n;    /* how many dispatches are this one's */
    size_t same; /* so many gave the first value; the next one, if any, another */
    char differs[2 * PK_DIGEST + 1];
    struct pk_err why;
};

static int digest_of(const struct pk_program *p, const struct pk_entry *entry,
                     const struct pk_value *value, char hex[2 * PK_DIGEST + 1], struct pk_err *why)
{
    struct pk_bytes json = {0};
    uint8_t digest[PK_DIGEST];

    int rc = pk_output(p, entry, value, &json, why);
    if (rc == 0) {
        pk_sha256(json.p, json.n, digest);
        pk_hex(digest, hex);
    }
    pk_bytes_free(&json);
    return rc;
}

static int timed(struct pk_state *s, const struct pk_program *p, const struct pk_entry *entry,
                 const struct pk_value *input, struct pk_value *out, int64_t *ns,
                 struct pk_err *why)
{
    const int64_t start = clock_mono_ns();
    int rc = pk_dispatch(s, p, entry, input, out, why);
    *ns = clock_mono_ns() - start;
    return rc;
}

static void wait_at(struct gate *g)
{
    (void)pthread_mutex_lock(&g->lock);
    g->ready++;
    (void)pthread_cond_broadcast(&g->changed);
    while (!g->open)
        (void)pthread_cond_wait(&g->changed, &g->lock);
    (void)pthread_mutex_unlock(&g->lock);
}

static void work(struct worker *w, struct pk_state *s, const struct pk_value *input)
{
    struct pk_value out;

    for (; w->same < w->n; w->same++) {
        if (timed(s, w->program, w->entry, input, &out, &w->ns[w->same], &w->why))
            return;
        if (!pk_same(&out, w->first)) {
            (void)digest_of(w->program, w->entry, &out, w->differs, &w->why);
            return;
        }
    }
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct pk_state *s = pk_state_new();
    struct pk_value input;

    int rc = pk_input(s, w->program, w->entry, w->input, strlen(w->input), &input, &w->why);
    wait_at(w->gate);
    if (rc == 0)
        work(w, s, &input);
    pk_state_free(s);
    return NULL;
}

/* Opens the gate when so many wait at it; the time just before. */
static int64_t open_gate(struct gate *g, size_t workers)
{
    (void)pthread_mutex_lock(&g->lock);
    while (g->ready < workers)
        (void)pthread_cond_wait(&g->changed, &g->lock);
    const int64_t start = clock_mono_ns();
    g->open = true;
    (void)pthread_cond_broadcast(&g->changed);
    (void)pthread_mutex_unlock(&g->lock);
    return start;
}

/* The wall time from the gate to the last worker's end. */
static int batch(struct worker *workers, size_t n, struct gate *gate, int64_t *wall_ns,
                 struct err *e)
{
    size_t started = 0;
    int rc = 0;

    for (; started < n && rc == 0; started += rc == 0)
        rc = pthread_create(&workers[started].thread, NULL, worker_main, &workers[started]);
    const int64_t start = open_gate(gate, started);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(workers[i].thread, NULL);
    *wall_ns = clock_mono_ns() - start;
    return rc ? err_sys(e, -rc, "start", "a worker's thread") : 0;
}

static int check(const struct worker *workers, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (workers[i].why.text[0])
            return err_set(e, -EINVAL, "kernel.failed", NULL, "worker %zu: %s", i,
                           workers[i].why.text);
    return 0;
}

static void put_batch(const struct worker *workers, size_t n, const char *digest, int64_t wall_ns)
{
    CLEANUP(buf_deinit) struct buf line = {0};
    struct json_out o;

    for (size_t i = 0; i < n; i++) {
        driver_put_samples("dispatch", (int64_t)i, workers[i].ns, workers[i].same, digest);
        if (workers[i].same < workers[i].n)
            driver_put_samples("dispatch", (int64_t)i, workers[i].ns + workers[i].same, 1,
                               workers[i].differs);
    }
    json_out_init(&o, &line);
    json_begin(&o, NULL);
    json_put_str(&o, "done", "dispatch");
    json_put_int(&o, "batchWallNs", wall_ns);
    json_put_int(&o, "workers", (int64_t)n);
    json_end(&o);
    driver_put(&line);
}

/* All workers over the entry. */
static int run_workers(struct driver *d, const struct driver_request *q,
                       const struct pk_entry *entry, const struct pk_value *first,
                       const char *digest, struct err *e)
{
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};
    const size_t n = (size_t)q->workers, all = (size_t)q->iterations;
    struct worker *workers = mem_alloc(n * sizeof *workers);
    int64_t *ns = mem_alloc(all * sizeof *ns), wall_ns = 0, *next = ns;

    for (size_t i = 0; i < n; i++) {
        workers[i] = (struct worker){.program = d->program,
                                     .entry = entry,
                                     .input = q->input,
                                     .first = first,
                                     .gate = &gate,
                                     .ns = next,
                                     .n = all / n + (i < all % n)};
        next += workers[i].n;
    }
    int rc = batch(workers, n, &gate, &wall_ns, e);
    if (rc == 0)
        rc = check(workers, n, e);
    if (rc == 0)
        put_batch(workers, n, digest, wall_ns);
    free(workers);
    free(ns);
    return rc;
}

static int first_dispatch(struct driver *d, const struct driver_request *q, struct pk_state *s,
                          struct err *e)
{
    char digest[2 * PK_DIGEST + 1];
    struct pk_value input, first;
    struct pk_entry entry;
    struct pk_err why = {0};
    int64_t ns = 0;

    if (pk_find(d->program, q->entry, q->entry_kind, &entry, &why) ||
        pk_input(s, d->program, &entry, q->input, strlen(q->input), &input, &why) ||
        timed(s, d->program, &entry, &input, &first, &ns, &why) ||
        digest_of(d->program, &entry, &first, digest, &why))
        return driver_fail(&why, e);
    driver_put_samples("firstDispatch", -1, &ns, 1, digest);
    return run_workers(d, q, &entry, &first, digest, e);
}

int driver_dispatch(struct driver *d, const struct driver_request *q, struct err *e)
{
    if (!d->program)
        return err_set(e, -EINVAL, "usage", NULL, "nothing was compiled and decoded before");
    if (q->workers > q->iterations)
        return err_set(e, -EINVAL, "usage", NULL, "there are more workers than dispatches");
    struct pk_state *s = pk_state_new();
    int rc = first_dispatch(d, q, s, e);
    pk_state_free(s);
    return rc;
}
