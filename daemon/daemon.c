#include "daemon/daemon.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "api/api.h"
#include "base/files.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rest.h"
#include "daemon/notify.h"
#include "proto/doc/doc_notify.h"
#include "sched/sched.h"
#include "server/server.h"
#include "store/hooks.h"

/* A scripted host may have its clock moved at any time. */
#define FAKE_POLL_MS 100
/* After something happened; at most so often what it needed is given back. */
#define REST_MS 10000

struct daemon {
    const struct daemon_options *options;
    uv_loop_t loop;
    int lock_fd;
    struct key *key; /* signs what this host seals */
    struct store *store;
    struct source_store *sources;
    struct host_probe *probe;
    struct sched *sched;
    struct api *api;
    struct arena arena; /* what hooks are made of */
    struct notify notify_job, notify_empty;
    struct store_host_hooks hooks;
    struct server *server;
    uv_signal_t signals[2];
    size_t n_signals;
    bool stopping;
    uv_check_t activity;
    uv_timer_t rest;
    bool rests;
};

/* Who can put another folder, key or link into it decides what the daemon runs and signs. */
static int check_state(const char *path, struct err *e)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return err_sys(e, -errno, "open", path);
    if (st.st_uid != geteuid())
        return err_set(e, -EPERM, "daemon.state_unsafe", "--state",
                       "%s belongs to user %lu, not to the user of aurabenchd; name a folder of "
                       "its own",
                       path, (unsigned long)st.st_uid);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return err_set(e, -EPERM, "daemon.state_unsafe", "--state",
                       "%s may be written by others than its owner: say `chmod go-w` after making "
                       "sure that nobody did",
                       path);
    return 0;
}

static int lock_state(struct daemon *d, struct err *e)
{
    CLEANUP(mem_freep) char *path = file_join(d->options->state_dir, "lock");
    struct err inner = {0};

    int rc = file_mkdirs(d->options->state_dir, 0700, e);
    if (rc == 0)
        rc = check_state(d->options->state_dir, e);
    if (rc < 0)
        return rc;
    rc = file_lock(path, &d->lock_fd, &inner);
    if (rc == -EWOULDBLOCK)
        return err_set(e, rc, "daemon.state_locked", "--state",
                       "another aurabenchd uses %s; stop it or name another folder",
                       d->options->state_dir);
    return rc < 0 ? err_set(e, rc, inner.code, inner.field, "%s", inner.text) : 0;
}

/* Of a folder that has its key a daemon was in use: an empty file there is not the beginning of a
 * database but the end of one. */
static int check_not_emptied(const char *state_dir, const char *path, struct err *e)
{
    CLEANUP(mem_freep) char *key = file_join(state_dir, "host.key");
    struct stat st;

    if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > 0 || !file_exists(key))
        return 0;
    return err_set(e, -EBADMSG, "store.corrupt", "",
                   "%s is empty, and was not: restore it from a backup, or remove it to begin with "
                   "an empty one",
                   path);
}

static int open_store(struct daemon *d, struct err *e)
{
    CLEANUP(mem_freep) char *path = file_join(d->options->state_dir, "aurabench.db");

    int rc = check_not_emptied(d->options->state_dir, path, e);
    if (rc == 0)
        rc = store_open(path, &d->store, e);
    if (rc == 0)
        rc = source_store_new(d->options->state_dir, &d->sources, e);
    return rc;
}

static int load_key(struct daemon *d, struct err *e)
{
    CLEANUP(mem_freep) char *path = mem_printf("%s/host.key", d->options->state_dir);
    CLEANUP(mem_freep) char *public_path = mem_printf("%s/host.pub", d->options->state_dir);

    return key_load(path, public_path, &d->key, e);
}

static int open_probe(struct daemon *d, struct err *e)
{
    const struct daemon_options *o = d->options;

    return o->fake_host ? host_probe_new_fake(o->fake_host, &d->probe, e)
                        : host_probe_new_system(o->host_root, &d->probe, e);
}

static int take_hook(struct daemon *d, const char *option, const char *text, struct notify *out,
                     const struct notify **hook, struct err *e)
{
    int rc = text ? notify_from_text(&d->arena, option, text, out, e) : 0;

    if (text && rc == 0)
        rc = sched_check_hook(out->command.v[0], "usage", option, e);
    *hook = text && rc == 0 ? out : NULL;
    return rc;
}

static int set_hooks(struct daemon *d, struct err *e)
{
    const struct daemon_options *o = d->options;
    struct host_identity host;
    int rc = host_probe_identity(d->probe, &d->arena, &host, e);

    if (rc == 0)
        rc = take_hook(d, "--notify-job", o->notify_job, &d->notify_job, &d->hooks.job_ended, e);
    if (rc == 0)
        rc = take_hook(d, "--notify-empty", o->notify_empty, &d->notify_empty,
                       &d->hooks.queue_empty, e);
    if (rc < 0)
        return rc;
    d->hooks.host = host.name;
    store_set_host_hooks(d->store, &d->hooks);
    return 0;
}

static int build_graph(struct daemon *d, struct err *e)
{
    const struct daemon_options *o = d->options;

    int rc = lock_state(d, e);
    if (rc == 0)
        rc = file_sweep(o->state_dir, e);
    if (rc == 0)
        rc = open_store(d, e);
    if (rc == 0)
        rc = load_key(d, e);
    if (rc == 0)
        rc = open_probe(d, e);
    if (rc == 0)
        rc = set_hooks(d, e);
    if (rc < 0)
        return rc;
    const struct sched_config sched = {.state_dir = o->state_dir,
                                       .runner_path = o->runner_path,
                                       .store = d->store,
                                       .probe = d->probe,
                                       .sources = d->sources,
                                       .key = d->key,
                                       .poll_max_ms = o->fake_host ? FAKE_POLL_MS : 0,
                                       .calibrates = !o->no_calibration,
                                       .listen_every_ms = o->listen_every_ms};
    rc = sched_new(&d->loop, &sched, &d->sched, e);
    if (rc < 0)
        return rc;
    const struct api_config api = {.loop = &d->loop,
                                   .sched = d->sched,
                                   .store = d->store,
                                   .sources = d->sources,
                                   .probe = d->probe,
                                   .host_key = key_public(d->key),
                                   .state_dir = o->state_dir,
                                   .uploads_dir = source_uploads_dir(d->sources)};
    return api_new(&api, &d->api, e);
}

/* ---- rest */

static void on_rest(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    struct sched_event running;

    if (!sched_active(d->sched, &running))
        rest_give_back();
}

/* The loop has come round: something happened. The timer's own end is none, or it would never end.
 */
static void on_activity(uv_check_t *check)
{
    struct daemon *d = check->data;

    if (!uv_is_active((uv_handle_t *)&d->rest) && !d->stopping)
        (void)uv_timer_start(&d->rest, on_rest, REST_MS, 0);
}

static int watch_activity(struct daemon *d)
{
    int rc = uv_check_init(&d->loop, &d->activity);

    if (rc < 0)
        return rc;
    (void)uv_timer_init(&d->loop, &d->rest);
    d->rests = true;
    d->activity.data = d->rest.data = d;
    uv_unref((uv_handle_t *)&d->activity);
    uv_unref((uv_handle_t *)&d->rest);
    return uv_check_start(&d->activity, on_activity);
}

static void close_activity(struct daemon *d)
{
    if (!d->rests)
        return;
    d->rests = false;
    uv_close((uv_handle_t *)&d->activity, NULL);
    uv_close((uv_handle_t *)&d->rest, NULL);
}

/* ---- the end */

static void on_sched_stopped(void *ctx)
{
    struct daemon *d = ctx;

    server_close(d->server);
    close_activity(d);
    d->server = NULL;
    for (size_t i = 0; i < d->n_signals; i++)
        uv_close((uv_handle_t *)&d->signals[i], NULL);
    d->n_signals = 0;
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct daemon *d = handle->data;

    if (d->stopping)
        return;
    d->stopping = true;
    log_info("stopping on signal %d", number);
    notify_send("STOPPING=1");
    sched_stop(d->sched, on_sched_stopped, d);
}

static int watch_signals(struct daemon *d)
{
    static const int numbers[] = {SIGTERM, SIGINT};

    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of its write */
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        int rc = uv_signal_init(&d->loop, &d->signals[i]);
        if (rc < 0)
            return rc;
        d->signals[i].data = d;
        d->n_signals++;
        rc = uv_signal_start(&d->signals[i], on_signal, numbers[i]);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void take_down(struct daemon *d)
{
    server_close(d->server);
    close_activity(d);
    for (size_t i = 0; i < d->n_signals; i++)
        uv_close((uv_handle_t *)&d->signals[i], NULL);
    sched_free(d->sched);
    (void)uv_run(&d->loop, UV_RUN_DEFAULT);
    api_free(d->api);
    host_probe_free(d->probe);
    source_store_free(d->sources);
    store_close(d->store);
    arena_deinit(&d->arena);
    key_free(d->key);
    if (d->lock_fd >= 0)
        (void)close(d->lock_fd);
    if (uv_loop_close(&d->loop) != 0)
        log_error("a handle was left open");
}

static int make_socket_folder(const char *path, struct err *e)
{
    CLEANUP(mem_freep) char *folder = mem_strdup(path);
    char *slash = strrchr(folder, '/');

    if (!slash || slash == folder)
        return 0;
    *slash = '\0';
    return file_mkdirs(folder, 0750, e);
}

static int listen_there(struct daemon *d, struct err *e)
{
    const struct daemon_options *o = d->options;

    d->server = server_new(&d->loop, d->api);
    if (o->listen_fd >= 0)
        return server_adopt(d->server, o->listen_fd, e);
    int rc = make_socket_folder(o->socket_path, e);
    return rc < 0 ? rc : server_listen(d->server, o->socket_path, e);
}

int daemon_run(const struct daemon_options *options, struct err *e)
{
    struct daemon d = {.options = options, .lock_fd = -1};

    int rc = uv_loop_init(&d.loop);
    if (rc < 0)
        return err_sys(e, rc, "start", "the event loop");
    rc = build_graph(&d, e);
    if (rc == 0)
        rc = watch_signals(&d);
    if (rc == 0)
        rc = watch_activity(&d);
    if (rc == 0)
        rc = listen_there(&d, e);
    if (rc == 0)
        rc = sched_start(d.sched, e);
    if (rc == 0) {
        log_info("aurabenchd %s serves on %s, state in %s", AURABENCH_VERSION,
                 options->listen_fd >= 0 ? "the socket handed over" : options->socket_path,
                 options->state_dir);
        notify_send("READY=1");
        (void)uv_run(&d.loop, UV_RUN_DEFAULT);
    }
    take_down(&d);
    return rc;
}
