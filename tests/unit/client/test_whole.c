/* What comes in pages or pieces is put together, and what does not fit together is not. */
#include "base/mem.h"
#include "fake_daemon.h"
#include "proto/errors.h"
#include "unit.h"

static void pages_of_a_list_are_put_together(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(
        &o,
        STEPS(
            {.method = "session.list",
             .result = "{\"sessions\":[{\"id\":\"A\"},{\"id\":\"B\"}],\"more\":true}"},
            {.method = "session.list", .result = "{\"sessions\":[{\"id\":\"C\"}],\"more\":true}"},
            {.method = "session.list", .result = "{\"sessions\":[{\"id\":\"D\"}],\"more\":false}"}),
        WORDS("session", "list", "--json"));
    assert_int_equal(o.status, EXIT_GOOD);
    assert_says(&o.out,
                "\"sessions\":[{\"id\":\"A\"},{\"id\":\"B\"},{\"id\":\"C\"},{\"id\":\"D\"}],"
                "\"more\":false");
    assert_says(&o.asked, "session.list {\"before\":\"B\"}");
    assert_says(&o.asked, "session.list {\"before\":\"C\"}");
}

static void a_page_without_items_is_the_last(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(
        &o,
        STEPS({.method = "session.list", .result = "{\"sessions\":[{\"id\":\"A\"}],\"more\":true}"},
              {.method = "session.list", .result = "{\"sessions\":[],\"more\":true}"}),
        WORDS("session", "list", "--json"));
    assert_int_equal(o.status, EXIT_GOOD);
}

static void an_older_daemon_knows_no_pages(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(&o, STEPS({.method = "session.list", .result = "{\"sessions\":[{\"id\":\"A\"}]}"}),
                WORDS("session", "list", "--json"));
    assert_int_equal(o.status, EXIT_GOOD);
    assert_says(&o.out, "\"sessions\":[{\"id\":\"A\"}]");
}

static void a_document_that_was_left_out_is_fetched(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(&o,
                STEPS({.method = "job.show", .result = "{\"job\":{},\"document\":null}"},
                      {.method = "job.document",
                       .result = "{\"data\":\"eyJsYWJl\",\"next\":6,\"total\":13}"},
                      {.method = "job.document",
                       .result = "{\"data\":\"bCI6IngifQ==\",\"next\":13,\"total\":13}"}),
                WORDS("show", "CASN", "--json"));
    assert_int_equal(o.status, EXIT_GOOD);
    assert_says(&o.out, "\"document\":{\"label\":\"x\"}");
    assert_says(&o.asked, "job.document {\"id\":\"CASN\",\"offset\":6}");
}

/* Of "abcd\n", and of something else. */
#define GOOD_SHA "fc4b5fd6816f75a7c81fc8eaa9499d6a299bd803397166e8c4cf9280b801d62c"
#define OLD_SHA "0000000000000000000000000000000000000000000000000000000000000000"

#define PIECE(data, next, sha)                                                                     \
    {                                                                                              \
        .method = "report.get", .result = "{\"data\":\"" data "\",\"next\":" #next                 \
                                          ",\"total\":5,\"sha256\":\"" sha                         \
                                          "\",\"attempt\":\"A\",\"grade\":\"diagnostic\"}"         \
    }

static void pieces_of_a_text_that_changed_are_fetched_anew(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(&o,
                STEPS(PIECE("YWJj", 3, OLD_SHA), PIECE("ZAo=", 5, GOOD_SHA),
                      PIECE("YWJj", 3, GOOD_SHA), PIECE("ZAo=", 5, GOOD_SHA)),
                WORDS("report", "CASN"));
    assert_int_equal(o.status, EXIT_GOOD);
    assert_string_equal(o.out.data, "abcd\n");
}

static void what_never_fits_its_hash_is_not_taken(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(&o,
                STEPS(PIECE("YWJjZAo=", 5, OLD_SHA), PIECE("YWJjZAo=", 5, OLD_SHA),
                      PIECE("YWJjZAo=", 5, OLD_SHA)),
                WORDS("report", "CASN"));
    assert_int_equal(o.status, EXIT_JOB);
    assert_says(&o.err, "the report changed each time it was fetched");
    assert_int_equal(o.out.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_a_list_are_put_together),
        cmocka_unit_test(a_page_without_items_is_the_last),
        cmocka_unit_test(an_older_daemon_knows_no_pages),
        cmocka_unit_test(a_document_that_was_left_out_is_fetched),
        cmocka_unit_test(pieces_of_a_text_that_changed_are_fetched_anew),
        cmocka_unit_test(what_never_fits_its_hash_is_not_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
