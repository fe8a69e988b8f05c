#include "core/session.h"

#include <string.h>

#include "base/mem.h"

static const char *const boot_names[] = {"any", "same", "fresh"};

const char *session_boot_name(enum session_boot b)
{
    return boot_names[b];
}

int session_boot_parse(const char *s)
{
    for (int i = 0; s && i < (int)ARRAY_LEN(boot_names); i++)
        if (strcmp(s, boot_names[i]) == 0)
            return i;
    return -1;
}

int64_t session_settled_ms(const char *opened_boot, const struct boot_identity *boot,
                           int64_t settle_ms)
{
    if (!opened_boot || strcmp(opened_boot, boot->id) == 0 || boot->boot_wall_ms < 0)
        return -1;
    return boot->boot_wall_ms + settle_ms;
}

bool session_is_post_reboot(const char *opened_boot, const struct boot_identity *boot,
                            int64_t settle_ms, int64_t started_ms)
{
    int64_t settled_ms = session_settled_ms(opened_boot, boot, settle_ms);

    return settled_ms >= 0 && started_ms >= settled_ms;
}

const char *session_boot_label(bool post_reboot)
{
    return post_reboot ? "post-reboot" : "quiet host, not post-reboot";
}
