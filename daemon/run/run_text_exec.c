/* What is told of build steps, and of other programs that are not timed as lanes. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "run/run_text.h"
#include "run/run_text_parts.h"

static void say_build_failed(struct buf *b, const struct run_exec *req,
                             const struct run_exec_result *r)
{
    if (r->exec_errno != 0) {
        say_start(b, req->argv[0], r->exec_errno, r->exec_step);
        return;
    }
    if (r->exit_signal != 0)
        buf_printf(b, "was ended by signal %d (%s)", r->exit_signal, strsignal(r->exit_signal));
    else
        buf_printf(b, "exited with status %d", r->exit_status);
    struct clip line = last_line(r->tail);
    if (line.text[0])
        buf_printf(b, " (its output ends: %s)", line.text);
    buf_printf(b, "; see its log %s", req->log_path);
}

static void say_build_timeout(struct buf *b, const struct run_exec *req,
                              const struct run_exec_result *r)
{
    struct clip line = last_line(r->tail);

    buf_printf(b, "did not end within %" PRId64 " ms", req->timeout_ms);
    if (line.text[0])
        buf_printf(b, " (its output ends: %s)", line.text);
    buf_puts(b, "; mend the build or raise the policy's build timeout");
}

static void say_build_cancelled(struct buf *b, const struct run_exec *req,
                                const struct run_exec_result *r)
{
    buf_printf(b,
               "was cancelled after %" PRId64 " ms; submit the job again if that was not "
               "intended, its log is %s",
               r->wall_ns / 1000000, req->log_path);
}

static void say_build_unclean(struct buf *b, const struct run_exec *req,
                              const struct run_exec_result *r)
{
    buf_printf(b,
               "%s was not started, because processes of an earlier one still run: %s; end them "
               "by hand",
               clip(req->argv[0]).text, clip(r->unremoved).text);
}

static const struct build_text {
    const char *outcome, *code;
    void (*say)(struct buf *b, const struct run_exec *req, const struct run_exec_result *r);
} build_texts[] = {
    {"exec.failed", "build.failed", say_build_failed},
    {"exec.exit_status", "build.failed", say_build_failed},
    {"exec.signal", "build.failed", say_build_failed},
    {"exec.timeout", "build.timeout", say_build_timeout},
    {"exec.cancelled", "job.cancelled", say_build_cancelled},
    {"runner.unclean", "runner.unclean", say_build_unclean},
};

bool run_exec_known(const char *outcome)
{
    for (size_t i = 0; i < ARRAY_LEN(build_texts); i++)
        if (strcmp(build_texts[i].outcome, outcome) == 0)
            return true;
    return strcmp(outcome, "ok") == 0;
}

int run_exec_text(const char *what, const char *field, const struct run_exec *req,
                  const struct run_exec_result *r, struct err *e)
{
    CLEANUP(buf_deinit) struct buf words = {0};

    if (strcmp(r->outcome, "ok") == 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(build_texts); i++)
        if (strcmp(build_texts[i].outcome, r->outcome) == 0) {
            build_texts[i].say(&words, req, r);
            return err_set(e, -EPROTO, build_texts[i].code, field, "%s: %s", what, buf_str(&words));
        }
    return err_set(e, -EPROTO, "build.failed", field,
                   "%s: ended as %s; reinstall aurabenchd and aurabench-runner together", what,
                   r->outcome);
}
