/* Who watches: what is told, to whom, and what a peer that does not read is left with. */
#include "world.h"

#include "sched/sched_internal.h"

static void event(struct world *w, const char *job, enum job_state state, const char *step,
                  int done)
{
    const struct sched_event e = {.job = job,
                                  .state = state,
                                  .step = step,
                                  .text = "a line for a person",
                                  .done = done,
                                  .total = 100000,
                                  .left_ms = 5,
                                  .next_try_ms = -1};

    sched_tell(w->sched, &e);
}

static void watch(struct world *w, struct peer *p, const char *job)
{
    (void)world_result(w, p, "job.watch", arena_printf(&w->arena, "{\"id\":\"%s\"}", job));
    buf_clear(&p->sent);
    p->lines = 0;
}

static int64_t number(const struct rpc_message *m, const char *key)
{
    return (int64_t)cJSON_GetObjectItemCaseSensitive(m->params, key)->valuedouble;
}

static bool is_final(const struct rpc_message *m)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(m->params, "final"));
}

static void who_watches_is_told_of_his_job_and_of_no_other(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w), *other = world_peer(w);
    const char *mine = world_stored(w, 1, "{}"), *theirs = world_stored(w, 2, "{}");

    watch(w, p, mine);
    watch(w, p, mine); /* twice is once */
    watch(w, other, theirs);
    event(w, mine, JOB_MEASURING, "time", 1);
    assert_int_equal(p->lines, 1);
    assert_int_equal(other->lines, 0);
    const struct rpc_message *m = world_wait(w, p);
    assert_int_equal(m->kind, RPC_NOTIFICATION);
    assert_string_equal(m->method, "job.event");
    assert_int_equal(number(m, "done"), 1);
    assert_false(is_final(m));
    event(w, mine, JOB_DONE, NULL, 0);
    assert_true(is_final(world_wait(w, p)));
    assert_false(api_session_watches(p->s));
    assert_true(api_session_watches(other->s));
    event(w, mine, JOB_DONE, NULL, 0); /* nothing comes behind the last */
    assert_int_equal(p->lines, 2);
}

/* An hour of a job at 28 observations a second. */
static void of_100000_events_a_peer_that_does_not_read_gets_the_latest(void **state)
{
    struct world *w = *state;
    struct peer *deaf = world_peer(w), *hears = world_peer(w);
    const char *job = world_stored(w, 1, "{}");

    watch(w, deaf, job);
    watch(w, hears, job);
    deaf->unwritten = 1 << 20;
    for (int i = 1; i <= 100000; i++) {
        event(w, job, JOB_MEASURING, "time", i);
        assert_int_equal(hears->lines, 1);
        hears->lines = 0;
        buf_clear(&hears->sent);
    }
    assert_int_equal(deaf->lines, 0);
    deaf->unwritten = 0;
    api_session_flush(deaf->s);
    assert_int_equal(deaf->lines, 1);
    assert_int_equal(number(world_wait(w, deaf), "done"), 100000);
    print_message("100,000 events: %zu bytes for a peer that did not read (bound 1,024)\n",
                  deaf->sent.len);
    assert_true(deaf->sent.len <= 1024);
    api_session_flush(deaf->s); /* once */
    assert_int_equal(deaf->lines, 1);
}

static void the_last_event_is_never_left_out(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *job = world_stored(w, 1, "{}");

    watch(w, p, job);
    p->unwritten = 1 << 20;
    event(w, job, JOB_MEASURING, "time", 1);
    event(w, job, JOB_DONE, NULL, 0);
    assert_true(api_session_watches(p->s)); /* so that its connection is kept */
    p->unwritten = 0;
    api_session_flush(p->s);
    assert_int_equal(p->lines, 1);
    assert_true(is_final(world_wait(w, p)));
    assert_false(api_session_watches(p->s));
}

static void who_reads_on_is_told_the_newest_and_not_what_was_held_back(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *job = world_stored(w, 1, "{}");

    watch(w, p, job);
    p->unwritten = 1 << 20;
    event(w, job, JOB_MEASURING, "time", 1);
    p->unwritten = 0;
    event(w, job, JOB_MEASURING, "time", 2);
    assert_int_equal(p->lines, 1);
    assert_int_equal(number(world_wait(w, p), "done"), 2);
    api_session_flush(p->s);
    assert_int_equal(p->lines, 1);
}

static void each_of_64_jobs_keeps_its_latest_and_the_65th_is_refused(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);

    for (int i = 1; i <= 64; i++)
        watch(w, p, world_stored(w, i, "{}"));
    world_refused(w, p, "job.watch",
                  arena_printf(&w->arena, "{\"id\":\"%s\"}", world_stored(w, 65, "{}")),
                  "job.too_many_watched", "id");
    p->lines = 0;
    p->unwritten = 1 << 20;
    for (int round = 0; round < 100; round++)
        for (int i = 1; i <= 64; i++)
            event(w, world_id(w, i), i % 2 ? JOB_MEASURING : JOB_DONE, i % 2 ? "time" : NULL, i);
    assert_int_equal(p->lines, 0);
    api_session_flush(p->s);
    assert_int_equal(p->lines, 64);
    world_leave(p); /* with half of them still watched */
}

static void a_job_that_is_over_has_nothing_to_come(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *job = world_stored(w, 1, "{}");

    (void)world_result(w, p, "job.cancel", arena_printf(&w->arena, "{\"id\":\"%s\"}", job));
    watch(w, p, job);
    assert_false(api_session_watches(p->s));
}

static void who_leaves_with_something_held_back_takes_it_along(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *job = world_stored(w, 1, "{}");

    watch(w, p, job);
    p->unwritten = 1 << 20;
    event(w, job, JOB_MEASURING, "time", 1);
    world_leave(p);
    event(w, job, JOB_MEASURING, "time", 2);
    assert_int_equal(p->lines, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(who_watches_is_told_of_his_job_and_of_no_other),
        WORLD_TEST(of_100000_events_a_peer_that_does_not_read_gets_the_latest),
        WORLD_TEST(the_last_event_is_never_left_out),
        WORLD_TEST(who_reads_on_is_told_the_newest_and_not_what_was_held_back),
        WORLD_TEST(each_of_64_jobs_keeps_its_latest_and_the_65th_is_refused),
        WORLD_TEST(a_job_that_is_over_has_nothing_to_come),
        WORLD_TEST(who_leaves_with_something_held_back_takes_it_along),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
