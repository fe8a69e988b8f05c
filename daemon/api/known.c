/* What one submit after the other names again is decoded once: the shipped policies, which are part
 * of this program, and the latest suite, which is named by its hash. Neither changes under its
 * name.
 */
#include "api/known.h"

#include <string.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"

#define SUITE_BYTES_MAX (1 << 20)

struct known_policy {
    const char *name, *text;
    struct known_policy *next;
};

struct api_known {
    struct arena arena;
    struct known_policy *policies;
    struct arena suite_arena;
    char sha256[DIGEST_HEX];
    struct suite *suite; /* NULL: none yet */
};

struct api_known *api_known_new(void)
{
    return mem_alloc(sizeof(struct api_known));
}

void api_known_free(struct api_known *k)
{
    if (!k)
        return;
    arena_deinit(&k->arena);
    arena_deinit(&k->suite_arena);
    free(k);
}

const char *api_policy_text(struct arena *a, const struct policy *policy)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    struct json_out o;

    json_out_init(&o, &text);
    policy_encode(&o, NULL, policy);
    return arena_strdup(a, buf_str(&text));
}

int api_known_policy(struct api_known *k, const char *name, const char **text, struct err *e)
{
    struct policy *policy;
    struct known_policy *p = k->policies;

    while (p && strcmp(p->name, name) != 0)
        p = p->next;
    if (!p) {
        int rc = policy_shipped(&k->arena, name, &policy, e);
        if (rc < 0)
            return rc;
        p = arena_alloc(&k->arena, sizeof *p);
        *p = (struct known_policy){arena_strdup(&k->arena, name),
                                   api_policy_text(&k->arena, policy), k->policies};
        k->policies = p;
    }
    *text = p->text;
    return 0;
}

static int read_suite(struct arena *a, const char *dir, struct suite **out, struct err *e)
{
    CLEANUP(mem_freep) char *path = file_join(dir, "suite.json");
    CLEANUP(buf_deinit) struct buf text = {0};
    int rc = file_read(path, SUITE_BYTES_MAX, &text, e);

    return rc < 0 ? rc : suite_decode(a, buf_str(&text), text.len, out, e);
}

int api_known_suite(struct api_known *k, const char *sha256, const char *dir,
                    const struct suite **out, struct err *e)
{
    int rc = 0;

    if (!k->suite || strcmp(k->sha256, sha256) != 0) {
        arena_deinit(&k->suite_arena);
        k->suite_arena = (struct arena){0};
        k->suite = NULL;
        rc = read_suite(&k->suite_arena, dir, &k->suite, e);
        if (rc == 0)
            memcpy(k->sha256, sha256, DIGEST_HEX);
    }
    if (rc < 0)
        k->suite = NULL;
    else
        *out = k->suite;
    return rc;
}
