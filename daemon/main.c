/* aurabenchd: arguments and the environment's defaults; the rest is daemon.c. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/check.h"
#include "daemon/daemon.h"
#include "daemon/notify.h"
#include "daemon/paths.h"
#include "proto/form/duration.h"

static const char HELP[] =
    "usage: aurabenchd [--state DIR] [--socket PATH] [--log LEVEL]\n"
    "       aurabenchd --check [--state DIR]\n"
    "\n"
    "The measurement daemon of this host. It keeps its queue, observations and evidence in the\n"
    "state folder and listens on a Unix socket for aurabench.\n"
    "\n"
    "  --state DIR     state folder (default: $STATE_DIRECTORY, else ~/.local/state/aurabench)\n"
    "  --socket PATH   socket (default: $AURABENCH_SOCKET, else $XDG_RUNTIME_DIR/aurabench/sock,\n"
    "                  else /run/aurabench/sock)\n"
    "  --runner PATH   aurabench-runner (default: beside aurabenchd)\n"
    "  --log LEVEL     error, warning, info or debug (default: info)\n"
    "  --notify-job COMMAND, --notify-empty COMMAND\n"
    "                  told of each job's end, and of an empty queue: a program, or\n"
    "                  [\"PROGRAM\", \"ARG\"]\n"
    "  --no-calibration\n"
    "                  do not calibrate by itself once a boot; aurabench calibrate still does\n"
    "  --fake-host DIR a scripted host instead of this one, for tests\n"
    "  --listen-every DURATION\n"
    "                  how long a timed interval keeps clients waiting, for tests (5s)\n"
    "  --host-root DIR read DIR/proc and DIR/sys instead of /proc and /sys, for tests\n"
    "  --check         look the state folder over while no daemon uses it, change nothing, and\n"
    "                  end with status 0, or 1 when something is wrong\n"
    "  --version, --help\n";

enum {
    OPT_STATE = 1,
    OPT_SOCKET,
    OPT_RUNNER,
    OPT_LOG,
    OPT_NOTIFY_JOB,
    OPT_NOTIFY_EMPTY,
    OPT_NO_CALIBRATION,
    OPT_FAKE,
    OPT_LISTEN,
    OPT_ROOT,
    OPT_CHECK,
    OPT_VERSION,
    OPT_HELP
};

static const struct option OPTIONS[] = {
    {"state", required_argument, NULL, OPT_STATE},
    {"socket", required_argument, NULL, OPT_SOCKET},
    {"runner", required_argument, NULL, OPT_RUNNER},
    {"log", required_argument, NULL, OPT_LOG},
    {"notify-job", required_argument, NULL, OPT_NOTIFY_JOB},
    {"notify-empty", required_argument, NULL, OPT_NOTIFY_EMPTY},
    {"no-calibration", no_argument, NULL, OPT_NO_CALIBRATION},
    {"fake-host", required_argument, NULL, OPT_FAKE},
    {"listen-every", required_argument, NULL, OPT_LISTEN},
    {"host-root", required_argument, NULL, OPT_ROOT},
    {"check", no_argument, NULL, OPT_CHECK},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static int log_level_parse(const char *word)
{
    static const char *const words[] = {"error", "warning", "info", "debug"};

    for (int i = 0; i < (int)ARRAY_LEN(words); i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* 0: go on; 1: answered; 2: usage. */
static int read_options(int argc, char **argv, struct daemon_options *o)
{
    const char *bad = NULL;
    int level = LOG_INFO, opt;

    while ((opt = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
        switch (opt) {
        case OPT_STATE:
            o->state_dir = optarg;
            break;
        case OPT_SOCKET:
            o->socket_path = optarg;
            break;
        case OPT_RUNNER:
            o->runner_path = optarg;
            break;
        case OPT_LOG:
            level = log_level_parse(optarg);
            bad = level < 0 ? "the log level" : bad;
            break;
        case OPT_NOTIFY_JOB:
            o->notify_job = optarg;
            break;
        case OPT_NOTIFY_EMPTY:
            o->notify_empty = optarg;
            break;
        case OPT_NO_CALIBRATION:
            o->no_calibration = true;
            break;
        case OPT_FAKE:
            o->fake_host = optarg;
            break;
        case OPT_LISTEN:
            bad = duration_parse(optarg, &o->listen_every_ms) ? bad : "--listen-every";
            break;
        case OPT_ROOT:
            o->host_root = optarg;
            break;
        case OPT_CHECK:
            o->check = true;
            break;
        case OPT_VERSION:
            (void)printf("aurabenchd %s\n", AURABENCH_VERSION);
            return 1;
        case OPT_HELP:
            (void)fputs(HELP, stdout);
            return 1;
        default:
            return 2;
        }
    }
    if (optind < argc || bad) {
        (void)fprintf(stderr, "aurabenchd: %s is not understood; see aurabenchd --help\n",
                      bad ? bad : argv[optind]);
        return 2;
    }
    log_init((enum log_level)level);
    return 0;
}

/* A daemon's descriptors 0 to 2 must be open: what opens next would take their place. */
static void open_standard_streams(void)
{
    int fd;

    do
        fd = open_null();
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        (void)close(fd);
}

static int look_over(const char *given, struct err *e)
{
    CLEANUP(mem_freep) char *state = paths_state(given, e);
    int rc = state ? check_run(state, e) : -ENOENT;

    if (rc < 0)
        (void)fprintf(stderr, "aurabenchd: %s\n", e->text);
    return rc ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct daemon_options options = {.host_root = "", .listen_fd = -1};
    struct err e = {0};

    open_standard_streams();
    int rc = read_options(argc, argv, &options);
    if (rc > 0)
        return rc == 1 ? 0 : 2;
    if (options.check)
        return look_over(options.state_dir, &e);
    rc = notify_take(&options.listen_fd, &e);
    CLEANUP(mem_freep) char *state = paths_state(options.state_dir, &e);
    CLEANUP(mem_freep) char *socket_path = paths_socket(options.socket_path);
    CLEANUP(mem_freep) char *runner = paths_runner(options.runner_path, &e);
    if (rc < 0 || !state || !runner) {
        (void)fprintf(stderr, "aurabenchd: %s\n", e.text);
        return 1;
    }
    options.state_dir = state;
    options.socket_path = socket_path;
    options.runner_path = runner;
    rc = daemon_run(&options, &e);
    if (rc < 0) {
        (void)fprintf(stderr, "aurabenchd: %s\n", err_is_set(&e) ? e.text : strerror(-rc));
        return 1;
    }
    return 0;
}
