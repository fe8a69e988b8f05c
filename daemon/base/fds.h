/* Descriptors that no child inherits, made the same way on every system. */
#pragma once

int fds_pipe(int ends[2]); /* 0 or -errno */
int fds_socket(void);      /* a Unix stream socket, or -errno */
/* The next connection of a listening socket, -EAGAIN when none waits, or another -errno. */
int fds_accept(int listener);
/* Closes everything above 2 but keep. Async-signal-safe: for a child before its exec. */
void fds_close_others(int keep);
