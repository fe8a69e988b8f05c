#include "client/view/list_view.h"

#include "base/mem.h"

static void put_text(struct cli *cli, const struct list_view *v, struct json_in *in,
                     const cJSON *result)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct table *t = table_new(v->columns, v->n_columns);
    const cJSON *item;
    size_t n = 0;
    const cJSON *items = json_arr(in, result, v->whole->list, SIZE_MAX, &n);

    cJSON_ArrayForEach (item, items)
        v->put(in, item, t);
    if (in->rc == 0 && table_rows(t))
        table_print(t, &cli->out, 0, &out);
    else if (in->rc == 0)
        buf_printf(&out, "%s\n", v->empty);
    table_free(t);
    cli_put(&out);
}

int list_view(struct cli *cli, const struct list_view *v)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    struct json_in in;
    struct err e = {0};

    if (whole_list(cli, v->whole, NULL, &answer, &e) < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json(cli, answer.msg.result);
        return EXIT_GOOD;
    }
    json_in_init(&in, &answer.a, &e);
    put_text(cli, v, &in, answer.msg.result);
    return connection_check(&in, &e) < 0 ? cli_fail(cli, &e) : EXIT_GOOD;
}
