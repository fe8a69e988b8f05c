#include "sched/orphans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/mark.h"
#include "sched/sched_internal.h"

/* Above all limits that people set, below what the kernel takes for none. */
#define MARK_BIT (UINT64_C(1) << 61)

/* A signature is the one thing that the key gives away: it follows from the text and nobody else
 * can make it. A copy of the state folder, key and all, has marks of its own. */
static uint64_t mark_of(const struct sched *s, const char *boot_id)
{
    unsigned char signature[KEY_SIGNATURE_BYTES];
    char hex[DIGEST_HEX], digits[17];
    struct stat st = {0};

    (void)stat(s->config.state_dir, &st);
    CLEANUP(mem_freep)
    char *text = mem_printf("aurabench runner\n%s\n%llu %llu\n", boot_id,
                            (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
    key_sign(s->config.key, text, strlen(text), signature);
    digest_bytes(signature, sizeof signature, hex);
    (void)snprintf(digits, sizeof digits, "%.16s", hex);
    return (strtoull(digits, NULL, 16) & (MARK_BIT - 1)) | MARK_BIT;
}

void orphans_mark(struct sched *s, struct run *run, const char *boot_id)
{
    int rc = run_mark(run, mark_of(s, boot_id));

    if (rc < 0)
        log_warn(
            "the runner could not be marked (%s): what it leaves behind when it and the daemon "
            "are killed will not be found",
            strerror(-rc));
}

void orphans_end(const struct sched *s, const char *boot_id, char *left, size_t left_bytes)
{
    struct mark_ended found;

    mark_end_all(mark_of(s, boot_id), &found);
    if (found.ended)
        log_warn("ended what a killed runner had left: %s", found.names);
    (void)snprintf(left, left_bytes, "%s", found.left);
}
