#include "base/files.h"
#include "base/mem.h"
#include "client/link/address.h"
#include "unit.h"

static int clear(void **state)
{
    (void)state;
    return unsetenv("AURABENCH_SOCKET") || unsetenv("XDG_RUNTIME_DIR");
}

static void assert_socket(const char *option, const char *want)
{
    char out[ADDRESS_SOCKET_MAX + 1];
    struct err e = {0};

    assert_int_equal(address_socket(option, out, &e), 0);
    assert_string_equal(out, want);
}

static void the_option_comes_before_the_variable_before_the_runtime_folder(void **state)
{
    (void)state;
    assert_socket(NULL, "/run/aurabench/sock");
    CLEANUP(mem_freep) char *folder = unit_folder();
    CLEANUP(mem_freep) char *own = mem_printf("%s/aurabench/sock", folder);
    CLEANUP(mem_freep) char *parent = mem_printf("%s/aurabench", folder);
    assert_int_equal(file_mkdirs(parent, 0700, NULL), 0);
    assert_int_equal(file_write(own, "", 0, 0600, NULL), 0);
    (void)setenv("XDG_RUNTIME_DIR", folder, 1);
    assert_socket(NULL, own);
    (void)setenv("AURABENCH_SOCKET", "/tmp/named", 1);
    assert_socket(NULL, "/tmp/named");
    assert_socket("/tmp/option", "/tmp/option");
    assert_int_equal(file_rmtree(folder, NULL), 0);
}

static void a_path_over_103_bytes_is_refused_and_not_cut(void **state)
{
    char path[ADDRESS_SOCKET_MAX + 2], out[ADDRESS_SOCKET_MAX + 1];
    struct err e = {0};

    (void)state;
    memset(path, 'a', sizeof path);
    path[ADDRESS_SOCKET_MAX] = '\0';
    assert_socket(path, path);
    path[ADDRESS_SOCKET_MAX] = 'a';
    path[ADDRESS_SOCKET_MAX + 1] = '\0';
    assert_true(address_socket(path, out, &e) < 0);
    assert_string_equal(e.code, "usage");
    assert_non_null(strstr(e.text, "has 104 bytes and the system takes at most 103"));
    err_clear(&e);
    assert_true(address_socket("", out, &e) < 0);
    err_clear(&e);
    (void)setenv("AURABENCH_SOCKET", path, 1);
    assert_true(address_socket(NULL, out, &e) < 0);
    assert_string_equal(e.field, "AURABENCH_SOCKET");
}

static void assert_ssh(const char *url, const char *target, const char *port)
{
    struct address_ssh to;
    struct err e = {0};

    assert_int_equal(address_ssh(url, &to, &e), 0);
    assert_string_equal(to.target, target);
    assert_string_equal(to.port, port);
}

static void a_host_has_an_optional_user_and_port(void **state)
{
    (void)state;
    assert_ssh("ssh://bench1", "bench1", "");
    assert_ssh("ssh://bench1/", "bench1", "");
    assert_ssh("ssh://a.b@host-1.example:2222", "a.b@host-1.example", "2222");
    assert_ssh("ssh://u@[fe80::1%eth0]:22", "u@fe80::1%eth0", "22");
}

static void what_ssh_could_take_for_something_else_is_refused(void **state)
{
    static const char *const bad[] = {
        "bench1",           "http://bench1",  "ssh://",        "ssh://-oProxyCommand=id",
        "ssh://-l@host",    "ssh://u@-host",  "ssh://@host",   "ssh://u@",
        "ssh://ho st",      "ssh://h;id",     "ssh://$(id)",   "ssh://host:0",
        "ssh://host:65536", "ssh://host:22x", "ssh://host:-p", "ssh://host/path",
        "ssh://[::1",       "ssh://a@b@c",    "ssh://h\nx",    "ssh://host:",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct address_ssh to;
        struct err e = {0};
        if (address_ssh(bad[i], &to, &e) == 0)
            fail_msg("%s was taken", bad[i]);
        assert_string_equal(e.code, "usage");
        assert_string_equal(e.field, "--host");
    }
}

#define TEST(f) cmocka_unit_test_setup(f, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_option_comes_before_the_variable_before_the_runtime_folder),
        TEST(a_path_over_103_bytes_is_refused_and_not_cut),
        TEST(a_host_has_an_optional_user_and_port),
        TEST(what_ssh_could_take_for_something_else_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
