/* A program that keeps its connections to one or more daemons and asks them in turn:
 *   bench-queue-client submit ROUNDS EACH DOCUMENT SOCKET...     one after the other
 *   bench-queue-client pipelined ROUNDS EACH DOCUMENT SOCKET...  all sent, then all answers read
 *   bench-queue-client list ROUNDS EACH LIMIT SOCKET...          one page of the newest jobs
 * A sample is the mean of one round's EACH requests, series SOCKET.
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fds.h"
#include "base/files.h"
#include "base/ids.h"
#include "tests/bench/bench.h"

#define SOCKETS_MAX 8
#define ID_KEY "\"id\":\""

struct line_reader {
    int fd;
    struct buf in;
    size_t used; /* of in: lines that were returned */
};

struct client {
    const char *name;
    struct line_reader reader;
    int64_t sum_ns;
};

struct request {
    struct buf line;
    size_t id_at; /* of the job's id in line; 0: it has none */
};

/* ---- the wire */

static void send_all(int fd, const char *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = write(fd, data + done, len - done);
        if (n <= 0)
            bench_fail("write", "the daemon is gone");
        done += (size_t)n;
    }
}

/* Lives until the next line is read. */
static const char *read_line(struct line_reader *r)
{
    for (;;) {
        char *start = r->in.data ? r->in.data + r->used : NULL;
        char *end = start ? memchr(start, '\n', r->in.len - r->used) : NULL;
        if (end) {
            *end = '\0';
            r->used = (size_t)(end + 1 - r->in.data);
            return start;
        }
        buf_consume(&r->in, r->used);
        r->used = 0;
        buf_reserve(&r->in, 65536);
        ssize_t n = read(r->fd, r->in.data + r->in.len, 65536);
        if (n <= 0)
            bench_fail("read", "the daemon is gone");
        r->in.len += (size_t)n;
    }
}

static void read_answer(struct client *c)
{
    const char *line = read_line(&c->reader);

    if (strstr(line, "\"error\":{\"code\":-") || !strstr(line, "\"result\":"))
        bench_fail("the daemon answers", line);
}

static void connect_to(struct client *c, const char *path)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof addr.sun_path)
        bench_fail(path, "is too long for a socket");
    memcpy(addr.sun_path, path, strlen(path));
    *c = (struct client){.name = path, .reader = {.fd = fds_socket()}};
    if (connect(c->reader.fd, (const struct sockaddr *)&addr, sizeof addr) != 0)
        bench_fail(path, "no daemon answers");
    (void)read_line(&c->reader); /* its hello */
}

/* ---- requests */

static void submit_request(struct request *r, const char *document_path)
{
    struct buf document = {0};
    struct err e = {0};

    BENCH_OK(file_read(document_path, 1 << 20, &document, &e), &e);
    buf_printf(&r->line,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.submit\",\"params\":{\"job\":");
    size_t at = r->line.len;
    buf_printf(&r->line, "%s}}\n", buf_str(&document));
    const char *key = strstr(r->line.data + at, ID_KEY);
    if (!key)
        bench_fail(document_path, "is no job's document");
    r->id_at = (size_t)(key - r->line.data) + strlen(ID_KEY);
    buf_deinit(&document);
}

static void list_request(struct request *r, const char *limit)
{
    buf_printf(&r->line,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.list\",\"params\":{\"limit\":%d}}\n",
               bench_count(limit, 999));
}

static void renew(struct request *r)
{
    char id[ULID_LEN + 1];

    if (r->id_at == 0)
        return;
    ulid_new(id);
    memcpy(r->line.data + r->id_at, id, ULID_LEN);
}

/* ---- rounds */

static void ask(struct client *c, struct request *r)
{
    renew(r);
    int64_t start_ns = bench_now_ns();
    send_all(c->reader.fd, r->line.data, r->line.len);
    read_answer(c);
    c->sum_ns += bench_now_ns() - start_ns;
}

static void ask_pipelined(struct client *c, struct request *r, int each)
{
    struct buf all = {0};

    for (int i = 0; i < each; i++) {
        renew(r);
        buf_add(&all, r->line.data, r->line.len);
    }
    int64_t start_ns = bench_now_ns();
    send_all(c->reader.fd, all.data, all.len);
    for (int i = 0; i < each; i++)
        read_answer(c);
    c->sum_ns += bench_now_ns() - start_ns;
    buf_deinit(&all);
}

static void run_round(struct client *clients, int n, struct request *r, int each, bool pipelined)
{
    for (int k = 0; k < each && !pipelined; k++)
        for (int i = 0; i < n; i++)
            ask(&clients[i], r);
    for (int i = 0; i < n && pipelined; i++)
        ask_pipelined(&clients[i], r, each);
    for (int i = 0; i < n; i++) {
        bench_sample(clients[i].name, clients[i].sum_ns / each);
        clients[i].sum_ns = 0;
    }
}

int main(int argc, char **argv)
{
    struct client clients[SOCKETS_MAX];
    struct request r = {0};
    int n = argc - 5;

    if (n < 1 || n > SOCKETS_MAX)
        bench_fail("bench-queue-client", "WHAT ROUNDS EACH DOCUMENT|LIMIT SOCKET...");
    if (strcmp(argv[1], "list") == 0)
        list_request(&r, argv[4]);
    else
        submit_request(&r, argv[4]);
    for (int i = 0; i < n; i++)
        connect_to(&clients[i], argv[5 + i]);
    int rounds = bench_count(argv[2], 10000), each = bench_count(argv[3], 100000);
    for (int k = 0; k < rounds; k++)
        run_round(clients, n, &r, each, strcmp(argv[1], "pipelined") == 0);
    for (int i = 0; i < n; i++) {
        (void)close(clients[i].reader.fd);
        buf_deinit(&clients[i].reader.in);
    }
    buf_deinit(&r.line);
    return 0;
}
