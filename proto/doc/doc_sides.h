/* What a job says of its sides beside their sources: the build variant of each, and which are
 * compared with which. Both forms of the job have them alike. */
#pragma once

#include "core/job.h"
#include "proto/json/json.h"

/* The member "variant" of a source: the environment of that side's build steps alone. */
void variant_decode(struct json_in *in, const cJSON *obj, struct job_source *s);
/* Nothing where there is none. */
void variant_encode(struct json_out *o, const struct job_source *s);

/* The member "pairs" of a job whose sources are decoded. Refused: a side that the job lacks, a side
 * against itself, the same pair twice. */
void pairs_decode(struct json_in *in, const cJSON *doc, struct job *job);
void pairs_encode(struct json_out *o, const struct job *job);
