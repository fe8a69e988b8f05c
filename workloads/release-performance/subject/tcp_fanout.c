/* Twenty clients ping twenty loopback listeners at once; each handler waits 100 ms, then pongs. */
#define _POSIX_C_SOURCE 200809L

#include "net.h"
#include "record.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CLIENTS = 20, WAIT_MS = 100, MESSAGE_BYTES = 4 };

static const char ping[] = "ping";
static const char pong[] = "pong";

struct pair {
    int listener;
    uint16_t port;
    size_t received;
    pthread_t handler;
    pthread_t client;
};

static void *handle(void *argument)
{
    const struct pair *pair = argument;
    char message[MESSAGE_BYTES];
    int fd = net_accept(pair->listener);

    net_receive_all(fd, message, sizeof message);
    if (memcmp(message, ping, sizeof message) != 0)
        fail("tcp_fanout: a handler received something else than a ping");
    net_wait_ms(WAIT_MS);
    net_send(fd, pong, MESSAGE_BYTES);
    net_close(fd);
    return NULL;
}

static void *ask(void *argument)
{
    struct pair *pair = argument;
    char message[MESSAGE_BYTES];
    int fd = net_connect(pair->port);

    net_send(fd, ping, MESSAGE_BYTES);
    net_receive_all(fd, message, sizeof message);
    if (memcmp(message, pong, sizeof message) != 0)
        fail("tcp_fanout: a client received something else than a pong");
    pair->received = sizeof message;
    net_close(fd);
    return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), struct pair *pair)
{
    int error = pthread_create(thread, NULL, run, pair);

    if (error != 0)
        fail("tcp_fanout: cannot create a thread: %s", strerror(error));
}

static void join(pthread_t thread)
{
    int error = pthread_join(thread, NULL);

    if (error != 0)
        fail("tcp_fanout: cannot join a thread: %s", strerror(error));
}

int main(void)
{
    static struct pair pairs[CLIENTS];
    size_t received = 0;

    net_init();
    for (int i = 0; i < CLIENTS; i++)
        pairs[i].listener = net_listen(&pairs[i].port);

    record_start("READY release-performance tcp-fanout 20 100 4",
                 "GO release-performance tcp-fanout");
    for (int i = 0; i < CLIENTS; i++)
        start(&pairs[i].handler, handle, &pairs[i]);
    for (int i = 0; i < CLIENTS; i++)
        start(&pairs[i].client, ask, &pairs[i]);
    for (int i = 0; i < CLIENTS; i++) {
        join(pairs[i].client);
        join(pairs[i].handler);
        received += pairs[i].received;
    }
    record_finish("DONE release-performance tcp-fanout %d %zu", CLIENTS, received);

    for (int i = 0; i < CLIENTS; i++)
        net_close(pairs[i].listener);
    return 0;
}
