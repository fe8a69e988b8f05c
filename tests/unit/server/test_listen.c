/* Whose path it is: what lies at a socket's path before a daemon binds it. */
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "server/listen.h"

static int begin(void **state)
{
    *state = unit_folder();
    return 0;
}

static int end(void **state)
{
    int rc = rmdir(*state); /* each test leaves it empty */

    free(*state);
    return rc;
}

static struct sockaddr_un address(const char *path)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};

    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", path);
    return addr;
}

/* A socket of the given type, bound; with backlog -1 nobody listens. */
static int bound(const char *path, int type, int backlog)
{
    const struct sockaddr_un addr = address(path);
    int fd = socket(AF_UNIX, type, 0);

    assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof addr), 0);
    if (backlog >= 0)
        assert_int_equal(listen(fd, backlog), 0);
    return fd;
}

static int dial(const char *path)
{
    const struct sockaddr_un addr = address(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    if (connect(fd, (const struct sockaddr *)&addr, sizeof addr) == 0)
        return fd;
    int rc = -errno;
    (void)close(fd);
    return rc;
}

static void refuses(const char *path, const char *code, const char *text)
{
    struct err e = {0};
    int fd = -1;

    assert_true(listen_at(path, &fd, &e) < 0);
    assert_int_equal(fd, -1);
    assert_string_equal(e.code, code);
    assert_string_equal(e.field, "--socket");
    assert_non_null(strstr(e.text, text));
}

static void a_path_is_bound_for_user_and_group_and_then_taken(void **state)
{
    CLEANUP(mem_freep) char *path = mem_printf("%s/s", (char *)*state);
    struct err e = {0};
    struct stat st;
    int fd = -1;

    assert_int_equal(listen_at(path, &fd, &e), 0);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 07777, 0660);
    refuses(path, "daemon.socket_busy", "another daemon answers");
    int client = dial(path);
    assert_true(client >= 0);
    (void)close(client);
    (void)close(fd);
    assert_int_equal(unlink(path), 0);
}

static void what_is_no_socket_is_refused_and_stays(void **state)
{
    CLEANUP(mem_freep) char *file = mem_printf("%s/file", (char *)*state);
    CLEANUP(mem_freep) char *link = mem_printf("%s/link", (char *)*state);
    CLEANUP(mem_freep) char *dangling = mem_printf("%s/dangling", (char *)*state);
    CLEANUP(mem_freep) char *folder = mem_printf("%s/folder", (char *)*state);
    CLEANUP(mem_freep) char *stale = mem_printf("%s/stale", (char *)*state);
    const char *const all[] = {file, link, dangling, folder};
    struct stat st;

    (void)close(bound(stale, SOCK_STREAM, 1));
    assert_int_equal(close(open(file, O_WRONLY | O_CREAT, 0600)), 0);
    assert_int_equal(symlink(stale, link), 0); /* even to what could be replaced */
    assert_int_equal(symlink("nothing", dangling), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        refuses(all[i], "daemon.socket_path", "is no socket");
        assert_int_equal(lstat(all[i], &st), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(unlink(file) + unlink(link) + unlink(dangling) + unlink(stale), 0);
}

static void a_daemon_too_busy_to_answer_is_not_taken_for_a_dead_one(void **state)
{
    CLEANUP(mem_freep) char *path = mem_printf("%s/busy", (char *)*state);
    int listener = bound(path, SOCK_STREAM, 0), queued[8], n = 0;

    while (n < 8 && (queued[n] = dial(path)) >= 0)
        n++;
    assert_int_equal(queued[n], -EAGAIN); /* its queue is full */
    refuses(path, "daemon.socket_busy", "another daemon answers");
    while (n > 0)
        (void)close(queued[--n]);
    (void)close(listener);
    assert_int_equal(unlink(path), 0);
}

static void a_socket_of_another_kind_is_not_ours_to_remove(void **state)
{
    CLEANUP(mem_freep) char *path = mem_printf("%s/log", (char *)*state);
    int fd = bound(path, SOCK_DGRAM, -1);

    refuses(path, "daemon.socket_path", "another kind");
    (void)close(fd);
    assert_int_equal(unlink(path), 0);
}

static void a_stale_socket_of_our_own_is_replaced(void **state)
{
    CLEANUP(mem_freep) char *path = mem_printf("%s/stale", (char *)*state);
    struct err e = {0};
    int fd = -1;

    (void)close(bound(path, SOCK_STREAM, 1));
    assert_int_equal(dial(path), -ECONNREFUSED);
    assert_int_equal(listen_at(path, &fd, &e), 0);
    int client = dial(path);
    assert_true(client >= 0);
    (void)close(client);
    (void)close(fd);
    assert_int_equal(unlink(path), 0);
}

static void a_stale_socket_of_another_user_stays(void **state)
{
    CLEANUP(mem_freep) char *path = mem_printf("%s/theirs", (char *)*state);

    if (geteuid() != 0)
        skip(); /* only root can make one */
    (void)close(bound(path, SOCK_STREAM, 1));
    assert_int_equal(lchown(path, 12345, (gid_t)-1), 0);
    refuses(path, "daemon.socket_path", "belongs to user 12345");
    assert_int_equal(unlink(path), 0);
}

static void a_path_has_103_bytes_at_most(void **state)
{
    CLEANUP(mem_freep) char *start = mem_printf("%s/", (char *)*state);
    CLEANUP(mem_freep) char *path = mem_printf("%s%0*d", start, 103 - (int)strlen(start), 0);
    CLEANUP(mem_freep) char *longer = mem_printf("%s0", path);
    struct err e = {0};
    int fd = -1;

    assert_int_equal(strlen(path), 103);
    refuses(longer, "daemon.socket_path", "has 104 bytes, at most 103 are possible");
    assert_int_equal(listen_at(path, &fd, &e), 0);
    (void)close(fd);
    assert_int_equal(unlink(path), 0);
}

/* Whoever is at looking and binding has the folder to himself, and only then. */
static void who_wants_the_path_waits_for_his_turn(void **state)
{
    CLEANUP(mem_freep) char *path = mem_printf("%s/s", (char *)*state);
    struct err e = {0};
    int fd = -1;

    int turn = open(*state, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(turn, LOCK_EX | LOCK_NB), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(listen_at(path, &fd, &e) == 0 ? 0 : 1);
    (void)usleep(200000);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(flock(turn, LOCK_UN), 0);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(flock(turn, LOCK_EX | LOCK_NB), 0); /* given back */
    (void)close(turn);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_path_is_bound_for_user_and_group_and_then_taken),
        TEST(what_is_no_socket_is_refused_and_stays),
        TEST(a_daemon_too_busy_to_answer_is_not_taken_for_a_dead_one),
        TEST(a_socket_of_another_kind_is_not_ours_to_remove),
        TEST(a_stale_socket_of_our_own_is_replaced),
        TEST(a_stale_socket_of_another_user_stays),
        TEST(a_path_has_103_bytes_at_most),
        TEST(who_wants_the_path_waits_for_his_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
