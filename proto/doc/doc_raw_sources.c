/* The raw report's sources: flat records, but for the correction that hangs from some. */
#include "proto/doc/doc_raw.h"

static const struct doc_field fields[] = {
    DOC_FIELD(struct raw_correction, base_commit, DOC_STR, FIELD_NAME_MAX),
    DOC_FIELD(struct raw_correction, corrected, DOC_STR, FIELD_NAME_MAX),
    DOC_FIELD(struct raw_correction, diff_sha256, DOC_STR, FIELD_NAME_MAX),
    DOC_FIELD(struct raw_correction, files, DOC_I64_OR_NULL, JSON_INT_MAX),
    DOC_FIELD(struct raw_correction, lines_added, DOC_I64_OR_NULL, JSON_INT_MAX),
    DOC_FIELD(struct raw_correction, lines_removed, DOC_I64_OR_NULL, JSON_INT_MAX),
    DOC_FIELD(struct raw_correction, approved_by, DOC_STR, FIELD_TEXT_MAX),
    DOC_FIELD(struct raw_correction, reason, DOC_STR, FIELD_TEXT_MAX),
    DOC_FIELD(struct raw_correction, proven, DOC_BOOL, 0),
};
const struct doc_table raw_correction_table = DOC_TABLE(fields, struct raw_correction);

void raw_sources_encode(struct json_out *o, const struct raw *raw)
{
    json_begin_array(o, "sources");
    for (size_t i = 0; i < raw->n_sources; i++) {
        const struct raw_source *s = &raw->sources[i];
        json_begin(o, NULL);
        doc_fields_encode(o, &raw_source_table, s);
        if (s->correction) {
            json_begin(o, "correction");
            doc_fields_encode(o, &raw_correction_table, s->correction);
            json_end(o);
        } else {
            json_put_null(o, "correction");
        }
        json_end(o);
    }
    json_end_array(o);
}

static void decode_correction(struct json_in *in, const cJSON *obj, struct raw_source *s)
{
    if (in->rc == 0 && !cJSON_GetObjectItemCaseSensitive(obj, "correction"))
        json_fail(in, "correction", "json.missing",
                  "correction is missing; the report is not complete.");
    const cJSON *item = json_opt_obj(in, obj, "correction");
    if (!item)
        return;
    struct raw_correction *c = arena_alloc(in->a, sizeof *c);
    size_t mark = json_enter(in, "correction");
    doc_fields_decode(in, item, &raw_correction_table, NULL, c);
    json_leave(in, mark);
    s->correction = c;
}

void raw_sources_decode(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    static const char *const more[] = {"correction", NULL};
    size_t n = 0;
    const cJSON *array = json_arr(in, doc, "sources", JOB_SIDES_MAX, &n), *item;
    if (in->rc)
        return;
    raw->sources = arena_array(in->a, n, sizeof *raw->sources);
    size_t mark = json_enter(in, "sources");
    cJSON_ArrayForEach (item, array) {
        struct raw_source *s = &raw->sources[raw->n_sources];
        size_t inner = json_enter_index(in, raw->n_sources++);
        doc_fields_decode(in, item, &raw_source_table, more, s);
        decode_correction(in, item, s);
        json_leave(in, inner);
    }
    json_leave(in, mark);
}
