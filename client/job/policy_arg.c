#include "client/job/policy_arg.h"

#include <errno.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "proto/doc/documents.h"

#define POLICY_BYTES_MAX (1 << 20)

static bool names_file(const char *value)
{
    size_t len = strlen(value);

    return strchr(value, '/') || (len > 5 && strcmp(value + len - 5, ".json") == 0);
}

static int read_file(struct cli *cli, const char *path, struct policy_arg *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0}, encoded = {0};
    struct policy *policy = NULL;
    struct err why = {0};
    struct json_out o;

    int rc = file_read(path, POLICY_BYTES_MAX, &text, e);
    if (rc == 0)
        rc = policy_decode(&cli->a, buf_str(&text), text.len, &policy, &why);
    if (rc == 0)
        rc = policy_check_name(policy, &why);
    if (err_is_set(&why))
        return cli_fail_in_file(path, rc, &why, e);
    if (rc < 0 || !policy)
        return rc;
    json_out_init(&o, &encoded);
    policy_encode(&o, NULL, policy);
    out->name = policy->name;
    out->canonical = arena_strdup(&cli->a, buf_str(&encoded));
    return 0;
}

int policy_arg_read(struct cli *cli, const char *value, struct policy_arg *out, struct err *e)
{
    *out = (struct policy_arg){.name = value ? value : "standard"};
    if (value && names_file(value))
        return read_file(cli, value, out, e);
    return policy_is_shipped(out->name, e);
}

int policy_arg_put(struct cli *cli, const char *value, struct json_out *o, const char *key,
                   struct err *e)
{
    struct policy_arg arg;
    int rc = value ? policy_arg_read(cli, value, &arg, e) : 0;

    if (rc < 0 || !value)
        return rc;
    if (arg.canonical)
        json_put_raw(o, key, arg.canonical);
    else
        json_put_str(o, key, arg.name);
    return 0;
}
