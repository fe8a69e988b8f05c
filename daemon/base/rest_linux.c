#include "base/rest.h"

#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Only what the program header declares unwritable: nobody can have changed those pages, so that
 * the file's own are the same. What was relocated stays, though it is protected by now. */
static int let_go(struct dl_phdr_info *info, size_t size, void *ctx)
{
    const uintptr_t page = *(const uintptr_t *)ctx;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t start = (info->dlpi_addr + h->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (info->dlpi_addr + h->p_vaddr + h->p_filesz) & ~(page - 1);
        if (h->p_type == PT_LOAD && !(h->p_flags & PF_W) && end > start)
            (void)madvise((void *)start, end - start, MADV_DONTNEED); // NOLINT: an address
    }
    return 0;
}

void rest_give_back(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    (void)malloc_trim(0);
    (void)dl_iterate_phdr(let_go, &page);
}
