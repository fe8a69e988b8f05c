#include "world.h"

#include "base/digest.h"
#include "base/files.h"
#include "proto/evidence/pack.h"
#include "proto/form/base64.h"
#include "proto/wire/frame.h"

static void no_more(void *ctx)
{
    (void)ctx;
}

#define good(call)                                                                                 \
    do {                                                                                           \
        struct err e = {0};                                                                        \
        if ((call) != 0)                                                                           \
            fail_msg("%s: %s: %s", #call, e.code, e.text);                                         \
    } while (0)

static const char *below(struct world *w, const char *name)
{
    return arena_printf(&w->arena, "%s/%s", w->folder, name);
}

static void make_scheduler(struct world *w)
{
    const struct sched_config config = {.state_dir = w->folder,
                                        .runner_path = "/nowhere",
                                        .store = w->store,
                                        .probe = w->probe,
                                        .sources = w->sources,
                                        .key = w->key};

    good(sched_new(&w->loop, &config, &w->sched, &e));
    sched_stop(w->sched, no_more, NULL); /* takes no job; all else goes on */
}

static void make_api(struct world *w)
{
    const struct api_config config = {.loop = &w->loop,
                                      .sched = w->sched,
                                      .store = w->store,
                                      .sources = w->sources,
                                      .probe = w->probe,
                                      .host_key = key_public(w->key),
                                      .state_dir = w->folder,
                                      .uploads_dir = source_uploads_dir(w->sources)};

    good(api_new(&config, &w->api, &e));
}

int world_setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);

    w->folder = unit_folder();
    assert_int_equal(uv_loop_init(&w->loop), 0);
    good(key_load(below(w, "host.key"), below(w, "host.pub"), &w->key, &e));
    good(store_open(below(w, "aurabench.db"), &w->store, &e));
    good(source_store_new(w->folder, &w->sources, &e));
    good(file_mkdirs(below(w, "host"), 0755, &e));
    good(host_probe_new_fake(below(w, "host"), &w->probe, &e));
    make_scheduler(w);
    make_api(w);
    *state = w;
    return 0;
}

int world_teardown(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < w->n_peers; i++) {
        world_leave(w->peers[i]);
        buf_deinit(&w->peers[i]->sent);
        free(w->peers[i]);
    }
    rpc_message_deinit(&w->last);
    sched_free(w->sched);
    (void)uv_run(&w->loop, UV_RUN_DEFAULT);
    api_free(w->api);
    host_probe_free(w->probe);
    source_store_free(w->sources);
    store_close(w->store);
    key_free(w->key);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    good(file_rmtree(w->folder, &e));
    arena_deinit(&w->arena);
    free(w->folder);
    free(w);
    return 0;
}

/* ---- peers */

static void hear(void *conn, const char *data, size_t len)
{
    struct peer *p = conn;

    assert_true(len > 0 && data[len - 1] == '\n');
    assert_null(memchr(data, '\n', len - 1));
    assert_true(len - 1 <= FRAME_MAX);
    buf_add(&p->sent, data, len);
    p->lines++;
    p->most = len > p->most ? len : p->most;
}

static size_t unwritten(void *conn)
{
    return ((struct peer *)conn)->unwritten;
}

static void idle(void *conn)
{
    ((struct peer *)conn)->idles++;
}

struct peer *world_peer(struct world *w)
{
    struct peer *p = mem_alloc(sizeof *p);
    const struct api_peer peer = {
        .conn = p, .uid = 1000, .send = hear, .unwritten = unwritten, .idle = idle};

    assert_true(w->n_peers < ARRAY_LEN(w->peers));
    w->peers[w->n_peers++] = p;
    p->s = api_session_open(w->api, &peer);
    assert_int_equal(p->lines, 1); /* the hello */
    return p;
}

void world_leave(struct peer *p)
{
    if (p->s)
        api_session_close(p->s);
    p->s = NULL;
}

/* ---- questions */

static void say(struct peer *p, const char *line)
{
    assert_false(api_session_busy(p->s));
    buf_clear(&p->sent);
    p->lines = 0;
    api_session_line(p->s, line, strlen(line));
    api_session_settle(p->s); /* nothing else has come with it */
}

const struct rpc_message *world_wait(struct world *w, struct peer *p)
{
    struct err e = {0};

    while (api_session_busy(p->s))
        (void)uv_run(&w->loop, UV_RUN_ONCE);
    assert_true(p->lines > 0);
    const char *start = p->sent.data + p->sent.len - 1;
    while (start > p->sent.data && start[-1] != '\n')
        start--;
    rpc_message_deinit(&w->last);
    if (rpc_message_decode(&w->arena, start, (size_t)(p->sent.data + p->sent.len - 1 - start),
                           &w->last, &e) < 0)
        fail_msg("%s: %s", e.text, start);
    return &w->last;
}

const struct rpc_message *world_say(struct world *w, struct peer *p, const char *line)
{
    say(p, line);
    return world_wait(w, p);
}

void world_begin(struct world *w, struct peer *p, const char *method, const char *params)
{
    say(p, arena_printf(&w->arena, "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"method\":\"%s\"%s%s}",
                        (long long)++w->last_id, method, params ? ",\"params\":" : "",
                        params ? params : ""));
}

const struct rpc_message *world_call(struct world *w, struct peer *p, const char *method,
                                     const char *params)
{
    world_begin(w, p, method, params);
    const struct rpc_message *m = world_wait(w, p);
    assert_int_equal(p->lines, 1); /* one answer to one question */
    assert_int_equal(m->id, w->last_id);
    return m;
}

const cJSON *world_result(struct world *w, struct peer *p, const char *method, const char *params)
{
    const struct rpc_message *m = world_call(w, p, method, params);

    if (m->kind != RPC_RESULT)
        fail_msg("%s %s: %s %s: %s", method, params ? params : "", m->error.code, m->error.field,
                 m->error.text);
    return m->result;
}

void world_refused(struct world *w, struct peer *p, const char *method, const char *params,
                   const char *code, const char *field)
{
    const struct rpc_message *m = world_call(w, p, method, params);

    if (m->kind != RPC_ERROR)
        fail_msg("%s %s was accepted", method, params ? params : "");
    if (strcmp(m->error.code, code) != 0 || strcmp(m->error.field, field) != 0)
        fail_msg("%s %.200s: %s at %s, not %s at %s: %s", method, params ? params : "",
                 m->error.code, m->error.field, code, field, m->error.text);
    assert_true(strlen(m->error.text) > 10);
    assert_null(strchr(m->error.text, '\n'));
}

/* ---- jobs */

static const char SUITE[] =
    "{\"schema\":\"aurabench.suite.v1\",\"name\":\"tiny\",\"workloads\":[{\"name\":\"w\","
    "\"measure\":\"process\",\"lanes\":{\"l\":{\"command\":[\"true\"]}}}]}";

const char *world_suite(struct world *w, struct peer *p)
{
    struct pack_entry entry = {.path = "suite.json", .data = SUITE, .len = sizeof SUITE - 1};
    CLEANUP(buf_deinit) struct buf pack = {0}, text = {0};
    char sha256[DIGEST_HEX];

    good(pack_write(&entry, 1, &pack, &e));
    digest_bytes(pack.data, pack.len, sha256);
    base64_encode(&text, pack.data, pack.len);
    (void)world_result(w, p, "upload.begin",
                       arena_printf(&w->arena,
                                    "{\"kind\":\"suite\",\"bytes\":%zu,\"sha256\":\"%s\"}",
                                    pack.len, sha256));
    (void)world_result(w, p, "upload.chunk",
                       arena_printf(&w->arena, "{\"offset\":0,\"data\":\"%s\"}", buf_str(&text)));
    (void)world_result(w, p, "upload.end", NULL);
    return arena_strdup(&w->arena, sha256);
}

const char *world_id(struct world *w, int number)
{
    return arena_printf(&w->arena, "01HZ%022d", number);
}

const char *world_job(struct world *w, const char *suite, int number, const char *more)
{
    return arena_printf(&w->arena,
                        "{\"schema\":\"aurabench.job.v1\",\"id\":\"%s\",\"suite\":{\"name\":"
                        "\"tiny\",\"sha256\":\"%s\"}%s}",
                        world_id(w, number), suite, more ? more : "");
}

const char *world_stored(struct world *w, int number, const char *document)
{
    const struct store_new_job job = {.id = world_id(w, number),
                                      .document = document,
                                      .policy = "{\"name\":\"standard\"}",
                                      .peer_uid = 1000,
                                      .wall_ms = number};

    good(store_job_submit(w->store, &job, NULL, &e));
    return job.id;
}

void world_boot(struct world *w)
{
    const struct host_identity host = {.id = "host", .name = "bench", .cores = 2};
    const struct boot_identity boot = {.id = WORLD_BOOT, .boot_wall_ms = 1000};

    good(store_boot_put(w->store, &host, &boot, 1, &e));
}
