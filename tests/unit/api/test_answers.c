/* Answers fit into a message, whatever the store holds: lists end early and say so, what one job
 * has to tell is cut where it does not fit. The world refuses every longer line. */
#include "world.h"

#include "proto/form/base64.h"
#include "proto/wire/frame.h"

#define ok(call)                                                                                   \
    do {                                                                                           \
        struct err e = {0};                                                                        \
        if ((call) != 0)                                                                           \
            fail_msg("%s: %s: %s", #call, e.code, e.text);                                         \
    } while (0)

static const char *repeated(struct world *w, char c, size_t n)
{
    char *text = arena_alloc(&w->arena, n + 1);

    memset(text, c, n);
    return text;
}

static const cJSON *member(const cJSON *result, const char *key)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(result, key);

    assert_non_null(m);
    return m;
}

static const char *text_of(const cJSON *item, const char *key)
{
    return member(item, key)->valuestring;
}

/* ---- lists */

/* Sessions of 200 jobs each, one transaction each; jobs are numbered through. */
static void open_session(struct world *w, int number, const char *label)
{
    struct store_new_job *jobs = arena_array(&w->arena, 200, sizeof *jobs);
    const struct store_session row = {
        .id = world_id(w, 900000 + number),
        .label = arena_printf(&w->arena, "s%d", number),
        .document = arena_printf(&w->arena,
                                 "{\"schema\":\"aurabench.session.v1\",\"id\":\"%s\","
                                 "\"label\":\"s%d\"}",
                                 world_id(w, 900000 + number), number),
        .peer_uid = 1000,
        .opened_ms = number,
        .opened_boot = WORLD_BOOT};

    for (int i = 0; i < 200; i++)
        jobs[i] = (struct store_new_job){.id = world_id(w, number * 200 + i),
                                         .document = "{}",
                                         .policy = "{}",
                                         .label = label,
                                         .wall_ms = 1,
                                         .session = row.id};
    ok(store_session_open(w->store, &row, jobs, 200, NULL, &e));
}

/* Fetches all pages of a list; how many there were. */
static int walk(struct world *w, struct peer *p, const char *method, const char *fixed,
                const char *list, const char *cursor, int expected)
{
    const char *last = NULL;
    int pages = 0, items = 0;
    bool more = true;

    for (; more; pages++) {
        const cJSON *result = world_result(
            w, p, method,
            arena_printf(&w->arena, "{%s%s%s%s%s%s}", fixed, last && fixed[0] ? "," : "",
                         last ? "\"" : "", last ? cursor : "", last ? "\":\"" : "",
                         last ? arena_printf(&w->arena, "%s\"", last) : ""));
        const cJSON *page = member(result, list), *item;
        more = cJSON_IsTrue(member(result, "more"));
        assert_true(cJSON_GetArraySize(page) > 0 || !more);
        cJSON_ArrayForEach (item, page) {
            assert_true(!last || strcmp(last, text_of(item, "id")) != 0);
            last = arena_strdup(&w->arena, text_of(item, "id"));
            items++;
        }
    }
    assert_int_equal(items, expected);
    return pages;
}

static void a_list_of_jobs_ends_early_rather_than_late(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);

    world_boot(w);
    for (int i = 0; i < 5; i++)
        open_session(w, i, repeated(w, '"', 600));
    int pages = walk(w, p, "job.list", "\"limit\":999", "jobs", "before", 1000);
    print_message("1,000 jobs with labels of 600 quotes: %d pages, the longest message has %zu "
                  "bytes (bound %zu)\n",
                  pages, p->most, FRAME_MAX);
    assert_in_range(pages, 3, 10);
    assert_int_equal(walk(w, p, "job.list", "\"limit\":100", "jobs", "before", 1000), 10);
}

static void sessions_come_in_pages(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);

    world_boot(w);
    for (int i = 0; i < 5; i++)
        open_session(w, i, NULL);
    assert_int_equal(walk(w, p, "session.list", "", "sessions", "before", 5), 1);
    assert_int_equal(walk(w, p, "session.list", "\"limit\":2", "sessions", "before", 5), 3);
    const cJSON *first = cJSON_GetArrayItem(
        member(world_result(w, p, "session.list", "{\"limit\":1}"), "sessions"), 0);
    assert_string_equal(text_of(first, "label"), "s4");
    assert_string_equal(text_of(first, "state"), "open");
    assert_int_equal(member(first, "jobs")->valuedouble, 200);
    assert_int_equal(member(first, "over")->valuedouble, 0);
}

static void the_jobs_of_a_session_come_in_pages(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);

    world_boot(w);
    open_session(w, 0, repeated(w, '"', 600));
    assert_int_equal(walk(w, p, "session.show", "\"id\":\"s0\"", "jobs", "after", 200), 1);
    assert_int_equal(walk(w, p, "session.show", "\"id\":\"s0\",\"limit\":7", "jobs", "after", 200),
                     29);
    world_refused(w, p, "session.show",
                  arena_printf(&w->arena, "{\"id\":\"s0\",\"after\":\"%s\"}", world_id(w, 999)),
                  "job.not_found", "after");
}

static void a_long_session_ends_its_page_early(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);

    world_boot(w);
    open_session(w, 0, repeated(w, '"', 4000));
    int pages = walk(w, p, "session.show", "\"id\":\"s0\"", "jobs", "after", 200);
    print_message(
        "a session of 200 jobs with labels of 4,000 quotes: %d pages, the longest message "
        "has %zu bytes (bound %zu)\n",
        pages, p->most, FRAME_MAX);
    assert_in_range(pages, 3, 6);
}

/* ---- one job */

static struct inventory *crowd(struct world *w, size_t n, enum phase phase)
{
    struct inventory *inv = arena_alloc(&w->arena, sizeof *inv);

    inv->phase = phase;
    inv->n_competitors = n;
    inv->competitors = arena_array(&w->arena, n, sizeof *inv->competitors);
    for (size_t i = 0; i < n; i++)
        inv->competitors[i] = (struct competitor){.pid = (int)i + 1,
                                                  .command = "burner",
                                                  .args = repeated(w, '"', 1024),
                                                  .cwd = repeated(w, '\\', 4095),
                                                  .reasons = 1};
    inv->hints = inv->competitors;
    inv->n_hints = n < 5 ? n : 5;
    return inv;
}

/* One try that is refused, with all that can be said of it. */
static void refuse_once(struct world *w, const char *job, int number)
{
    const char *attempt = world_id(w, 700000 + number), *text = repeated(w, '"', 639);
    const struct store_new_attempt claim = {.id = attempt, .boot = WORLD_BOOT, .version = "0.1.0"};
    const struct raw_refusal refusal = {
        .attempt = attempt, .wall_ms = 1, .phase = PHASE_BEFORE_BUILD, .reason = text};
    const struct store_event with = {.wall_ms = 5,
                                     .text = text,
                                     .next_try_ms = 6,
                                     .attempt = attempt,
                                     .outcome = "refused",
                                     .refusal = &refusal};
    char claimed[ULID_LEN + 1];

    ok(store_job_claim(w->store, 1000, &claim, claimed, &e));
    assert_string_equal(claimed, job);
    ok(store_job_event(w->store, job, JOB_REFUSE, &with, NULL, &e));
}

static void put_crowds(struct world *w, int number)
{
    struct phase_record record = {0};

    for (int i = 0; i < COND_COUNT; i++)
        record.conditions[i] = (struct condition_result){
            .condition = (enum condition)i, .seen = repeated(w, '"', 200), .needed = "more"};
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        record.inventory = crowd(w, 100, (enum phase)phase);
        ok(store_put_phase(w->store, world_id(w, 700000 + number), (enum phase)phase, &record, &e));
    }
}

static void whatever_a_job_and_its_host_say_it_can_be_shown(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const size_t bytes = 900 << 10;
    const char *document =
        arena_printf(&w->arena, "{\"diff\":\"%s\"}", repeated(w, 'd', bytes - 11));
    const char *job = world_stored(w, 1, document);

    world_boot(w);
    for (int i = 0; i < 70; i++)
        refuse_once(w, job, i);
    put_crowds(w, 69);
    const cJSON *shown =
        world_result(w, p, "job.show", arena_printf(&w->arena, "{\"id\":\"%s\"}", job));
    const cJSON *history = member(shown, "history"), *attempts = member(shown, "attempts");
    const cJSON *phase = cJSON_GetArrayItem(member(shown, "phases"), PHASE_COUNT - 1);
    print_message("job.show at its worst: %zu bytes (bound %zu), %d events, %d attempts, %d "
                  "competitors\n",
                  p->most, FRAME_MAX, cJSON_GetArraySize(history), cJSON_GetArraySize(attempts),
                  cJSON_GetArraySize(member(member(phase, "inventory"), "competitors")));
    assert_true(cJSON_IsNull(member(shown, "document")));
    assert_in_range(cJSON_GetArraySize(history), 50, 200);
    /* The latest are told. */
    assert_string_equal(text_of(cJSON_GetArrayItem(history, cJSON_GetArraySize(history) - 1), "to"),
                        "waiting");
    assert_int_equal(
        (int)member(cJSON_GetArrayItem(attempts, cJSON_GetArraySize(attempts) - 1), "number")
            ->valuedouble,
        70);
    int told = cJSON_GetArraySize(member(member(phase, "inventory"), "competitors"));
    assert_in_range(told, 1, 32);
    assert_int_equal(told + (int)member(phase, "competitors_left_out")->valuedouble, 100);
    assert_true(p->most < FRAME_MAX);
}

static void a_document_that_is_left_out_comes_in_pieces(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *document =
        arena_printf(&w->arena, "{\"diff\":\"%s\"}", repeated(w, 'd', 600 << 10));
    const char *job = world_stored(w, 1, document);
    CLEANUP(buf_deinit) struct buf whole = {0};
    int64_t next = 0, total = 1;

    while (next < total) {
        const cJSON *piece = world_result(
            w, p, "job.document",
            arena_printf(&w->arena, "{\"id\":\"%s\",\"offset\":%lld}", job, (long long)next));
        const char *data = text_of(piece, "data");
        assert_int_equal(base64_decode(data, strlen(data), &whole), 0);
        next = (int64_t)member(piece, "next")->valuedouble;
        total = (int64_t)member(piece, "total")->valuedouble;
        assert_int_equal(next, whole.len);
    }
    assert_string_equal(buf_str(&whole), document);
}

static void a_document_that_fits_is_shown(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *job = world_stored(w, 1, "{\"label\":\"small\"}");
    const cJSON *shown =
        world_result(w, p, "job.show", arena_printf(&w->arena, "{\"id\":\"%s\"}", job));

    assert_string_equal(text_of(member(shown, "document"), "label"), "small");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_list_of_jobs_ends_early_rather_than_late),
        WORLD_TEST(sessions_come_in_pages),
        WORLD_TEST(the_jobs_of_a_session_come_in_pages),
        WORLD_TEST(a_long_session_ends_its_page_early),
        WORLD_TEST(whatever_a_job_and_its_host_say_it_can_be_shown),
        WORLD_TEST(a_document_that_is_left_out_comes_in_pieces),
        WORLD_TEST(a_document_that_fits_is_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
