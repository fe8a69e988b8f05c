#include "base/mem.h"
#include "client/complete/completion.h"

static const char HEAD[] = "# bash completion for aurabench, made by `aurabench completion bash`\n"
                           "\n";

/* The line is read anew: bash takes words apart at colons and equals signs. */
static const char MAIN[] =
    "_aurabench() {\n"
    "    local -a words\n"
    "    local line=${COMP_LINE:0:COMP_POINT} cur='' prev='' command='' files='' i n=0\n"
    "    COMPREPLY=()\n"
    "    read -ra words <<<\"$line\"\n"
    "    [[ $line == *[[:space:]] ]] || { cur=${words[-1]}; unset 'words[-1]'; }\n"
    "    for ((i = 1; i < ${#words[@]}; i++)); do\n"
    "        prev=''\n"
    "        case ${words[i]} in\n"
    "        --)\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            mapfile -t COMPREPLY < <(compgen -c -f -- \"$cur\")\n"
    "            return ;;\n"
    "        --*=*) ;;\n"
    "        -*)\n"
    "            if _aurabench_value \"$command\" \"${words[i]}\" >/dev/null; then\n"
    "                prev=${words[i]}\n"
    "                ((++i))\n"
    "            fi ;;\n"
    "        *)\n"
    "            [[ -z $command ]] || ((++n))\n"
    "            command=${command:-${words[i]}} ;;\n"
    "        esac\n"
    "    done\n"
    "    if ((i == ${#words[@]})); then prev=''; fi\n"
    "    if [[ $cur == --*=* ]]; then\n"
    "        prev=${cur%%=*}\n"
    "        cur=${cur#*=}\n"
    "        _aurabench_value \"$command\" \"$prev\" >/dev/null || return 0\n"
    "    fi\n"
    "    if [[ -n $prev ]]; then\n"
    "        words=($(_aurabench_value \"$command\" \"$prev\"))\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        words=($(_aurabench_options \"$command\"))\n"
    "    else\n"
    "        words=($(_aurabench_words \"$command\" $n))\n"
    "    fi\n"
    "    if [[ ${words[0]} == @files ]]; then\n"
    "        files=-f\n"
    "        words=(\"${words[@]:1}\")\n"
    "        compopt -o filenames 2>/dev/null\n"
    "    fi\n"
    "    mapfile -t COMPREPLY < <(compgen $files -W \"${words[*]}\" -- \"$cur\")\n"
    "}\n"
    "complete -F _aurabench aurabench\n";

static void put_choice(struct buf *out, const struct completion *c)
{
    buf_printf(out, " echo '%s%s%s' ;;\n", c->files ? "@files" : "",
               c->files && c->words.len ? " " : "", buf_str(&c->words));
}

/* The names of one option, as a pattern of `case`. */
static void put_value(struct buf *out, const char *command, const struct opt *o)
{
    CLEANUP(completion_deinit) struct completion c = {0};

    completion_of_option(o, &c);
    if (!c.takes_value)
        return;
    buf_printf(out, "    %s:--%s", command, o->name);
    if (o->letter)
        buf_printf(out, "|%s:-%c", command, o->letter);
    buf_putc(out, ')');
    put_choice(out, &c);
}

static void put_values(struct buf *out, const struct command *const *commands)
{
    buf_puts(out, "# What may follow an option; fails when it takes no value.\n"
                  "_aurabench_value() { # COMMAND OPTION\n    case $1:$2 in\n");
    for (; *commands; commands++)
        for (size_t i = 0; i < (*commands)->n_opts; i++)
            put_value(out, (*commands)->name, &(*commands)->opts[i]);
    for (size_t i = 0; i < cli_n_shared_opts; i++)
        put_value(out, "*", &cli_shared_opts[i]);
    buf_puts(out, "    *) return 1 ;;\n    esac\n}\n\n");
}

static void put_names(struct buf *out, const struct opt *opts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (opts[i].letter)
            buf_printf(out, "--%s -%c ", opts[i].name, opts[i].letter);
        else
            buf_printf(out, "--%s ", opts[i].name);
}

static void put_options(struct buf *out, const struct command *const *commands)
{
    buf_puts(out, "_aurabench_options() { # COMMAND\n    case $1 in\n");
    for (; *commands; commands++) {
        if ((*commands)->n_opts == 0)
            continue;
        buf_printf(out, "    %s) echo '", (*commands)->name);
        put_names(out, (*commands)->opts, (*commands)->n_opts);
        buf_puts(out, "' ;;\n");
    }
    buf_puts(out, "    esac\n    echo '");
    put_names(out, cli_shared_opts, cli_n_shared_opts);
    buf_puts(out, "'\n}\n\n");
}

static void put_words(struct buf *out, const struct command *const *commands)
{
    buf_puts(out, "_aurabench_words() { # COMMAND WORDS-BEFORE\n    case $1:$2 in\n    :*) echo '");
    for (const struct command *const *c = commands; *c; c++)
        buf_printf(out, "%s%s", c == commands ? "" : " ", (*c)->name);
    buf_puts(out, "' ;;\n");
    for (const struct command *const *command = commands; *command; command++) {
        CLEANUP(completion_deinit) struct completion c = {0};
        completion_of_command(commands, *command, &c);
        if (c.files || c.words.len) {
            buf_printf(out, "    %s:0)", (*command)->name);
            put_choice(out, &c);
        }
        if (c.files_behind)
            buf_printf(out, "    %s:*) echo '@files' ;;\n", (*command)->name);
    }
    buf_puts(out, "    esac\n}\n\n");
}

void completion_bash(const struct command *const *commands, struct buf *out)
{
    buf_puts(out, HEAD);
    put_values(out, commands);
    put_options(out, commands);
    put_words(out, commands);
    buf_puts(out, MAIN);
}
