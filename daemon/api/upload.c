/* source.* and upload.*: what a client sends arrives in a file of its own, in order and bounded,
 * and is taken in only whole and with the hash that was announced. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/internal.h"
#include "base/digest.h"
#include "base/disk.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"
#include "proto/evidence/pack.h"
#include "proto/form/base64.h"

#define BUNDLE_BYTES_MAX ((int64_t)8 << 30)
#define COMMITS_MAX 64
#define TIPS_MAX 256

void api_upload_free(struct api_upload *u)
{
    if (!u)
        return;
    if (u->fd >= 0)
        (void)close(u->fd);
    if (u->path)
        (void)unlink(u->path);
    free(u->path);
    digest_free(u->digest);
    arena_deinit(&u->arena);
    free(u);
}

static int read_commits(struct api_call *c, struct args *commits)
{
    *commits = json_opt_args(&c->in, c->req.params, "commits", COMMITS_MAX);
    for (size_t i = 0; c->in.rc == 0 && i < commits->n; i++)
        if (!source_id_valid(commits->v[i]))
            return json_fail(&c->in, "commits", "source.unresolved",
                             "%.80s is no full commit id; resolve it first", commits->v[i]);
    return c->in.rc;
}

/* ---- source.missing */

struct missing {
    struct args commits;
    bool missing[COMMITS_MAX];
    const char **tips;
    size_t n_tips;
};

static int find_missing(struct api_call *c)
{
    struct missing *m = c->data;
    struct source_store *sources = c->api->config.sources;

    int rc = source_missing(sources, m->commits.v, m->commits.n, m->missing, &c->e);
    if (rc == 0)
        rc = source_tips(sources, &c->arena, TIPS_MAX, &m->tips, &m->n_tips, &c->e);
    return rc;
}

static int answer_missing(struct api_call *c)
{
    const struct missing *m = c->data;

    json_begin_array(c->o, "missing");
    for (size_t i = 0; i < m->commits.n; i++)
        if (m->missing[i])
            json_put_str(c->o, NULL, m->commits.v[i]);
    json_end_array(c->o);
    json_begin_array(c->o, "tips");
    for (size_t i = 0; i < m->n_tips; i++)
        json_put_str(c->o, NULL, m->tips[i]);
    json_end_array(c->o);
    return 0;
}

int api_source_missing(struct api_call *c)
{
    struct missing *m = arena_alloc(&c->arena, sizeof *m);
    int rc = read_commits(c, &m->commits);

    if (rc < 0)
        return rc;
    c->data = m;
    return api_defer(c, true, find_missing, answer_missing);
}

/* ---- upload.begin */

struct beginning {
    bool is_bundle, here;
    int64_t bytes;
    const char *sha256;
    struct args commits;
};

/* Of a bundle on a worker thread: git is asked. */
static int look_for(struct api_call *c)
{
    struct beginning *b = c->data;

    b->here = b->is_bundle || source_has_suite(c->api->config.sources, b->sha256);
    for (size_t i = 0; b->is_bundle && b->here && i < b->commits.n; i++)
        b->here = source_has_commit(c->api->config.sources, b->commits.v[i]);
    return 0;
}

/* Gives the upload its file and the session its upload; takes u in any case. */
static int open_upload(struct api_call *c, struct api_upload *u)
{
    char name[ULID_LEN + 1];

    ulid_new(name);
    u->path = mem_printf("%s/%s", c->api->config.uploads_dir, name);
    u->fd = disk_create(u->path, O_EXCL, 0600);
    if (u->fd < 0) {
        int rc = disk_err(&c->e, u->fd, "create", u->path);
        api_upload_free(u);
        return rc;
    }
    c->session->upload = u;
    FAULT_POINT("upload.begun");
    return 0;
}

static struct api_upload *upload_new(const struct beginning *b)
{
    struct api_upload *u = mem_alloc(sizeof *u);

    u->fd = -1;
    u->is_bundle = b->is_bundle;
    u->bytes = b->bytes;
    memcpy(u->sha256, b->sha256, DIGEST_HEX);
    u->digest = digest_new();
    u->n_commits = b->commits.n;
    u->commits = arena_array(&u->arena, b->commits.n, sizeof *u->commits);
    for (size_t i = 0; i < b->commits.n; i++)
        u->commits[i] = arena_strdup(&u->arena, b->commits.v[i]);
    return u;
}

static int answer_begin(struct api_call *c)
{
    const struct beginning *b = c->data;

    json_put_bool(c->o, "upload", !b->here);
    /* The connection may be gone by now, and nobody is there to send. */
    return b->here || !c->session ? 0 : open_upload(c, upload_new(b));
}

static int read_begin(struct api_call *c, struct beginning *b)
{
    const cJSON *params = c->req.params;
    const char *kind = json_str(&c->in, params, "kind", 16);

    b->sha256 = json_str(&c->in, params, "sha256", 64);
    b->bytes = json_int(&c->in, params, "bytes", 1, BUNDLE_BYTES_MAX);
    if (c->in.rc < 0)
        return c->in.rc;
    b->is_bundle = strcmp(kind, "bundle") == 0;
    if (!b->is_bundle && strcmp(kind, "suite") != 0)
        return json_fail(&c->in, "kind", "upload.kind", "kind must be \"bundle\" or \"suite\"");
    if (!digest_valid(b->sha256))
        return json_fail(&c->in, "sha256", "json.value", "sha256 must be 64 lower-case hex digits");
    if (!b->is_bundle && b->bytes > (int64_t)PACK_BYTES_MAX)
        return json_fail(&c->in, "bytes", "suite.too_large",
                         "a suite may have at most %zu bytes; leave out what is not needed",
                         PACK_BYTES_MAX);
    return read_commits(c, &b->commits);
}

int api_upload_begin(struct api_call *c)
{
    struct beginning *b = arena_alloc(&c->arena, sizeof *b);
    int rc = read_begin(c, b);

    if (rc < 0)
        return rc;
    api_upload_free(MEM_STEAL(c->session->upload));
    c->data = b;
    if (b->is_bundle)
        return api_defer(c, true, look_for, answer_begin);
    (void)look_for(c);
    return answer_begin(c);
}

/* ---- upload.chunk */

static int no_upload(struct api_call *c)
{
    return err_set(&c->e, -EINVAL, "upload.none", NULL,
                   "no upload is under way on this connection; begin one with upload.begin");
}

/* Of a chunk that the disk took only in part nobody knows where to go on: all is sent again. */
static int keep_chunk(struct api_call *c, struct api_upload *u, const struct buf *data)
{
    int rc = disk_write(u->fd, data->data, data->len);

    if (rc < 0) {
        c->session->upload = NULL;
        rc = disk_err(&c->e, rc, "write", u->path);
        api_upload_free(u);
        return rc;
    }
    FAULT_POINT("upload.chunk");
    digest_add(u->digest, data->data, data->len);
    u->received += (int64_t)data->len;
    json_put_int(c->o, "received", u->received);
    return 0;
}

int api_upload_chunk(struct api_call *c)
{
    struct api_upload *u = c->session->upload;
    const char *text = json_str(&c->in, c->req.params, "data", 512 * 1024);
    int64_t at = json_int(&c->in, c->req.params, "offset", 0, BUNDLE_BYTES_MAX);
    struct buf data = {0};
    int rc = c->in.rc;

    if (rc == 0 && !u)
        rc = no_upload(c);
    if (rc == 0 && at != u->received)
        rc = json_fail(&c->in, "offset", "upload.offset", "the next chunk begins at byte %lld",
                       (long long)u->received);
    if (rc == 0 && base64_decode(text, strlen(text), &data) < 0)
        rc = json_fail(&c->in, "data", "upload.data", "data must be base 64");
    if (rc == 0 && (data.len > API_CHUNK_BYTES || u->received + (int64_t)data.len > u->bytes))
        rc = json_fail(&c->in, "data", "upload.too_much",
                       "more bytes than announced, or than a chunk may have");
    if (rc == 0)
        rc = keep_chunk(c, u, &data);
    buf_deinit(&data);
    return rc;
}

/* ---- upload.end */

static int take_in(struct api_call *c)
{
    const struct api_upload *u = c->upload;
    struct source_store *sources = c->api->config.sources;

    uv_mutex_lock(&c->api->importing);
    FAULT_POINT("upload.complete");
    int rc = u->is_bundle ? source_import_bundle(sources, u->path, u->commits, u->n_commits, &c->e)
                          : source_import_suite(sources, u->path, u->sha256, &c->e);
    uv_mutex_unlock(&c->api->importing);
    FAULT_POINT("upload.taken");
    return rc;
}

static int answer_taken(struct api_call *c)
{
    json_put_str(c->o, "sha256", c->upload->sha256);
    return 0;
}

int api_upload_end(struct api_call *c)
{
    struct api_upload *u = c->session->upload;
    char got[DIGEST_HEX];

    if (!u)
        return no_upload(c);
    c->session->upload = NULL;
    c->upload = u;
    if (u->received != u->bytes)
        return err_set(&c->e, -EINVAL, "upload.short", "bytes",
                       "%lld of %lld bytes arrived; send it again", (long long)u->received,
                       (long long)u->bytes);
    digest_finish(MEM_STEAL(u->digest), got);
    if (strcmp(got, u->sha256) != 0)
        return err_set(&c->e, -EINVAL, "upload.hash", "sha256",
                       "what arrived has another SHA-256 than announced; send it again");
    return api_defer(c, true, take_in, answer_taken);
}
