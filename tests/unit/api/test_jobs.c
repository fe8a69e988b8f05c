/* What is taken in: jobs and sessions that are stored once however often they are sent, by whom,
 * and only when git has nothing against them. */
#include "world.h"

#include "sched/sched_internal.h"

static const cJSON *member(const cJSON *result, const char *key)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(result, key);

    assert_non_null(m);
    return m;
}

static int jobs_stored(struct world *w)
{
    int64_t counts[JOB_STATE_COUNT], n = 0;
    struct err e = {0};

    assert_int_equal(store_counts(w->store, counts, &e), 0);
    for (int i = 0; i < JOB_STATE_COUNT; i++)
        n += counts[i];
    return (int)n;
}

static const char *submit(struct world *w, const char *job)
{
    return arena_printf(&w->arena, "{\"job\":%s}", job);
}

static void a_job_is_stored_once_with_who_sent_it(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *params = submit(w, world_job(w, world_suite(w, p), 1, NULL));

    const cJSON *first = world_result(w, p, "job.submit", params);
    assert_string_equal(member(first, "state")->valuestring, "queued");
    assert_true(cJSON_IsFalse(member(first, "duplicate")));
    assert_true(cJSON_IsTrue(member(world_result(w, p, "job.submit", params), "duplicate")));
    assert_int_equal(jobs_stored(w), 1);
    const cJSON *shown =
        world_result(w, p, "job.show", arena_printf(&w->arena, "{\"id\":\"%s\"}", world_id(w, 1)));
    assert_int_equal((int)member(shown, "peer_uid")->valuedouble, 1000);
}

static void history_says_who_cancelled(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *id = world_stored(w, 1, "{}");
    const char *params = arena_printf(&w->arena, "{\"id\":\"%s\"}", id);

    (void)world_result(w, p, "job.cancel", params);
    const cJSON *history = member(world_result(w, p, "job.show", params), "history");
    const cJSON *last = cJSON_GetArrayItem(history, cJSON_GetArraySize(history) - 1);
    assert_string_equal(member(last, "text")->valuestring, "cancelled by user 1000");
    world_refused(w, p, "job.cancel", params, "job.bad_state", "id");
}

/* ---- git is asked in a pause, on another thread */

static const char SOURCES[] =
    ",\"sources\":{\"before\":{\"repo\":\"/r\",\"rev\":\"main\",\"commit\":"
    "\"0123456789012345678901234567890123456789\"}}";

static void a_job_with_sources_waits_for_a_pause_and_one_without_does_not(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w), *other = world_peer(w);
    const char *suite = world_suite(w, p);

    sched_set_quiet(w->sched, true);
    world_begin(w, p, "job.submit", submit(w, world_job(w, suite, 1, SOURCES)));
    for (int i = 0; i < 10; i++)
        (void)uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(p->lines, 0);
    (void)world_result(w, other, "job.submit", submit(w, world_job(w, suite, 2, NULL)));
    sched_set_quiet(w->sched, false);
    const struct rpc_message *m = world_wait(w, p);
    assert_string_equal(m->error.code, "source.missing_commit");
    assert_string_equal(m->error.field, "sources.before.commit");
    assert_int_equal(jobs_stored(w), 1);
}

static void who_leaves_before_git_was_asked_has_sent_nothing(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *suite = world_suite(w, p);

    sched_set_quiet(w->sched, true);
    world_begin(w, p, "job.submit", submit(w, world_job(w, suite, 1, SOURCES)));
    world_leave(p);
    sched_set_quiet(w->sched, false);
    assert_int_equal(w->sched->holds, 0);
    assert_int_equal(jobs_stored(w), 0);
}

static void whether_a_bundle_is_wanted_is_asked_in_a_pause_and_a_suite_at_once(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w), *other = world_peer(w);
    static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";

    sched_set_quiet(w->sched, true);
    world_begin(w, p, "upload.begin",
                arena_printf(&w->arena,
                             "{\"kind\":\"bundle\",\"bytes\":5,\"sha256\":\"%s\",\"commits\":["
                             "\"0123456789012345678901234567890123456789\"]}",
                             zeros));
    assert_true(api_session_busy(p->s));
    const cJSON *begun = world_result(
        w, other, "upload.begin",
        arena_printf(&w->arena, "{\"kind\":\"suite\",\"bytes\":5,\"sha256\":\"%s\"}", zeros));
    assert_true(cJSON_IsTrue(member(begun, "upload")));
    sched_set_quiet(w->sched, false);
    assert_true(cJSON_IsTrue(member(world_wait(w, p)->result, "upload")));
    world_refused(w, p, "upload.end", NULL, "upload.short", "bytes"); /* one is under way */
}

/* ---- sessions */

static const char *session_text(struct world *w, int number, const char *label)
{
    return arena_printf(&w->arena,
                        "{\"schema\":\"aurabench.session.v1\",\"id\":\"%s\",\"label\":\"%s\"}",
                        world_id(w, number), label);
}

static const char *opening(struct world *w, const char *suite, int from, int n)
{
    const char *jobs = "";

    for (int i = 0; i < n; i++)
        jobs = arena_printf(&w->arena, "%s%s{\"job\":%s}", jobs, i ? "," : "",
                            world_job(w, suite, from + i, NULL));
    return arena_printf(&w->arena, "{\"session\":%s,\"jobs\":[%s]}", session_text(w, 5000, "s"),
                        jobs);
}

static const char *adding(struct world *w, const char *suite, int number)
{
    return arena_printf(&w->arena, "{\"id\":\"s\",\"job\":%s}", world_job(w, suite, number, NULL));
}

static void a_session_may_be_opened_in_several_messages_and_sent_again(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *suite = world_suite(w, p), *open = opening(w, suite, 1, 3);

    for (int round = 0; round < 3; round++) { /* each over a new connection */
        const cJSON *opened = world_result(w, p, "session.open", open);
        assert_int_equal(cJSON_IsTrue(member(opened, "duplicate")), round > 0);
        assert_int_equal(cJSON_GetArraySize(member(opened, "jobs")), 3);
        /* The first round breaks off after one more, the second goes to the end. */
        for (int i = 4; i <= (round == 0 ? 4 : 6); i++) {
            const cJSON *added = world_result(w, p, "session.add", adding(w, suite, i));
            assert_int_equal(cJSON_IsTrue(member(added, "duplicate")), round > (i > 4));
        }
        world_leave(p);
        p = world_peer(w);
    }
    assert_int_equal(jobs_stored(w), 6);
    const cJSON *jobs = member(world_result(w, p, "session.show", "{\"id\":\"s\"}"), "jobs");
    assert_int_equal(cJSON_GetArraySize(jobs), 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(member(cJSON_GetArrayItem(jobs, i), "id")->valuestring,
                            world_id(w, i + 1));
}

static void all_jobs_of_an_opening_are_queued_or_none(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *suite = world_suite(w, p);
    const char *good = world_job(w, suite, 1, NULL), *bad = world_job(w, suite, 2, SOURCES);

    world_refused(w, p, "session.open",
                  arena_printf(&w->arena, "{\"session\":%s,\"jobs\":[{\"job\":%s},{\"job\":%s}]}",
                               session_text(w, 5000, "s"), good, bad),
                  "source.missing_commit", "jobs[1].sources.before.commit");
    assert_int_equal(jobs_stored(w), 0);
    world_refused(w, p, "session.show", "{\"id\":\"s\"}", "session.not_found", "id");
}

static void the_same_id_with_another_document_is_refused(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *suite = world_suite(w, p);

    (void)world_result(w, p, "session.open", opening(w, suite, 1, 1));
    world_refused(
        w, p, "session.open",
        arena_printf(&w->arena, "{\"session\":%s,\"jobs\":[]}", session_text(w, 5000, "other")),
        "session.exists", "id");
    world_refused(
        w, p, "session.open",
        arena_printf(&w->arena, "{\"session\":%s,\"jobs\":[]}", session_text(w, 5001, "s")),
        "session.exists", "label");
}

static void a_session_has_200_jobs_at_most(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *suite = world_suite(w, p);

    (void)world_result(w, p, "session.open", opening(w, suite, 1, 199));
    (void)world_result(w, p, "session.add", adding(w, suite, 200));
    world_refused(w, p, "session.add", adding(w, suite, 201), "session.full", "session");
    /* One that is in it may be sent again. */
    (void)world_result(w, p, "session.add", adding(w, suite, 200));
    assert_int_equal(jobs_stored(w), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_job_is_stored_once_with_who_sent_it),
        WORLD_TEST(history_says_who_cancelled),
        WORLD_TEST(a_job_with_sources_waits_for_a_pause_and_one_without_does_not),
        WORLD_TEST(who_leaves_before_git_was_asked_has_sent_nothing),
        WORLD_TEST(whether_a_bundle_is_wanted_is_asked_in_a_pause_and_a_suite_at_once),
        WORLD_TEST(a_session_may_be_opened_in_several_messages_and_sent_again),
        WORLD_TEST(all_jobs_of_an_opening_are_queued_or_none),
        WORLD_TEST(the_same_id_with_another_document_is_refused),
        WORLD_TEST(a_session_has_200_jobs_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
