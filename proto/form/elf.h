/* What a program or library of the kind ELF64 (little-endian) says of itself: the libraries that it
 * needs, and the symbols that it has or asks for.
 *
 * The file is read piece by piece and nothing in it is trusted: offsets, sizes and names are held
 * against the file's size and against bounds of our own, and each name ends inside its table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_STRINGS_MAX ((uint64_t)64 << 20)  /* bytes of one table of names */
#define ELF_SYMBOLS_MAX ((uint64_t)256 << 20) /* bytes of one table of symbols */

struct elf_file {
    uint64_t bytes;
    /* Exactly len bytes from offset `at`; false: they cannot be read. */
    bool (*read)(void *of, uint64_t at, void *to, size_t len);
    void *of;
};

struct elf_seen {
    void (*library)(void *of, const char *name); /* needed: "libc.so.6" */
    void (*symbol)(void *of, const char *name);  /* defined or undefined; without its version */
    void *of;
};

/* Tells of each name, some perhaps more than once. 0; -ENODATA: it has neither needed libraries nor
 * symbols to tell of, because it was stripped of them; -EBADMSG: it is no such file, or damaged. */
int elf_read(const struct elf_file *file, const struct elf_seen *seen);
