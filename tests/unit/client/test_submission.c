/* Submitting: what is sent in which order, and that a broken connection makes no second job. */
#include <unistd.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "fake_daemon.h"
#include "proto/errors.h"
#include "unit.h"

#define SUBMITTED "{\"id\":\"x\",\"state\":\"queued\",\"duplicate\":false}"

struct world {
    struct fake f;
    char *repo, *suite;
    char before[64], after[64]; /* commit ids */
    int status;
    struct buf out, err, asked;
};

static void git(const char *repo, const char *const *words, char *out_line, size_t size)
{
    const char *argv[16] = {"git", "-C", repo, "-c", "user.name=t", "-c", "user.email=t@t"};
    static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent",
                                      "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", NULL};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct spawn_req req = SPAWN_REQ_INIT;
    int status = -1;
    size_t n = 7;

    for (; *words; words++)
        argv[n++] = *words;
    req.argv = argv;
    req.env = env;
    assert_int_equal(spawn_run(&req, &status, &out, NULL, NULL), 0);
    assert_int_equal(status, 0);
    if (out_line)
        (void)snprintf(out_line, size, "%.*s", (int)strcspn(buf_str(&out), "\n"), buf_str(&out));
}
#define GIT(w, ...) git((w)->repo, WORDS(__VA_ARGS__), NULL, 0)

static void write_file(const char *folder, const char *name, const char *text)
{
    CLEANUP(mem_freep) char *path = file_join(folder, name);

    assert_int_equal(file_write(path, text, strlen(text), 0644, NULL), 0);
}

static void make_repo(struct world *w)
{
    w->repo = file_join(w->f.folder, "repo");
    assert_int_equal(file_mkdirs(w->repo, 0755, NULL), 0);
    GIT(w, "init", "-q", "-b", "main");
    write_file(w->repo, "a", "1\n");
    GIT(w, "add", "a");
    GIT(w, "commit", "-q", "-m", "one");
    git(w->repo, WORDS("rev-parse", "HEAD"), w->before, sizeof w->before);
    GIT(w, "tag", "v1");
    write_file(w->repo, "a", "2\n");
    GIT(w, "commit", "-q", "-a", "-m", "two");
    git(w->repo, WORDS("rev-parse", "HEAD"), w->after, sizeof w->after);
}

static void make_suite(struct world *w)
{
    w->suite = file_join(w->f.folder, "suite");
    assert_int_equal(file_mkdirs(w->suite, 0755, NULL), 0);
    write_file(
        w->suite, "suite.json",
        "{\"schema\":\"aurabench.suite.v1\",\"name\":\"tiny\",\"workloads\":[{\"name\":\"w\","
        "\"measure\":\"process\",\"lanes\":{\"c\":{\"command\":[\"/bin/true\"]}}}]}");
}

static void world_start(struct world *w, const struct fake_script *script)
{
    *w = (struct world){0};
    fake_start(&w->f, script);
    make_repo(w);
    make_suite(w);
}

static void world_run(struct world *w, const char *const *words)
{
    buf_clear(&w->out);
    buf_clear(&w->err);
    w->status = client_run(&w->f, words, &w->out, &w->err);
}

static void world_stop(struct world *w)
{
    fake_stop(&w->f);
    free(w->repo);
    free(w->suite);
    buf_deinit(&w->out);
    buf_deinit(&w->err);
    buf_deinit(&w->asked);
}

#define COMPARE(w, ...)                                                                            \
    WORDS("compare", "--repo", (w)->repo, "--before", "v1", "--suite", (w)->suite, ##__VA_ARGS__)

/* The job's id in the first and second job.submit of the log. */
static const char *id_of(const char *asked, int nth)
{
    const char *p = asked;

    for (int i = 0; i <= nth; i++) {
        p = strstr(p, "job.submit ");
        assert_non_null(p);
        p += 11;
    }
    p = strstr(p, "\"id\":\"");
    assert_non_null(p);
    return p + 6;
}

static const struct fake_step nothing_missing[] = {
    {.method = "source.missing", .result = "{\"missing\":[],\"tips\":[]}"},
    {.method = "job.submit", .result = SUBMITTED},
    {0}};

static void a_comparison_sends_full_ids_and_says_what_comes_next(void **state)
{
    struct world w;

    (void)state;
    world_start(&w, &(struct fake_script){.steps = nothing_missing});
    world_run(&w, COMPARE(&w, "--repetitions", "3", "--allow-competing", "--retry-every", "5s"));
    assert_int_equal(w.status, EXIT_GOOD);
    fake_asked(&w.f, &w.asked);
    CLEANUP(mem_freep)
    char *missing = mem_printf("source.missing {\"commits\":[\"%s\",\"%s\"]}\n", w.before, w.after);
    CLEANUP(mem_freep) char *side = mem_printf("\"rev\":\"v1\",\"commit\":\"%s\"}", w.before);
    assert_says(&w.asked, missing);
    assert_says(&w.asked, side);
    assert_says(&w.asked, "\"repetitions\":3,");
    assert_says(&w.asked, "\"allow_competing\":true");
    assert_says(&w.asked, "\"label\":\"repo v1..HEAD\"");
    assert_says(&w.asked, "\"retry\":{\"every\":\"5s\"}");
    assert_says(&w.out, " queued\n  next: aurabench watch ");
    world_stop(&w);
}

static void missing_commits_arrive_as_a_bundle_with_its_hash(void **state)
{
    static char missing[256];
    const struct fake_step steps[] = {{.method = "source.missing", .result = missing},
                                      {.method = "upload.begin", .result = "{\"upload\":true}"},
                                      {.method = "upload.chunk"},
                                      {.method = "upload.end"},
                                      {.method = "job.submit", .error = "suite.not_here"},
                                      {.method = "upload.begin", .result = "{\"upload\":true}"},
                                      {.method = "upload.chunk"},
                                      {.method = "upload.end"},
                                      {.method = "job.submit", .result = SUBMITTED},
                                      {0}};
    struct world w;

    (void)state;
    world_start(&w, &(struct fake_script){.steps = nothing_missing});
    CLEANUP(mem_freep) char *after = mem_strdup(w.after);
    (void)snprintf(missing, sizeof missing, "{\"missing\":[\"%s\"],\"tips\":[\"%s\"]}", w.after,
                   w.before);
    struct fake second; /* its script names a commit of the world */
    fake_start(&second, &(struct fake_script){.steps = steps});
    w.status = client_run(&second, COMPARE(&w), &w.out, &w.err);
    assert_string_equal(buf_str(&w.err), "");
    assert_int_equal(w.status, EXIT_GOOD);
    fake_asked(&second, &w.asked);
    CLEANUP(mem_freep) char *commits = mem_printf("\"commits\":[\"%s\"]}", after);
    assert_says(&w.asked, "upload.begin {\"kind\":\"bundle\"");
    assert_says(&w.asked, commits);
    assert_says(&w.asked, "upload.begin {\"kind\":\"suite\"");
    /* It is one job, although it was sent before its suite and behind it. */
    assert_memory_equal(id_of(w.asked.data, 0), id_of(w.asked.data, 1), 26);
    fake_stop(&second);
    world_stop(&w);
}

static void a_dirty_checkout_is_refused_unless_a_commit_is_named(void **state)
{
    struct world w;

    (void)state;
    world_start(&w, &(struct fake_script){.steps = nothing_missing});
    write_file(w.repo, "a", "changed\n");
    world_run(&w, COMPARE(&w));
    assert_int_equal(w.status, EXIT_USAGE);
    assert_says(&w.err, "has changes that no commit holds");
    world_run(&w, COMPARE(&w, "--after", "main"));
    assert_int_equal(w.status, EXIT_USAGE);
    fake_asked(&w.f, &w.asked);
    assert_int_equal(w.asked.len, 0);
    world_run(&w, COMPARE(&w, "--after", w.after));
    assert_int_equal(w.status, EXIT_GOOD);
    world_stop(&w);
}

static void a_revision_or_suite_that_does_not_exist_is_status_4(void **state)
{
    struct world w;

    (void)state;
    world_start(&w, &(struct fake_script){.steps = nothing_missing});
    world_run(&w, COMPARE(&w, "--after", "nope", "--json"));
    assert_int_equal(w.status, EXIT_NOT_FOUND);
    assert_says(&w.out, "\"code\":\"source.unresolved\",\"field\":\"sources.after.rev\"");
    world_run(&w, WORDS("compare", "--repo", w.repo, "--before", "v1", "--suite", "no-suite"));
    assert_int_equal(w.status, EXIT_NOT_FOUND);
    assert_says(&w.err, "there is no suite no-suite");
    world_stop(&w);
}

static void an_exclusion_that_leaves_nothing_out_is_refused(void **state)
{
    struct world w;

    (void)state;
    world_start(&w, &(struct fake_script){.steps = nothing_missing});
    world_run(&w, COMPARE(&w, "-x", "w/d"));
    assert_int_equal(w.status, EXIT_USAGE);
    assert_says(&w.err, "no lane w/d");
    world_run(&w, COMPARE(&w, "-x", "w/c", "-x", "c"));
    assert_int_equal(w.status, EXIT_GOOD);
    world_stop(&w);
}

static void after_a_broken_connection_the_same_job_is_sent_again(void **state)
{
    static const struct fake_step steps[] = {
        {.method = "job.submit", .hang_up = true},
        {.method = "job.submit",
         .result = "{\"id\":\"x\",\"state\":\"queued\",\"duplicate\":true}"},
        {0}};
    struct world w;

    (void)state;
    world_start(&w, &(struct fake_script){.steps = steps});
    world_run(&w, WORDS("run", "--no-wait", "--", "true", "--vs", "false"));
    assert_int_equal(w.status, EXIT_GOOD);
    fake_asked(&w.f, &w.asked);
    assert_memory_equal(id_of(w.asked.data, 0), id_of(w.asked.data, 1), 26);
    world_stop(&w);
}

static void a_refused_job_is_not_sent_again(void **state)
{
    static const struct fake_step steps[] = {{.method = "job.submit", .error = "job.bad"}, {0}};
    struct world w;

    (void)state;
    world_start(&w, &(struct fake_script){.steps = steps});
    world_run(&w, WORDS("run", "--no-wait", "--", "true"));
    assert_int_equal(w.status, EXIT_USAGE);
    world_stop(&w);
}

/* A daemon that asks for the suite, gets it and still does not have it is not asked for ever. */
static void a_suite_that_does_not_stay_is_an_error(void **state)
{
    static const struct fake_step steps[] = {
        {.method = "job.submit", .error = "suite.not_here"},
        {.method = "upload.begin", .result = "{\"upload\":false}"},
        {.method = "job.submit", .error = "suite.not_here"},
        {0}};
    struct world w;

    (void)state;
    world_start(&w, &(struct fake_script){.steps = steps});
    world_run(&w, WORDS("run", "--no-wait", "--", "true"));
    assert_int_equal(w.status, EXIT_JOB);
    world_stop(&w);
}

static void two_commands_become_a_suite_of_two_lanes(void **state)
{
    static const struct fake_step steps[] = {
        {.method = "job.submit", .error = "suite.not_here"},
        {.method = "upload.begin", .result = "{\"upload\":true}"},
        {.method = "upload.chunk"},
        {.method = "upload.end"},
        {.method = "job.submit", .result = SUBMITTED},
        {0}};
    struct world w;

    (void)state;
    world_start(&w, &(struct fake_script){.steps = steps});
    world_run(&w, WORDS("run", "--no-wait", "--cwd", "/", "--", "true", "-x", "--vs", "/bin/echo"));
    assert_int_equal(w.status, EXIT_GOOD);
    fake_asked(&w.f, &w.asked);
    assert_says(&w.asked, "\"run\":true");
    assert_says(&w.asked, "\"label\":\"run true against echo\"");
    assert_says(&w.asked, "\"sources\":{}");
    world_stop(&w);
}

static void a_job_file_names_paths_beside_itself(void **state)
{
    struct world w;

    (void)state;
    world_start(&w, &(struct fake_script){.steps = nothing_missing});
    write_file(w.f.folder, "job.json",
               "{\"schema\":\"aurabench.job.v1\",\"label\":\"from a file\",\"suite\":{\"path\":"
               "\"suite\"},\"sources\":{\"before\":{\"repo\":\"repo\",\"rev\":\"v1\"},\"after\":{"
               "\"repo\":\"repo\",\"rev\":\"main\"}},\"priority\":7}");
    CLEANUP(mem_freep) char *file = file_join(w.f.folder, "job.json");
    world_run(&w, WORDS("submit", file));
    assert_string_equal(buf_str(&w.err), "");
    assert_int_equal(w.status, EXIT_GOOD);
    fake_asked(&w.f, &w.asked);
    assert_says(&w.asked, "\"label\":\"from a file\"");
    assert_says(&w.asked, "\"priority\":7");
    write_file(w.f.folder, "job.json", "{\"schema\":\"aurabench.job.v1\",\"labl\":\"x\"}");
    world_run(&w, WORDS("submit", file));
    assert_int_equal(w.status, EXIT_USAGE);
    assert_says(&w.err, "labl");
    world_stop(&w);
}

static void a_policy_of_the_user_travels_with_the_job(void **state)
{
    struct world w;

    (void)state;
    world_start(&w, &(struct fake_script){.steps = nothing_missing});
    write_file(w.f.folder, "mine.json", "{\"schema\":\"aurabench.policy.v1\",\"name\":\"mine\"}");
    CLEANUP(mem_freep) char *file = file_join(w.f.folder, "mine.json");
    world_run(&w, COMPARE(&w, "--policy", file));
    assert_string_equal(buf_str(&w.err), "");
    assert_int_equal(w.status, EXIT_GOOD);
    fake_asked(&w.f, &w.asked);
    assert_says(&w.asked, "\"policy\":\"mine\"");
    assert_says(&w.asked, "\"policy\":{");
    world_run(&w, COMPARE(&w, "--policy", "none-such"));
    assert_int_equal(w.status, EXIT_NOT_FOUND);
    world_stop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comparison_sends_full_ids_and_says_what_comes_next),
        cmocka_unit_test(missing_commits_arrive_as_a_bundle_with_its_hash),
        cmocka_unit_test(a_dirty_checkout_is_refused_unless_a_commit_is_named),
        cmocka_unit_test(a_revision_or_suite_that_does_not_exist_is_status_4),
        cmocka_unit_test(an_exclusion_that_leaves_nothing_out_is_refused),
        cmocka_unit_test(after_a_broken_connection_the_same_job_is_sent_again),
        cmocka_unit_test(a_refused_job_is_not_sent_again),
        cmocka_unit_test(a_suite_that_does_not_stay_is_an_error),
        cmocka_unit_test(two_commands_become_a_suite_of_two_lanes),
        cmocka_unit_test(a_job_file_names_paths_beside_itself),
        cmocka_unit_test(a_policy_of_the_user_travels_with_the_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
