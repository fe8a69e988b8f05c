/* aurabench backup: a copy of the daemon's database into a file here. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/disk.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/link/chunks.h"

struct backup {
    const char *path, *temp;
    int fd;
    int64_t bytes, done;
    char sha256[DIGEST_HEX];
};

/* What is there stays, also when it came while we were asking. */
static int exists(const char *path, struct err *e)
{
    return err_set(e, -EEXIST, "client.exists", path,
                   "%.400s is there already and is not overwritten; name another file", path);
}

static int ask(struct connection *c, struct backup *b, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    struct json_in in;
    int rc = connection_call(c, "daemon.backup", NULL, &answer, e);

    if (rc < 0)
        return rc;
    json_in_init(&in, &answer.a, e);
    b->bytes = json_int(&in, answer.msg.result, "bytes", 1, JSON_INT_MAX);
    const char *sha256 = json_str(&in, answer.msg.result, "sha256", DIGEST_HEX - 1);
    if (in.rc == 0 && !digest_valid(sha256))
        json_fail(&in, "sha256", "json.value", "sha256 must be 64 lower-case hex digits");
    rc = connection_check(&in, e);
    if (rc == 0)
        memcpy(b->sha256, sha256, DIGEST_HEX);
    return rc;
}

static int fetch_piece(struct connection *c, struct backup *b, struct digest *d, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    CLEANUP(chunk_deinit) struct chunk chunk = {0};

    buf_printf(&params, "{\"offset\":%" PRId64 "}", b->done);
    int rc = connection_call(c, "daemon.chunk", buf_str(&params), &answer, e);
    if (rc == 0)
        rc = chunk_decode(&answer, b->done, &chunk, e);
    if (rc < 0)
        return rc;
    rc = disk_write(b->fd, chunk.data.data, chunk.data.len);
    if (rc < 0)
        return disk_err(e, rc, "write", b->path);
    digest_add(d, chunk.data.data, chunk.data.len);
    b->done = chunk.next;
    if (chunk.data.len == 0 && b->done < b->bytes)
        return err_set(e, -EPROTO, "upload.short", "backup",
                       "the daemon sent %" PRId64 " of %" PRId64 " bytes; try again", b->done,
                       b->bytes);
    return 0;
}

static int fetch(struct connection *c, struct backup *b, struct err *e)
{
    struct digest *d = digest_new();
    char got[DIGEST_HEX];
    int rc = 0;

    while (rc == 0 && b->done < b->bytes)
        rc = fetch_piece(c, b, d, e);
    digest_finish(d, got);
    if (rc == 0 && strcmp(got, b->sha256) != 0)
        rc = err_set(e, -EPROTO, "upload.hash", "backup",
                     "what arrived is not what the daemon has; try again");
    if (rc == 0 && (rc = disk_sync(b->fd)) < 0)
        rc = disk_err(e, rc, "write", b->path);
    return rc;
}

/* A link, because it never replaces; where there are none, a rename. */
static int give_name(const struct backup *b, struct err *e)
{
    int rc = disk_link(b->temp, b->path);

    if (rc == -EEXIST)
        return exists(b->path, e);
    if (rc == -EPERM || rc == -EOPNOTSUPP || rc == -ENOSYS)
        return file_exists(b->path) ? exists(b->path, e) : file_rename(b->temp, b->path, e);
    return rc < 0 ? disk_err(e, rc, "create", b->path) : 0;
}

static int sync_folder(struct cli *cli, const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return file_sync_dir(".", e);
    return file_sync_dir(slash == path ? "/" : arena_strndup(&cli->a, path, (size_t)(slash - path)),
                         e);
}

static int back_up(struct cli *cli, struct backup *b, struct err *e)
{
    struct connection *c = NULL;

    if (file_exists(b->path))
        return exists(b->path, e);
    b->fd = disk_create(b->temp, O_EXCL, 0600);
    if (b->fd < 0)
        return disk_err(e, b->fd, "create", b->path);
    int rc = cli_connect(cli, &c, e);
    if (rc == 0)
        rc = ask(c, b, e);
    if (rc == 0)
        rc = fetch(c, b, e);
    connection_close(c);
    if (rc == 0)
        rc = give_name(b, e);
    (void)close(b->fd);
    (void)unlink(b->temp);
    return rc < 0 ? rc : sync_folder(cli, b->path, e);
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    struct backup b = {.path = words->words.v[0], .fd = -1};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct err e = {0};
    struct json_out o;

    (void)values;
    b.temp = arena_printf(&cli->a, "%s.tmp.%ld", b.path, (long)getpid());
    if (back_up(cli, &b, &e) < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json_begin(cli, &o, &out);
        json_put_str(&o, "file", b.path);
        json_put_int(&o, "bytes", b.bytes);
        json_put_str(&o, "sha256", b.sha256);
        cli_json_end(&o);
        return EXIT_GOOD;
    }
    buf_printf(&out, "%s: %.1f MiB, sha256 %s\n", b.path, (double)b.bytes / (1 << 20), b.sha256);
    cli_put(&out);
    return EXIT_GOOD;
}

const struct command command_backup = {
    .name = "backup",
    .usage = "FILE",
    .summary = "copy the daemon's database into a new file",
    .more =
        "Not while the host measures. Evidence folders, suites, commits and host.key are not in\n"
        "it; see \"Backup and restore\" in docs/operations.md.",
    .words_min = 1,
    .words_max = 1,
    .run = run,
};
