#include "proto/doc/documents.h"

#include <errno.h>
#include <string.h>

#include "proto/doc/doc_policy.h"
#include "proto/embedded.h"

static int find_shipped(const char *name)
{
    for (size_t i = 0; i < policy_files_count; i++)
        if (!strcmp(policy_files[i].name, name))
            return (int)i;
    return -1;
}

static int shipped_over(struct arena *a, size_t index, struct policy *p, struct err *e)
{
    struct json_in in;
    cJSON *doc;
    int rc = json_parse(policy_files[index].data, policy_files[index].len, &doc, e);
    if (rc)
        return rc;
    json_in_init(&in, a, e);
    policy_decode_over(&in, doc, p);
    cJSON_Delete(doc);
    return in.rc;
}

int policy_decode_node(struct arena *a, const cJSON *doc, struct policy **out, struct err *e)
{
    struct json_in in;
    struct policy *p = arena_alloc(a, sizeof *p);
    int rc = shipped_over(a, 0, p, e);
    if (rc)
        return rc;
    json_in_init(&in, a, e);
    policy_decode_over(&in, doc, p);
    if (!in.rc)
        *out = p;
    return in.rc;
}

int policy_decode(struct arena *a, const char *data, size_t len, struct policy **out, struct err *e)
{
    cJSON *doc;
    int rc = json_parse(data, len, &doc, e);
    if (rc)
        return rc;
    rc = policy_decode_node(a, doc, out, e);
    cJSON_Delete(doc);
    return rc;
}

int policy_is_shipped(const char *name, struct err *e)
{
    if (find_shipped(name) >= 0)
        return 0;
    return err_set(e, -ENOENT, "policy.not_found", "policy",
                   "there is no policy of this name; shipped are standard, virtual and strict, "
                   "or give a policy file");
}

int policy_shipped(struct arena *a, const char *name, struct policy **out, struct err *e)
{
    int rc = policy_is_shipped(name, e);
    if (rc)
        return rc;
    int index = find_shipped(name);
    struct policy *p = arena_alloc(a, sizeof *p);
    rc = shipped_over(a, 0, p, e);
    if (!rc && index > 0)
        rc = shipped_over(a, (size_t)index, p, e);
    if (!rc)
        *out = p;
    return rc;
}

const char *const *policy_shipped_names(void)
{
    static const char *const names[] = {"standard", "virtual", "strict", NULL};
    return names;
}

static void text_of(const struct policy *p, struct buf *out)
{
    struct json_out o;
    json_out_init(&o, out);
    policy_encode(&o, NULL, p);
}

int policy_check_name(const struct policy *p, struct err *e)
{
    struct arena a = {0};
    struct policy *shipped = NULL;
    struct buf given = {0}, own = {0};
    int rc = 0;
    if (find_shipped(p->name) >= 0 && !policy_shipped(&a, p->name, &shipped, e)) {
        text_of(p, &given);
        text_of(shipped, &own);
        if (strcmp(buf_str(&given), buf_str(&own)) != 0)
            rc = err_set(e, -EINVAL, "policy.reserved_name", "name",
                         "the policy %s is shipped and this document differs from it; give it a "
                         "name of its own",
                         p->name);
    }
    buf_deinit(&given);
    buf_deinit(&own);
    arena_deinit(&a);
    return rc;
}
