/* Which file system a folder lies on: SQLite's log corrupts on network file systems, where several
 * machines do not share memory. One implementation per platform. Internal to daemon/store.
 */
#pragma once

/* Asks for the file system of an existing folder. 0 with *network the name of the network file
 * system ("NFS", static) or NULL when it is local; -errno when the folder cannot be asked. */
typedef int (*filesystem_fn)(const char *folder, const char **network);
int filesystem_ask(const char *folder, const char **network);

#ifdef __linux__
/* The name behind statfs's f_type; NULL: not a network file system. */
const char *filesystem_network_name(unsigned long type);
#endif
