/* Texts that are fetched in pieces.
 *
 * Rendering is work, so what was rendered for one question is kept until its last piece has been
 * fetched, its connection ends, or others need the room: at most TEXTS_MAX of them and
 * TEXTS_BYTES_MAX together, the longest unused going first. What is gone is rendered anew; the hash
 * of the whole, in each answer, tells the peer when its pieces are not of one text.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/internal.h"
#include "base/mem.h"
#include "proto/form/base64.h"

#define TEXTS_MAX 8
#define TEXTS_BYTES_MAX ((size_t)64 << 20)

struct kept_text {
    struct kept_text *next; /* used before this one */
    const struct api_session *session;
    char *key;
    struct buf text;
    char sha256[DIGEST_HEX];
};

/* ---- what is kept */

static void drop(struct kept_text **at)
{
    struct kept_text *t = *at;

    *at = t->next;
    free(t->key);
    buf_deinit(&t->text);
    free(t);
}

static struct kept_text **find(struct api *api, const struct api_session *s, const char *key)
{
    struct kept_text **at = &api->texts;

    while (*at && ((*at)->session != s || strcmp((*at)->key, key) != 0))
        at = &(*at)->next;
    return at;
}

/* The one in front stays in any case. */
static void make_room(struct api *api)
{
    struct kept_text **at = &api->texts;
    size_t n = 0, bytes = 0;

    while (*at) {
        bytes += (*at)->text.len;
        if (n > 0 && (n >= TEXTS_MAX || bytes > TEXTS_BYTES_MAX)) {
            drop(at);
            continue;
        }
        n++;
        at = &(*at)->next;
    }
}

static struct kept_text *keep(struct api *api, const struct api_session *s, struct api_text *text)
{
    struct kept_text *t = mem_alloc(sizeof *t);

    t->session = s;
    t->key = mem_strdup(text->key);
    t->text = text->out;
    text->out = (struct buf){0};
    memcpy(t->sha256, text->sha256, DIGEST_HEX);
    t->next = api->texts;
    api->texts = t;
    make_room(api);
    return t;
}

void api_texts_forget(struct api *api, const struct api_session *s)
{
    struct kept_text **at = &api->texts;

    while (*at)
        if ((*at)->session == s)
            drop(at);
        else
            at = &(*at)->next;
}

/* ---- a piece */

void api_put_chunk(struct api_call *c, const char *data, size_t len, int64_t offset)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    size_t from = offset < (int64_t)len ? (size_t)offset : len;
    size_t n = len - from < API_CHUNK_BYTES ? len - from : API_CHUNK_BYTES;

    base64_encode(&text, data + from, n);
    json_put_str(c->o, "data", buf_str(&text));
    json_put_int(c->o, "next", (int64_t)(from + n));
}

static void put_piece(struct api_call *c, const struct buf *text, const char *sha256,
                      int64_t offset)
{
    api_put_chunk(c, buf_str(text), text->len, offset);
    json_put_int(c->o, "total", (int64_t)text->len);
    json_put_str(c->o, "sha256", sha256);
}

static bool is_last_piece(const struct buf *text, int64_t offset)
{
    return offset + API_CHUNK_BYTES >= (int64_t)text->len;
}

/* The rest is kept; the last piece needs nothing more. */
static void use(struct api_call *c, struct kept_text **at, int64_t offset)
{
    struct kept_text *t = *at;

    put_piece(c, &t->text, t->sha256, offset);
    if (is_last_piece(&t->text, offset)) {
        drop(at);
        return;
    }
    *at = t->next;
    t->next = c->api->texts;
    c->api->texts = t;
}

bool api_text_put_kept(struct api_call *c, const struct api_text *text)
{
    struct kept_text **at = find(c->api, c->session, text->key);

    if (!*at)
        return false;
    if (text->offset == 0) { /* whoever begins anew wants it as it is now */
        drop(at);
        return false;
    }
    use(c, at, text->offset);
    return true;
}

void api_text_finish(struct api_text *text)
{
    digest_bytes(buf_str(&text->out), text->out.len, text->sha256);
}

void api_text_put(struct api_call *c, struct api_text *text)
{
    if (!c->session || is_last_piece(&text->out, text->offset)) {
        put_piece(c, &text->out, text->sha256, text->offset);
        buf_deinit(&text->out);
        return;
    }
    (void)keep(c->api, c->session, text);
    use(c, &c->api->texts, text->offset);
}

/* ---- a piece of a file */

static int read_piece(int fd, struct api_piece *piece)
{
    buf_reserve(&piece->data, API_CHUNK_BYTES);
    while (piece->data.len < API_CHUNK_BYTES) {
        ssize_t n = pread(fd, piece->data.data + piece->data.len, API_CHUNK_BYTES - piece->data.len,
                          (off_t)(piece->offset + (int64_t)piece->data.len));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        piece->data.len += (size_t)n;
    }
    return 0;
}

int api_piece_read(const char *path, struct api_piece *piece, struct err *e)
{
    CLEANUP(mem_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(e, -errno, "open", path);
    piece->total = st.st_size;
    int rc = read_piece(fd, piece);
    return rc < 0 ? err_sys(e, rc, "read", path) : 0;
}

void api_piece_put(struct api_call *c, const struct api_piece *piece, const char *sha256)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    int64_t from = piece->offset < piece->total ? piece->offset : piece->total;

    base64_encode(&text, buf_str(&piece->data), piece->data.len);
    json_put_str(c->o, "data", buf_str(&text));
    json_put_int(c->o, "next", from + (int64_t)piece->data.len);
    json_put_int(c->o, "total", piece->total);
    json_put_str(c->o, "sha256", sha256);
}
