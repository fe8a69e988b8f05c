/* The document of a calibration ("calibration" of the raw report; what the store holds), and what
 * follows from one, for summaries and answers. Tables, so that reader and writer agree. */
#pragma once

#include "core/summary/calibration.h"
#include "proto/doc/doc_raw_fields.h"

#define CALIBRATION_VALUES_MAX 4096
/* So large that no sum of them is more than a document holds. */
#define CALIBRATION_VALUE_MAX INT64_C(1000000000000)

extern const struct doc_table calibration_table; /* its members that are no measures */

/* NULL is null. */
void calibration_encode(struct json_out *o, const char *key, const struct calibration *c);
/* The member, or null; errors stick to in. The result lives in in->a. */
const struct calibration *calibration_decode(struct json_in *in, const cJSON *obj, const char *key);
/* A whole document. 0 or -EINVAL with e filled. */
int calibration_decode_text(struct arena *a, const char *text, const struct calibration **out,
                            struct err *e);

/* The members of what follows for one measure, into the object that is open. */
void calibration_figures_encode(struct json_out *o, const struct calibration_figures *f);
