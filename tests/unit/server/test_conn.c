/* Connections with a scripted api behind them: when requests are taken, when a peer is waited for,
 * when it is given up. What takes hours or gigabytes with a whole daemon takes a moment here. */
#include "unit/unit.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "server/conn.h"
#include "server/server.h"

#define MIB ((size_t)1 << 20)
#define SESSIONS_MAX 160
#define PATIENCE_NS (60 * 1000000000ULL)

/* ---- the api: answers each line as it is told, and counts */

struct api_session {
    struct api_peer peer;
    bool busy, watches, closed;
    size_t lines, bad_lines, flushes;
    char bad_code[sizeof((struct err *)0)->code];
    size_t answer_bytes; /* for each line */
};

static struct api_session sessions[SESSIONS_MAX];
static size_t n_sessions;

static void send_bytes(struct api_session *s, size_t n)
{
    char *data = mem_alloc(n);

    memset(data, 'a', n);
    s->peer.send(s->peer.conn, data, n);
    free(data);
}

struct api_session *api_session_open(struct api *api, const struct api_peer *peer)
{
    assert_true(n_sessions < SESSIONS_MAX);
    sessions[n_sessions] = (struct api_session){.peer = *peer, .answer_bytes = 1};
    return &sessions[n_sessions++];
}

void api_session_line(struct api_session *s, const char *line, size_t len)
{
    assert_false(s->busy);
    assert_false(s->closed);
    s->lines++;
    s->busy = len == 4 && memcmp(line, "work", 4) == 0;
    if (!s->busy)
        send_bytes(s, s->answer_bytes);
}

void api_session_bad_line(struct api_session *s, const struct err *e)
{
    (void)snprintf(s->bad_code, sizeof s->bad_code, "%s", e->code);
    s->bad_lines++;
}

void api_session_settle(struct api_session *s)
{
    (void)s;
}

void api_session_flush(struct api_session *s)
{
    assert_false(s->closed);
    s->flushes++;
}

bool api_session_busy(const struct api_session *s)
{
    return s->busy;
}

bool api_session_watches(const struct api_session *s)
{
    return s->watches;
}

void api_session_close(struct api_session *s)
{
    assert_false(s->closed);
    s->closed = true;
}

/* ---- the server and its clients, all on this thread */

struct fixture {
    uv_loop_t loop;
    struct server *server;
    char *folder, *path;
};

static int begin(void **state)
{
    struct fixture *f = mem_alloc(sizeof *f);
    struct err e = {0};

    n_sessions = 0;
    f->folder = unit_folder();
    f->path = mem_printf("%s/s", f->folder);
    assert_int_equal(uv_loop_init(&f->loop), 0);
    f->server = server_new(&f->loop, NULL);
    assert_int_equal(server_listen(f->server, f->path, &e), 0);
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;

    server_close(f->server);
    (void)uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    for (size_t i = 0; i < n_sessions; i++)
        assert_true(sessions[i].closed);
    assert_int_equal(access(f->path, F_OK), -1);
    assert_int_equal(rmdir(f->folder), 0);
    free(f->folder);
    free(f->path);
    free(f);
    return 0;
}

/* Runs the loop until it has nothing to do for the moment. */
static void settle(struct fixture *f)
{
    for (int i = 0; i < 50; i++)
        (void)uv_run(&f->loop, UV_RUN_NOWAIT);
}

static int dial(struct fixture *f)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    size_t before = n_sessions;

    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", f->path);
    assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof addr), 0);
    for (uint64_t until = uv_hrtime() + PATIENCE_NS; n_sessions == before;) {
        assert_true(uv_hrtime() < until);
        (void)uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Bytes that come until want are there, or the end (or a reset) does; *ended tells which. */
static size_t hear(struct fixture *f, int fd, size_t want, bool *ended)
{
    static char chunk[65536];
    size_t got = 0;

    *ended = false;
    for (uint64_t until = uv_hrtime() + PATIENCE_NS; got < want && !*ended;) {
        assert_true(uv_hrtime() < until);
        (void)uv_run(&f->loop, UV_RUN_NOWAIT);
        ssize_t n = recv(fd, chunk, sizeof chunk, MSG_DONTWAIT);
        if (n > 0)
            got += (size_t)n;
        *ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    }
    return got;
}

/* ---- tests */

static void more_than_may_wait_for_a_peer_ends_it_and_no_other(void **state)
{
    struct fixture *f = *state;
    int deaf = dial(f), other = dial(f);
    bool ended;

    for (int i = 0; i < 4; i++)
        send_bytes(&sessions[0], MIB);
    settle(f);
    assert_false(sessions[0].closed); /* what it may have waiting */
    for (int i = 0; i < 3; i++)
        send_bytes(&sessions[0], MIB);
    settle(f);
    assert_true(sessions[0].closed);
    (void)hear(f, deaf, SIZE_MAX, &ended);
    assert_true(ended);
    say(other, "line\n");
    assert_int_equal(hear(f, other, 1, &ended), 1);
    (void)close(deaf);
    (void)close(other);
}

static void a_peer_that_does_not_read_its_answers_is_not_read_from(void **state)
{
    struct fixture *f = *state;
    int fd = dial(f);
    bool ended;

    sessions[0].answer_bytes = MIB;
    for (int i = 0; i < 10; i++)
        say(fd, "line\n");
    settle(f);
    assert_in_range(sessions[0].lines, 1, 3);
    assert_false(sessions[0].closed);
    assert_int_equal(hear(f, fd, 10 * MIB, &ended), 10 * MIB);
    assert_int_equal(sessions[0].lines, 10);
    (void)close(fd);
}

static void while_one_request_is_worked_on_the_next_is_kept_back(void **state)
{
    struct fixture *f = *state;
    int fd = dial(f);
    bool ended;

    say(fd, "work\nline\nline\n");
    settle(f);
    assert_int_equal(sessions[0].lines, 1);
    sessions[0].busy = false;
    send_bytes(&sessions[0], 1);
    sessions[0].peer.idle(sessions[0].peer.conn);
    assert_int_equal(hear(f, fd, 3, &ended), 3);
    assert_int_equal(sessions[0].lines, 3);
    (void)close(fd);
}

static void a_half_closed_peer_is_answered_and_then_let_go(void **state)
{
    struct fixture *f = *state;
    int fd = dial(f);
    bool ended;

    say(fd, "line\nwork\nline\nhalf a line");
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    settle(f);
    assert_false(sessions[0].closed);
    sessions[0].busy = false;
    sessions[0].peer.idle(sessions[0].peer.conn);
    assert_int_equal(hear(f, fd, SIZE_MAX, &ended), 2);
    assert_true(ended);
    assert_int_equal(sessions[0].lines, 3);
    (void)close(fd);
}

static void a_half_closed_peer_that_watches_stays_until_it_does_not(void **state)
{
    struct fixture *f = *state;
    int fd = dial(f);
    bool ended;

    sessions[0].watches = true;
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    settle(f);
    assert_false(sessions[0].closed);
    sessions[0].watches = false;
    send_bytes(&sessions[0], 5); /* the last notification */
    assert_int_equal(hear(f, fd, SIZE_MAX, &ended), 5);
    assert_true(ended);
    (void)close(fd);
}

static void a_watcher_that_is_gone_altogether_is_let_go(void **state)
{
    struct fixture *f = *state;
    int fd = dial(f);

    sessions[0].watches = true;
    settle(f);
    assert_false(sessions[0].closed);
    (void)close(fd);
    settle(f);
    assert_true(sessions[0].closed);
}

static void what_was_held_back_is_sent_when_the_peer_reads_on(void **state)
{
    struct fixture *f = *state;
    int fd = dial(f);
    bool ended;

    send_bytes(&sessions[0], MIB);
    sessions[0].flushes = 0;
    settle(f);
    assert_int_equal(sessions[0].flushes, 0);
    assert_true(sessions[0].peer.unwritten(sessions[0].peer.conn) > 0);
    assert_int_equal(hear(f, fd, MIB, &ended), MIB);
    settle(f);
    assert_true(sessions[0].flushes > 0);
    assert_int_equal(sessions[0].peer.unwritten(sessions[0].peer.conn), 0);
    (void)close(fd);
}

static void a_half_closed_watcher_that_leaves_later_is_missed_by_itself(void **state)
{
    struct fixture *f = *state;
    int gone = dial(f), stays = dial(f);

    sessions[0].watches = sessions[1].watches = true;
    assert_int_equal(shutdown(gone, SHUT_WR), 0);
    assert_int_equal(shutdown(stays, SHUT_WR), 0);
    settle(f);
    (void)close(gone);
    for (uint64_t until = uv_hrtime() + PATIENCE_NS; !sessions[0].closed;) {
        assert_true(uv_hrtime() < until);
        (void)uv_run(&f->loop, UV_RUN_ONCE);
    }
    assert_false(sessions[1].closed);
    (void)close(stays);
}

static void a_line_without_end_is_told_once(void **state)
{
    struct fixture *f = *state;
    int fd = dial(f);
    char *much = mem_alloc(65536);
    bool ended;

    memset(much, 'x', 65536);
    for (size_t sent = 0; sent < 4 * MIB;) {
        ssize_t n = send(fd, much, 65536, MSG_DONTWAIT | MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
        (void)uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    settle(f);
    say(fd, "\nline\n");
    assert_int_equal(hear(f, fd, 1, &ended), 1);
    assert_int_equal(sessions[0].bad_lines, 1);
    assert_string_equal(sessions[0].bad_code, "rpc.too_long");
    assert_int_equal(sessions[0].lines, 1);
    free(much);
    (void)close(fd);
}

/* Bytes that were taken before the connection broke. */
static size_t pour(struct fixture *f, int fd, size_t most)
{
    static char much[65536];
    size_t sent = 0;

    memset(much, 'x', sizeof much);
    while (sent < most) {
        size_t piece = most - sent < sizeof much ? most - sent : sizeof much;
        ssize_t n = send(fd, much, piece, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            break;
        sent += n > 0 ? (size_t)n : 0;
        (void)uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    return sent;
}

static void who_sends_a_line_without_any_end_is_closed(void **state)
{
    struct fixture *f = *state;
    int fd = dial(f);
    size_t sent = pour(f, fd, 1024 * MIB);

    assert_in_range(sent, 16 * MIB, 20 * MIB);
    settle(f);
    assert_true(sessions[0].closed);
    assert_int_equal(sessions[0].bad_lines, 1);
    (void)close(fd);
}

static void what_all_hold_together_is_bounded_and_who_holds_little_is_spared(void **state)
{
    enum { BIG = 140 };
    struct fixture *f = *state;
    int small = dial(f), big[BIG];
    size_t closed = 0;
    bool ended;

    say(small, "li");
    for (size_t i = 0; i < BIG; i++) {
        big[i] = dial(f);
        (void)pour(f, big[i], MIB - 1);
    }
    settle(f);
    for (size_t i = 1; i <= BIG; i++)
        if (sessions[i].closed) {
            closed++;
            assert_string_equal(sessions[i].bad_code, "daemon.busy");
        }
    assert_in_range(closed, BIG - CONN_HELD_MAX / MIB - 1, BIG - CONN_HELD_MAX / MIB + 1);
    say(small, "ne\n");
    assert_int_equal(hear(f, small, 1, &ended), 1);
    for (size_t i = 0; i < BIG; i++)
        (void)close(big[i]);
    settle(f);
    int again = dial(f); /* and all is free again */
    (void)pour(f, again, MIB - 1);
    say(again, "\n");
    assert_int_equal(hear(f, again, 1, &ended), 1);
    (void)close(again);
    (void)close(small);
}

/* ---- descriptors */

static int limit_descriptors(rlim_t n, struct rlimit *old)
{
    struct rlimit now;

    if (getrlimit(RLIMIT_NOFILE, old) < 0)
        return -1;
    now = *old;
    now.rlim_cur = n;
    return setrlimit(RLIMIT_NOFILE, &now);
}

static void without_a_descriptor_left_who_knocks_waits_and_the_loop_sleeps(void **state)
{
    struct fixture *f = *state;
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int first = dial(f), waits = socket(AF_UNIX, SOCK_STREAM, 0);
    struct rlimit old;
    bool ended;

    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", f->path);
    assert_int_equal(limit_descriptors((rlim_t)waits + 1, &old), 0);
    assert_int_equal(connect(waits, (struct sockaddr *)&addr, sizeof addr), 0);
    settle(f);
    assert_int_equal(n_sessions, 1);
    assert_true(uv_backend_timeout(&f->loop) > 0); /* nothing to do until the next try */
    say(first, "line\n");
    assert_int_equal(hear(f, first, 1, &ended), 1);
    (void)close(first); /* its descriptor at the other end is the one that was missing */
    say(waits, "line\n");
    assert_int_equal(hear(f, waits, 1, &ended), 1);
    assert_int_equal(n_sessions, 2);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    (void)close(waits);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(more_than_may_wait_for_a_peer_ends_it_and_no_other),
        TEST(a_peer_that_does_not_read_its_answers_is_not_read_from),
        TEST(while_one_request_is_worked_on_the_next_is_kept_back),
        TEST(a_half_closed_peer_is_answered_and_then_let_go),
        TEST(a_half_closed_peer_that_watches_stays_until_it_does_not),
        TEST(a_watcher_that_is_gone_altogether_is_let_go),
        TEST(what_was_held_back_is_sent_when_the_peer_reads_on),
        TEST(a_half_closed_watcher_that_leaves_later_is_missed_by_itself),
        TEST(a_line_without_end_is_told_once),
        TEST(who_sends_a_line_without_any_end_is_closed),
        TEST(what_all_hold_together_is_bounded_and_who_holds_little_is_spared),
        TEST(without_a_descriptor_left_who_knocks_waits_and_the_loop_sleeps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
