#include "host/proc_parse.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_text.h"

#define FLAG_KERNEL_THREAD 0x00200000
/* Fields of /proc/PID/stat after the name, from 0: state is 0. */
enum { STAT_PPID = 1, STAT_FLAGS = 6, STAT_UTIME = 11, STAT_STIME = 12, STAT_START = 19 };
/* Fields of a "cpu" line of /proc/stat. */
enum { CPU_IDLE = 3, CPU_IOWAIT = 4, CPU_STEAL = 7, CPU_FIELDS = 8 };

/* What is left to read. */
struct text {
    const char *at;
    size_t left;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct text text_of(const char *data, size_t len)
{
    return (struct text){data, len};
}

static bool next_line(struct text *t, struct text *line)
{
    if (t->left == 0)
        return false;
    const char *end = memchr(t->at, '\n', t->left);
    size_t len = end ? (size_t)(end - t->at) : t->left;
    *line = text_of(t->at, len);
    t->at += len + (end != NULL);
    t->left -= len + (end != NULL);
    return true;
}

static bool next_word(struct text *line, struct text *word)
{
    while (line->left > 0 && is_blank(*line->at)) {
        line->at++;
        line->left--;
    }
    *word = text_of(line->at, 0);
    while (line->left > 0 && !is_blank(*line->at) && *line->at != '\n') {
        line->at++;
        line->left--;
        word->left++;
    }
    return word->left > 0;
}

static bool text_is(const struct text *t, const char *s)
{
    return strlen(s) == t->left && memcmp(t->at, s, t->left) == 0;
}

int64_t proc_parse_number(const char *s, size_t len)
{
    int64_t value = 0;
    if (len == 0)
        return -1;
    for (size_t i = 0; i < len; i++)
        if (!is_digit(s[i]) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, s[i] - '0', &value))
            return -1;
    return value;
}

static int64_t number_of(const struct text *t)
{
    return proc_parse_number(t->at, t->left);
}

static int64_t next_number(struct text *line)
{
    struct text word;
    return next_word(line, &word) ? number_of(&word) : -1;
}

/* ---- text */

/* Cleans into out, which has room for len + 1 bytes; returns the length. */
static size_t clean_into(char *out, const char *data, size_t len)
{
    size_t n = 0;
    for (size_t i = 0, step; i < len; i += step) {
        unsigned char c = (unsigned char)data[i];
        step = json_utf8_len((const unsigned char *)data + i, len - i);
        if (step > 1) {
            memcpy(out + n, data + i, step);
            n += step;
            continue;
        }
        bool blank = c == '\0' || c == '\n' || c == '\t' || c == '\r';
        out[n++] = blank ? ' ' : (step == 0 || c < 0x20 || c == 0x7f) ? '?' : (char)c;
        step = 1;
    }
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
    return n;
}

char *proc_clean(struct arena *a, const char *data, size_t len)
{
    char *out = arena_alloc(a, len + 1);
    return clean_into(out, data, len) > 0 ? out : NULL;
}

static char *clean_value(struct arena *a, struct text value)
{
    while (value.left > 0 && is_blank(*value.at)) {
        value.at++;
        value.left--;
    }
    return proc_clean(a, value.at, value.left);
}

char *proc_parse_value(struct arena *a, const char *data, size_t len, const char *key)
{
    struct text t = text_of(data, len), line;
    size_t n = strlen(key);
    while (next_line(&t, &line)) {
        if (line.left <= n || memcmp(line.at, key, n) != 0)
            continue;
        line.at += n;
        line.left -= n;
        while (line.left > 0 && is_blank(*line.at)) {
            line.at++;
            line.left--;
        }
        if (line.left > 0 && *line.at == ':')
            return clean_value(a, text_of(line.at + 1, line.left - 1));
    }
    return NULL;
}

char *proc_parse_assignment(struct arena *a, const char *data, size_t len, const char *key)
{
    struct text t = text_of(data, len), line;
    size_t n = strlen(key);
    while (next_line(&t, &line)) {
        if (line.left <= n || memcmp(line.at, key, n) != 0 || line.at[n] != '=')
            continue;
        struct text value = text_of(line.at + n + 1, line.left - n - 1);
        if (value.left >= 2 && value.at[0] == '"' && value.at[value.left - 1] == '"')
            value = text_of(value.at + 1, value.left - 2);
        return clean_value(a, value);
    }
    return NULL;
}

bool proc_has_word(const char *words, const char *word)
{
    struct text t = text_of(words, strlen(words)), w;
    while (next_word(&t, &w))
        if (text_is(&w, word))
            return true;
    return false;
}

/* ---- processes */

static int stat_fields(struct text rest, struct proc_stat *out)
{
    int64_t fields[STAT_START + 1] = {0};
    struct text word;
    for (int i = 0; i <= STAT_START; i++) {
        if (!next_word(&rest, &word))
            return -EINVAL;
        if (i == 0)
            out->zombie = text_is(&word, "Z") || text_is(&word, "X");
        fields[i] = number_of(&word);
    }
    if (fields[STAT_PPID] < 0 || fields[STAT_PPID] > INT32_MAX || fields[STAT_UTIME] < 0 ||
        fields[STAT_STIME] < 0 || fields[STAT_START] < 0 ||
        __builtin_add_overflow(fields[STAT_UTIME], fields[STAT_STIME], &out->cpu_ticks))
        return -EINVAL;
    out->ppid = (int)fields[STAT_PPID];
    out->start_ticks = fields[STAT_START];
    out->kernel_thread = fields[STAT_FLAGS] > 0 && (fields[STAT_FLAGS] & FLAG_KERNEL_THREAD);
    return 0;
}

/* The name may hold anything, ") R 1 (" and line ends included: it ends at the last ')'. */
int proc_parse_stat(const char *data, size_t len, struct proc_stat *out)
{
    const char *open = memchr(data, '(', len);
    size_t end = len;
    while (end > 0 && data[end - 1] != ')')
        end--;
    if (!open || end == 0 || data + end - 1 < open)
        return -EINVAL;
    const char *close = data + end - 1;
    struct text head = text_of(data, (size_t)(open - data));
    int64_t pid = next_number(&head);
    size_t name_len = (size_t)(close - open - 1);
    if (pid <= 0 || pid > INT32_MAX)
        return -EINVAL;
    *out = (struct proc_stat){.pid = (int)pid};
    (void)clean_into(out->command, open + 1,
                     name_len < PROC_COMMAND_MAX ? name_len : PROC_COMMAND_MAX);
    return stat_fields(text_of(close + 1, len - (size_t)(close + 1 - data)), out);
}

static bool find_line(const char *data, size_t len, const char *key, struct text *rest)
{
    struct text t = text_of(data, len), word;
    while (next_line(&t, rest))
        if (next_word(rest, &word) && text_is(&word, key))
            return true;
    return false;
}

int64_t proc_parse_uid(const char *data, size_t len)
{
    struct text rest;
    return find_line(data, len, "Uid:", &rest) ? next_number(&rest) : -1;
}

int64_t proc_parse_capabilities(const char *data, size_t len)
{
    struct text rest, word;
    int64_t bits = 0;
    if (!find_line(data, len, "CapEff:", &rest) || !next_word(&rest, &word) || word.left > 16)
        return -1;
    for (size_t i = 0; i < word.left; i++) {
        char c = word.at[i];
        bool letter = c >= 'a' && c <= 'f';
        if (!is_digit(c) && !letter)
            return -1;
        bits = (int64_t)((uint64_t)bits << 4) | (letter ? c - 'a' + 10 : c - '0');
    }
    return bits;
}

/* ---- the whole system */

static bool cpu_line(struct text *line, int64_t *busy, int64_t *all, int64_t *steal)
{
    int64_t sum = 0, idle = 0;
    *steal = -1;
    for (int i = 0; i < CPU_FIELDS; i++) {
        struct text word;
        if (!next_word(line, &word)) {
            if (i <= CPU_IDLE)
                return false;
            break;
        }
        int64_t v = number_of(&word);
        if (v < 0 || __builtin_add_overflow(sum, v, &sum))
            return false;
        if (i == CPU_IDLE || i == CPU_IOWAIT)
            idle += v;
        if (i == CPU_STEAL)
            *steal = v;
    }
    *all = sum;
    *busy = sum - idle;
    return true;
}

static void totals_add_cpu(struct arena *a, struct proc_totals *out, size_t *room, int64_t cpu,
                           int64_t busy)
{
    if ((size_t)cpu >= *room) {
        size_t more = (size_t)cpu + 64;
        int64_t *grown = arena_array(a, more, sizeof *grown);
        for (size_t i = 0; i < more; i++)
            grown[i] = i < out->n_cpus ? out->cpu_busy_ticks[i] : -1;
        out->cpu_busy_ticks = grown;
        *room = more;
    }
    out->online += out->cpu_busy_ticks[cpu] < 0;
    out->cpu_busy_ticks[cpu] = busy;
    if ((size_t)cpu >= out->n_cpus)
        out->n_cpus = (size_t)cpu + 1;
}

static void totals_line(struct arena *a, struct proc_totals *out, size_t *room,
                        const struct text *key, struct text *rest)
{
    int64_t busy, all, steal;
    if (text_is(key, "cpu") && cpu_line(rest, &busy, &all, &steal)) {
        out->busy_ticks = busy;
        out->all_ticks = all;
        out->steal_ticks = steal;
    } else if (text_is(key, "processes")) {
        out->forks = next_number(rest);
    } else if (text_is(key, "btime")) {
        out->boot_s = next_number(rest);
    } else if (key->left > 3 && memcmp(key->at, "cpu", 3) == 0) {
        int64_t cpu = proc_parse_number(key->at + 3, key->left - 3);
        if (cpu >= 0 && cpu < PROC_CPUS_MAX && cpu_line(rest, &busy, &all, &steal))
            totals_add_cpu(a, out, room, cpu, busy);
    }
}

int proc_parse_totals(struct arena *a, const char *data, size_t len, struct proc_totals *out)
{
    struct text t = text_of(data, len), line, key;
    size_t room = 0;
    *out = (struct proc_totals){
        .busy_ticks = -1, .all_ticks = -1, .steal_ticks = -1, .forks = -1, .boot_s = -1};
    while (next_line(&t, &line))
        if (next_word(&line, &key))
            totals_line(a, out, &room, &key, &line);
    return out->all_ticks < 0 ? -EINVAL : 0;
}

int64_t proc_parse_memory_bytes(const char *data, size_t len, const char *key)
{
    struct text t = text_of(data, len), line, word;
    size_t n = strlen(key);
    while (next_line(&t, &line)) {
        if (!next_word(&line, &word) || word.left != n + 1 || memcmp(word.at, key, n) != 0)
            continue;
        int64_t kib = next_number(&line), bytes;
        return kib >= 0 && !__builtin_mul_overflow(kib, 1024, &bytes) ? bytes : -1;
    }
    return -1;
}

int64_t proc_parse_vmstat(const char *data, size_t len, const char *key)
{
    struct text rest;
    return find_line(data, len, key, &rest) ? next_number(&rest) : -1;
}

int64_t proc_parse_uptime_ms(const char *data, size_t len)
{
    struct text t = text_of(data, len), word;
    if (!next_word(&t, &word))
        return -1;
    const char *dot = memchr(word.at, '.', word.left);
    size_t whole = dot ? (size_t)(dot - word.at) : word.left;
    int64_t s = proc_parse_number(word.at, whole), ms = 0, scale = 100;
    if (s < 0 || __builtin_mul_overflow(s, 1000, &s))
        return -1;
    for (size_t i = whole + 1; i < word.left; i++, scale /= 10) {
        if (!is_digit(word.at[i]))
            return -1;
        ms += (word.at[i] - '0') * scale;
    }
    return __builtin_add_overflow(s, ms, &s) ? -1 : s;
}

static bool options_hide(struct text options)
{
    static const char key[] = "hidepid=";
    while (options.left > 0) {
        const char *comma = memchr(options.at, ',', options.left);
        size_t len = comma ? (size_t)(comma - options.at) : options.left;
        if (len >= sizeof key && memcmp(options.at, key, sizeof key - 1) == 0) {
            struct text value = text_of(options.at + sizeof key - 1, len - (sizeof key - 1));
            return !text_is(&value, "0") && !text_is(&value, "off");
        }
        options.at += len + (comma != NULL);
        options.left -= len + (comma != NULL);
    }
    return false;
}

bool proc_parse_hides(const char *data, size_t len)
{
    struct text t = text_of(data, len), line, device, place, type, options;
    bool hides = false;
    while (next_line(&t, &line))
        if (next_word(&line, &device) && next_word(&line, &place) && next_word(&line, &type) &&
            next_word(&line, &options) && text_is(&place, "/proc") && text_is(&type, "proc"))
            hides = options_hide(options);
    return hides;
}
