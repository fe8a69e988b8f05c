/* The part of the store that holds calibrations: documents, and which one was in force for an
 * attempt. The rules are those of store.h.
 */
#pragma once

#include "core/summary/calibration.h"
#include "store/store.h"

struct store_calibration {
    const char *id, *boot;
    const char *document; /* JSON text, whole */
    enum calibration_form form;
    int64_t wall_ms, clock_step_ns;
    struct calibration_figures figures[CALIBRATION_MEASURES];
};

/* The boot was put before by store_boot_put. */
int store_calibration_put(struct store *s, const struct store_calibration *c, struct err *e);
/* The document of the latest one of this boot. STORE_NONE: it has none. */
int store_calibration_latest(struct store *s, const char *boot, struct arena *a,
                             const char **document, struct err *e);
/* The latest one of the boot is in force for the attempt; nothing where there is none. */
int store_attempt_calibrate(struct store *s, const char *attempt, const char *boot, struct err *e);
/* The document of the one in force. STORE_NONE: there is none. */
int store_attempt_calibration(struct store *s, const char *attempt, struct arena *a,
                              const char **document, struct err *e);
