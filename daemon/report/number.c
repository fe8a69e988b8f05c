#include "report/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Beyond this, decimals would pretend and the text would burst its column. */
#define PLAIN_MAX 1e15

static char *undefined(char *out)
{
    snprintf(out, NUMBER_MAX, "%s", NUMBER_UNDEFINED);
    return out;
}

static char *decimals(char *out, double v, int digits, const char *unit)
{
    if (!isfinite(v))
        return undefined(out);
    if (fabs(v) >= PLAIN_MAX)
        snprintf(out, NUMBER_MAX, "%.*e%s", digits, v, unit);
    else
        snprintf(out, NUMBER_MAX, "%.*f%s", digits, v, unit);
    return out;
}

char *number_ms(char *out, double ns)
{
    return decimals(out, ns / 1e6, 6, "");
}

char *number_per_operation(char *out, double ns, double smallest_ns)
{
    if (smallest_ns >= 1e5)
        return decimals(out, ns / 1e6, 6, " ms/op");
    if (smallest_ns >= 1e2)
        return decimals(out, ns / 1e3, 6, " us/op");
    return decimals(out, ns, 3, " ns/op");
}

char *number_ratio(char *out, double ratio)
{
    return decimals(out, ratio, 6, "");
}

char *number_pct(char *out, double pct)
{
    if (!isfinite(pct))
        return undefined(out);
    if (fabs(pct) >= PLAIN_MAX)
        return decimals(out, pct, 4, "%");
    /* What rounds to zero has no direction. */
    if (fabs(pct) < 0.00005)
        snprintf(out, NUMBER_MAX, "0.0000%%");
    else
        snprintf(out, NUMBER_MAX, "%+.4f%%", pct);
    return out;
}

char *number_share(char *out, double pct)
{
    return decimals(out, pct, 1, "%");
}

char *number_fraction(char *out, double f)
{
    return decimals(out, f * 100, 2, "%");
}

char *number_count(char *out, int64_t n)
{
    char digits[24];
    if (n < 0) {
        snprintf(out, NUMBER_MAX, "unknown");
        return out;
    }
    int len = snprintf(digits, sizeof digits, "%" PRId64, n);
    char *to = out;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

char *number_mib(char *out, double bytes)
{
    return decimals(out, bytes / 1048576, 3, " MiB");
}

char *number_core(char *out, double ppm)
{
    return decimals(out, ppm / 1e4, 4, "%");
}

char *number_value(char *out, double v)
{
    if (isnan(v) || v < 0 || v >= 0x1p62)
        snprintf(out, NUMBER_MAX, NUMBER_UNDEFINED);
    else if (v == (double)(int64_t)v)
        number_count(out, (int64_t)v);
    else
        snprintf(out, NUMBER_MAX, "%.1f", v);
    return out;
}

char *number_bytes(char *out, int64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes;
    int unit = -1;
    if (bytes < 1024) {
        char count[NUMBER_MAX];
        snprintf(out, NUMBER_MAX, bytes < 0 ? "%s" : "%s bytes", number_count(count, bytes));
        return out;
    }
    while (v >= 1024 && unit < 5) {
        v /= 1024;
        unit++;
    }
    snprintf(out, NUMBER_MAX, "%.2f %s", v, units[unit]);
    return out;
}

char *number_span(char *out, int64_t ms)
{
    int64_t s = ms / 1000;
    if (ms < 0)
        snprintf(out, NUMBER_MAX, "unknown");
    else if (s < 10)
        snprintf(out, NUMBER_MAX, "%" PRId64 ".%" PRId64 " s", s, ms % 1000 / 100);
    else if (s < 60)
        snprintf(out, NUMBER_MAX, "%" PRId64 " s", s);
    else if (s < 3600)
        snprintf(out, NUMBER_MAX, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
    else
        snprintf(out, NUMBER_MAX, "%" PRId64 " h %" PRId64 " min", s / 3600, s / 60 % 60);
    return out;
}
