/* A session: several jobs measured under one label, with one window and one rule about boots.
 *
 * Its jobs are listed by the store, in the order in which they came; a job that says nothing of
 * window, deadline or retries takes the session's. Owned by the arena it was decoded into.
 */
#pragma once

#include "core/calendar/window.h"
#include "core/host.h"

#define SESSION_JOBS_MAX 200
#define SESSION_SETTLE_MS 600000

enum session_boot {
    SESSION_BOOT_ANY,  /* whatever boot it is */
    SESSION_BOOT_SAME, /* all in one boot, or the session says where it split */
    SESSION_BOOT_FRESH /* none begins before the host was booted after the opening, and settled */
};
const char *session_boot_name(enum session_boot b); /* "any", "same", "fresh" */
int session_boot_parse(const char *s);

struct session {
    const char *id; /* ULID, made by the client */
    const char *label;
    enum session_boot boot;
    struct window *window;  /* NULL: at any time */
    int64_t deadline_ms;    /* 0: none */
    int64_t retry_every_ms; /* -1: the job's or the policy's */
    int retry_limit;        /* -1: the job's or the policy's */
    int64_t settle_ms;      /* after a boot */
};

/* When the host has settled in a boot that the session did not begin in; -1 when it is still the
 * boot of the opening. Wall-clock ms. */
int64_t session_settled_ms(const char *opened_boot, const struct boot_identity *boot,
                           int64_t settle_ms);
/* What a page may call an attempt that began at started_ms in this boot. */
bool session_is_post_reboot(const char *opened_boot, const struct boot_identity *boot,
                            int64_t settle_ms, int64_t started_ms);
const char *session_boot_label(bool post_reboot); /* "post-reboot", or that it is not */
