#include "world.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"

#define MINUTE_NS 60000000000LL
#define READ_LIMIT (8 << 20)

static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};

const char *world_runner(void)
{
    const char *path = getenv("AURABENCH_RUNNER");

    assert_non_null(path);
    return path;
}

const char *world_child(void)
{
    const char *path = getenv("AURABENCH_CHILD");

    assert_non_null(path);
    return path;
}

int world_setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    struct err e = {0};

    (void)signal(SIGPIPE, SIG_IGN);
    w->folder = unit_folder();
    if (run_new(world_runner(), &w->run, &e) != 0)
        fail_msg("%s", e.text);
    *state = w;
    return 0;
}

int world_teardown(void **state)
{
    struct world *w = *state;

    run_free(w->run);
    arena_deinit(&w->arena);
    assert_int_equal(file_rmtree(w->folder, NULL), 0);
    free(w->folder);
    free(w);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return 0;
}

const char *world_path(struct world *w, const char *name)
{
    return arena_printf(&w->arena, "%s/%s", w->folder, name);
}

const char *world_read(struct world *w, const char *path)
{
    struct buf text = {0};
    struct err e = {0};

    if (file_read(path, READ_LIMIT, &text, &e) != 0)
        fail_msg("%s", e.text);
    const char *s = arena_strdup(&w->arena, buf_str(&text));
    buf_deinit(&text);
    return s;
}

int world_pid(struct world *w, const char *path)
{
    int64_t until = clock_mono_ns() + MINUTE_NS;

    while (!file_exists(path)) {
        assert_true(clock_mono_ns() < until);
        clock_sleep_ns(1000000);
    }
    int pid = atoi(world_read(w, path));
    assert_true(pid > 1);
    return pid;
}

bool world_gone(int pid)
{
    char path[64];
    struct buf text = {0};

    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (file_read(path, 4096, &text, NULL) != 0)
        return true;
    const char *end = strrchr(buf_str(&text), ')');
    bool gone = !end || end[2] == 'Z' || end[2] == 'X';
    buf_deinit(&text);
    return gone;
}

void world_await_gone(int pid)
{
    int64_t until = clock_mono_ns() + MINUTE_NS;

    while (!world_gone(pid)) {
        assert_true(clock_mono_ns() < until);
        clock_sleep_ns(1000000);
    }
}

bool world_has_line(const char *text, const char *line)
{
    size_t len = strlen(line);

    for (const char *at = text; (at = strstr(at, line)); at++)
        if ((at == text || at[-1] == '\n') && (at[len] == '\n' || at[len] == '\0'))
            return true;
    return false;
}

struct run_observe world_request(enum measure measure, const char *const *argv)
{
    return (struct run_observe){
        .measure = measure,
        .argv = argv,
        .env = environment,
        .cwd = "/",
        .ready = READY,
        .go = GO,
        .done = DONE,
        .ready_timeout_ms = LONG_MS,
        .done_timeout_ms = LONG_MS,
        .pin_cpu = -1,
    };
}

struct run_observation world_observe(struct world *w, const struct run_observe *req)
{
    struct run_observation o;
    struct err e = {0};

    if (run_observe_begin(w->run, req, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(run_wait(w->run, 4 * LONG_MS), 0);
    assert_int_equal(run_observe_finish(w->run, &w->arena, &o, &e), 0);
    return o;
}

struct run_exec world_exec_request(struct world *w, const char *const *argv)
{
    return (struct run_exec){
        .argv = argv,
        .env = environment,
        .cwd = w->folder,
        .log_path = world_path(w, "log"),
        .log_limit_bytes = 1 << 20,
        .timeout_ms = LONG_MS,
    };
}

struct run_exec_result world_exec(struct world *w, const struct run_exec *req)
{
    struct run_exec_result r;
    struct err e = {0};

    if (run_exec_begin(w->run, req, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(run_wait(w->run, 4 * LONG_MS), 0);
    assert_int_equal(run_exec_finish(w->run, &r, &e), 0);
    return r;
}
