/* aurabench completion: the script that teaches a shell this program's words. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/complete/completion.h"

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    static const struct {
        const char *name;
        void (*put)(const struct command *const *commands, struct buf *out);
    } shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};
    CLEANUP(buf_deinit) struct buf script = {0}, out = {0};
    const char *shell = words->words.v[0];
    struct err e = {0};
    struct json_out o;

    (void)values;
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (strcmp(shell, shells[i].name) == 0)
            shells[i].put(cli->commands, &script);
    if (!script.len) {
        (void)err_set(&e, -EINVAL, "usage", "shell",
                      "there is no completion for %.40s; name bash, zsh or fish", shell);
        return cli_fail(cli, &e);
    }
    if (!cli->shared.json) {
        cli_put(&script);
        return EXIT_GOOD;
    }
    cli_json_begin(cli, &o, &out);
    json_put_str(&o, "shell", shell);
    json_put_str(&o, "script", buf_str(&script));
    cli_json_end(&o);
    return EXIT_GOOD;
}

const struct command command_completion = {
    .name = "completion",
    .usage = "bash|zsh|fish",
    .summary = "a script that completes this program's words in a shell",
    .more = "For example: source <(aurabench completion bash)",
    .words_min = 1,
    .words_max = 1,
    .run = run,
};
