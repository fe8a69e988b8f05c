/* Blocking TCP over loopback. Each function ends the program with a sentence when it fails. */
#ifndef NET_H
#define NET_H

#include <stddef.h>
#include <stdint.h>

/* Must be called before any other function of this file: a peer that went away is then an
 * error of the write and not a signal. */
void net_init(void);

/* A listening socket on 127.0.0.1, at a port that the system chooses. */
int net_listen(uint16_t *port);

/* Connected sockets, with TCP_NODELAY set. */
int net_accept(int listener);
int net_connect(uint16_t port);

void net_send(int fd, const void *bytes, size_t length);

/* Reads once: the number of bytes, 0 at the end of the stream. */
size_t net_receive(int fd, void *bytes, size_t size);

/* Reads exactly length bytes. */
void net_receive_all(int fd, void *bytes, size_t length);

void net_close(int fd);

/* Sleeps, through signals. */
void net_wait_ms(long milliseconds);

#endif
