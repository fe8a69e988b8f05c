#include "run/run_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "proto/profile/profile_tally.h"
#include "run/run_text_parts.h"

/* ---- lanes */

struct facts {
    const struct run_observe *req;
    const struct run_observation *o;
};

/* How far the lane had come when it ended. */
static const char *when(const struct facts *f)
{
    if (!measure_has_records(f->req->measure))
        return "";
    if (!f->o->raw.ready)
        return " before READY";
    if (f->o->raw.go_ns < 0)
        return " before GO";
    return f->o->raw.done_ns < 0 ? " before DONE" : " after DONE";
}

/* The last thing it said on stderr, which often is the reason, then the next step. */
static void say_then(struct buf *b, const struct facts *f, const char *next_step)
{
    struct clip line = last_line(f->o->stderr_tail);

    if (line.text[0])
        buf_printf(b, " (its stderr ends: %s)", line.text);
    buf_printf(b, "; %s", next_step);
}

static void say_record(struct buf *b, const char *name, const char *expected, const char *got)
{
    buf_printf(b,
               "printed the wrong %s line: expected \"%s\", got \"%s\"; correct the program or the "
               "suite's record",
               name, clip(expected).text, clip(got).text);
}

static void ready_wrong(struct buf *b, const struct facts *f)
{
    say_record(b, "READY", f->req->ready, f->o->got);
}

static void done_wrong(struct buf *b, const struct facts *f)
{
    say_record(b, "DONE", f->req->done, f->o->got);
}

static void baseline_wrong(struct buf *b, const struct facts *f)
{
    say_record(b, "BASELINE", f->req->baseline, f->o->got);
}

static void baseline_missing(struct buf *b, const struct facts *f)
{
    buf_printf(
        b,
        "printed READY (\"%s\") and no BASELINE (\"%s\") before it; print BASELINE before the "
        "load, and READY behind it",
        clip(f->req->ready).text, clip(f->req->baseline).text);
}

static void baseline_twice(struct buf *b, const struct facts *f)
{
    buf_printf(b, "printed its BASELINE line (\"%s\") twice; print it once, before the load",
               clip(f->req->baseline).text);
}

static void ready_early(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "printed \"%s\" before it had read the line \"%s\"; the load must begin after that "
               "line was read",
               clip(f->o->got).text, clip(f->req->load).text);
}

static void say_late(struct buf *b, const char *name, const char *expected, int64_t ms,
                     const char *got)
{
    buf_printf(b, "did not print its %s line (\"%s\") within %" PRId64 " ms", name,
               clip(expected).text, ms);
    if (got && *got)
        buf_printf(b, ", only \"%s\" without a newline", clip(got).text);
    buf_puts(b, "; mend the program or raise the policy's timeout");
}

static void ready_timeout(struct buf *b, const struct facts *f)
{
    say_late(b, "READY", f->req->ready, f->req->ready_timeout_ms, f->o->got);
}

static void baseline_timeout(struct buf *b, const struct facts *f)
{
    say_late(b, "BASELINE", f->req->baseline, f->req->ready_timeout_ms, f->o->got);
}

static void done_timeout(struct buf *b, const struct facts *f)
{
    say_late(b, "DONE", f->req->done, f->req->done_timeout_ms, f->o->got);
}

static void say_eof(struct buf *b, const struct facts *f, const char *name, const char *expected)
{
    buf_printf(b, "closed its stdout before it printed %s (\"%s\")", name, clip(expected).text);
    if (f->o->got && *f->o->got)
        buf_printf(b, ", after \"%s\"", clip(f->o->got).text);
    say_then(b, f, "run its command by hand to see why it ended early");
}

static void eof_before_baseline(struct buf *b, const struct facts *f)
{
    say_eof(b, f, "BASELINE", f->req->baseline);
}

static void load_failed(struct buf *b, const struct facts *f)
{
    buf_printf(b, "closed its stdin before \"%s\" could be written", clip(f->req->load).text);
    say_then(b, f, "the program must read that line from stdin after BASELINE");
}

static void window_ended(struct buf *b, const struct facts *f)
{
    buf_printf(b, "ended or closed its stdout within its window of %" PRId64 " ms after READY",
               f->req->window_ms);
    say_then(b, f, "it must wait for GO");
}

static void eof_before_ready(struct buf *b, const struct facts *f)
{
    say_eof(b, f, "READY", f->req->ready);
}

static void eof_before_done(struct buf *b, const struct facts *f)
{
    say_eof(b, f, "DONE", f->req->done);
}

static void go_failed(struct buf *b, const struct facts *f)
{
    buf_puts(b, "closed its stdin before GO could be written");
    say_then(b, f, "the program must read the GO line from stdin");
}

static void done_early(struct buf *b, const struct facts *f)
{
    buf_printf(b, "printed \"%s\" before GO was %s; the work must begin after the GO line was read",
               clip(f->o->got).text, f->o->raw.go_ns < 0 ? "written" : "read");
}

static void line_too_long(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "printed a line of over 512 bytes that begins \"%s\"; print the short record that "
               "the suite names",
               clip(f->o->got).text);
}

static void output_extra(struct buf *b, const struct facts *f)
{
    buf_printf(b, "printed more after DONE: \"%s\"; let nothing follow the DONE line",
               clip(f->o->got).text);
}

static void stdout_wrong(struct buf *b, const struct facts *f)
{
    const char *expected = f->req->stdout_text ? f->req->stdout_text : "";

    buf_printf(b,
               "printed the wrong output: expected %zu bytes \"%s\", got %" PRId64
               " bytes that differ from \"%s\" on; correct the program or the suite's stdout",
               strlen(expected), one_line(expected).text, f->o->raw.stdout_bytes,
               clip(f->o->got).text);
}

static void stdout_limit(struct buf *b, const struct facts *f)
{
    const char *expected = f->req->stdout_text;

    if (expected)
        buf_printf(b,
                   "printed %" PRId64 " bytes to stdout, where %zu are expected, until it was kept "
                   "from printing more; correct the program or the suite's stdout",
                   f->o->raw.stdout_bytes, strlen(expected));
    else
        buf_puts(b, "printed more to stdout than is kept; print less");
}

static void counter_bad(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "printed the line \"%s\", which is not COUNTER, a name and a decimal number, each "
               "behind one blank; print nothing else",
               clip(f->o->got).text);
}

static void profile_bad(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "left a profile that cannot be read, %s; let it write the format that the workload "
               "names",
               clip(f->o->got).text);
}

static void profile_large(struct buf *b, const struct facts *f)
{
    buf_printf(b, "left a profile of more than %d MiB (%s); record less, or sample more rarely",
               (int)(PROFILE_BYTES_MAX >> 20), clip(f->o->got).text);
}

static void profile_varied(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "left a profile with more different functions than the evidence keeps, %d MiB of "
               "names (%s); record less, or shorten the names",
               (int)(PROFILE_TALLY_BYTES_MAX >> 20), clip(f->o->got).text);
}

static void counter_unknown(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "printed the line \"%s\", whose counter the workload does not declare; name it in "
               "\"counters\" or do not print it",
               clip(f->o->got).text);
}

static void counter_twice(struct buf *b, const struct facts *f)
{
    buf_printf(b, "printed the line \"%s\", whose counter it had printed before; print each once",
               clip(f->o->got).text);
}

static void counter_missing(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "did not print its counter %s; print the line \"COUNTER %s NUMBER\", or take it out "
               "of \"counters\"",
               clip(f->o->got).text, clip(f->o->got).text);
}

static void ack_early(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "printed \"%s\" after DONE, before it had read the line \"%s\"; print nothing until "
               "that line was read",
               clip(f->o->got).text, clip(f->req->ack).text);
}

static void ack_unread(struct buf *b, const struct facts *f)
{
    buf_printf(b, "ended or closed its stdin after DONE without reading the line \"%s\"",
               clip(f->req->ack).text);
    say_then(b, f, "the program must read that line from stdin after DONE");
}

static void sample_bad(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "printed the line \"%s\" after DONE, which is not SAMPLE, a name, an index and a "
               "decimal number, each behind one blank; print nothing else",
               clip(f->o->got).text);
}

static void sample_unknown(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "printed the line \"%s\", whose series the workload does not declare; name it in "
               "\"samples\" or do not print it",
               clip(f->o->got).text);
}

static void sample_twice(struct buf *b, const struct facts *f)
{
    buf_printf(b, "printed the line \"%s\", whose index it had printed before; print each once",
               clip(f->o->got).text);
}

static void sample_gap(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "printed the line \"%s\", whose index is not the next of its series; print 0, 1, 2 "
               "and so on, in this order",
               clip(f->o->got).text);
}

static void sample_extra(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "printed the line \"%s\", which is more than the \"max\" samples of its series; "
               "print fewer, or raise \"max\"",
               clip(f->o->got).text);
}

static void sample_missing(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "printed fewer samples of %s than the \"min\" of its series; print all of them, or "
               "lower \"min\"",
               clip(f->o->got).text);
}

static void file_missing(struct buf *b, const struct facts *f)
{
    buf_printf(b, "has no file %s; let the build make it, or mend its path in \"files\"",
               clip(f->o->got).text);
}

static void file_link(struct buf *b, const struct facts *f)
{
    buf_printf(b, "has a link where its file %s should be; name the file that it leads to",
               clip(f->o->got).text);
}

static void file_special(struct buf *b, const struct facts *f)
{
    buf_printf(b, "has something that is no regular file as %s; name a file", clip(f->o->got).text);
}

static void link_forbidden(struct buf *b, const struct facts *f)
{
    buf_printf(b, "has %s, which \"must_not_link\" forbids; build it without that",
               clip(f->o->got).text);
}

static void link_missing(struct buf *b, const struct facts *f)
{
    buf_printf(b, "lacks %s, which \"must_link\" asks for; build it with that",
               clip(f->o->got).text);
}

static void link_unknown(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "has libraries and symbols that cannot be read in %s; build a program of the kind "
               "ELF64 that is not stripped of them, or drop \"must_link\" and \"must_not_link\"",
               clip(f->o->got).text);
}

static void prepare_failed(struct buf *b, const struct facts *f)
{
    buf_printf(b, "could not be prepared: %.800s", f->o->got);
}

static void output_missing(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "did not write its output %s; let the step write it, or take it out of \"outputs\"",
               clip(f->o->got).text);
}

static void output_link(struct buf *b, const struct facts *f)
{
    buf_printf(b, "wrote a link in place of its output %s; name the file that it leads to",
               clip(f->o->got).text);
}

static void output_special(struct buf *b, const struct facts *f)
{
    buf_printf(b, "made something that is no regular file of its output %s; name a file",
               clip(f->o->got).text);
}

static void output_large(struct buf *b, const struct facts *f)
{
    buf_printf(b, "wrote more than 1 GiB to its output %s; name a smaller file",
               clip(f->o->got).text);
}

static void output_differs(struct buf *b, const struct facts *f)
{
    if (f->req->measure == MEASURE_KERNEL) {
        buf_printf(b,
                   "came to another %s than the first time; a kernel makes the same bytes in every "
                   "run",
                   clip(f->o->got).text);
        return;
    }
    buf_printf(b,
               "wrote other bytes to its output %s than the first time, and the workload is "
               "\"reproducible\"; let the step leave out times and random names, or drop "
               "\"reproducible\"",
               clip(f->o->got).text);
}

/* In the words of the client, which spoke with the driver. */
static void kernel_failed(struct buf *b, const struct facts *f)
{
    buf_printf(b, "was no good kernel: %.400s", f->o->got);
}

static void stderr_written(struct buf *b, const struct facts *f)
{
    buf_printf(b, "wrote %" PRId64 " bytes to stderr", f->o->raw.stderr_bytes);
    say_then(b, f, "a lane must leave its stderr empty");
}

static void stderr_limit(struct buf *b, const struct facts *f)
{
    buf_puts(b, "wrote more to stderr than is kept");
    say_then(b, f, "print less");
}

static void exit_timeout(struct buf *b, const struct facts *f)
{
    buf_printf(b, "did not exit within %" PRId64 " ms%s; %s", f->req->done_timeout_ms, when(f),
               measure_has_records(f->req->measure)
                   ? "let it exit when its stdin ends"
                   : "mend the program or raise the policy's timeout");
}

static void exit_status(struct buf *b, const struct facts *f)
{
    buf_printf(b, "exited with status %d%s", f->o->raw.exit_status, when(f));
    say_then(b, f, "run its command by hand to see why");
}

static void by_signal(struct buf *b, const struct facts *f)
{
    buf_printf(b, "was ended by signal %d (%s)%s", f->o->raw.exit_signal,
               strsignal(f->o->raw.exit_signal), when(f));
    say_then(b, f, "run its command by hand to see why");
}

static void leftover(struct buf *b, const struct facts *f)
{
    if (f->o->unremoved)
        buf_printf(b,
                   "left processes that could not be ended: %s; end them by hand before anything "
                   "else is measured",
                   clip(f->o->unremoved).text);
    else
        buf_printf(b,
                   "left %d processes running, which were ended: %s; let it wait for everything "
                   "that it starts",
                   f->o->raw.leftovers, clip(f->o->leftover_names).text);
}

static void unclean(struct buf *b, const struct facts *f)
{
    buf_printf(b,
               "was not started, because processes of an earlier one still run: %s; end them by "
               "hand",
               clip(f->o->unremoved).text);
}

static void exec_failed(struct buf *b, const struct facts *f)
{
    say_start(b, f->req->argv[0], f->o->exec_errno, f->o->exec_step);
}

#define LANE "workloads.%s.lanes.%s.command"
#define LANE_MEMBER(member) "workloads.%s.lanes.%s." member
#define WORKLOAD(member) "workloads.%s." member

static const struct lane_text {
    const char *code;
    const char *field; /* with the workload's and perhaps the lane's name */
    void (*say)(struct buf *b, const struct facts *f); /* NULL: the words are always the same */
    const char *fixed;
} lane_texts[] = {
    {"lane.exec_failed", LANE, exec_failed, NULL},
    {"lane.ready_wrong", WORKLOAD("ready"), ready_wrong, NULL},
    {"lane.ready_timeout", WORKLOAD("ready"), ready_timeout, NULL},
    {"lane.ready_unflushed", LANE, NULL,
     "printed its READY line but left it in the program's own buffer; flush stdout after READY"},
    {"lane.eof_before_ready", LANE, eof_before_ready, NULL},
    {"lane.go_failed", LANE, go_failed, NULL},
    {"lane.done_early", LANE, done_early, NULL},
    {"lane.done_wrong", WORKLOAD("done"), done_wrong, NULL},
    {"lane.done_timeout", WORKLOAD("done"), done_timeout, NULL},
    {"lane.done_unflushed", LANE, NULL,
     "printed its DONE line but left it in the program's own buffer; flush stdout after DONE"},
    {"lane.eof_before_done", LANE, eof_before_done, NULL},
    {"lane.line_too_long", LANE, line_too_long, NULL},
    {"lane.output_extra", LANE, output_extra, NULL},
    {"lane.stdout_wrong", WORKLOAD("stdout"), stdout_wrong, NULL},
    {"lane.stdout_limit", LANE, stdout_limit, NULL},
    {"lane.counter_bad", LANE, counter_bad, NULL},
    {"lane.counter_unknown", WORKLOAD("counters"), counter_unknown, NULL},
    {"lane.counter_twice", LANE, counter_twice, NULL},
    {"lane.counter_missing", WORKLOAD("counters"), counter_missing, NULL},
    {"lane.ack_early", WORKLOAD("ack"), ack_early, NULL},
    {"lane.ack_unread", WORKLOAD("ack"), ack_unread, NULL},
    {"lane.sample_bad", LANE, sample_bad, NULL},
    {"lane.sample_unknown", WORKLOAD("samples"), sample_unknown, NULL},
    {"lane.sample_twice", LANE, sample_twice, NULL},
    {"lane.sample_gap", LANE, sample_gap, NULL},
    {"lane.sample_extra", WORKLOAD("samples"), sample_extra, NULL},
    {"lane.sample_missing", WORKLOAD("samples"), sample_missing, NULL},
    {"lane.sample_limit", LANE, NULL,
     "printed more than 256 KiB of samples; print fewer, or shorten the names of their series"},
    {"lane.instructions_unknown", WORKLOAD("measure"), NULL,
     "ran, but its instructions could not be counted; run valgrind --tool=callgrind with its command "
     "by hand, or measure where nobody else uses the CPU's counters"},
    {"lane.profile_missing", LANE, NULL,
     "left no profile in the folder that it ran in; let it write one there, under a name without a "
     "dot before it"},
    {"lane.profile_bad", WORKLOAD("profile.format"), profile_bad, NULL},
    {"lane.profile_large", LANE, profile_large, NULL},
    {"lane.profile_varied", LANE, profile_varied, NULL},
    {"lane.profile_empty", LANE, NULL,
     "left a profile without a sample; let it run longer, or sample more often"},
    {"lane.baseline_wrong", WORKLOAD("baseline"), baseline_wrong, NULL},
    {"lane.baseline_missing", WORKLOAD("baseline"), baseline_missing, NULL},
    {"lane.baseline_twice", WORKLOAD("baseline"), baseline_twice, NULL},
    {"lane.baseline_timeout", WORKLOAD("baseline"), baseline_timeout, NULL},
    {"lane.baseline_unflushed", LANE, NULL,
     "printed its BASELINE line but left it in the program's own buffer; flush stdout after "
     "BASELINE"},
    {"lane.eof_before_baseline", LANE, eof_before_baseline, NULL},
    {"lane.ready_early", WORKLOAD("load"), ready_early, NULL},
    {"lane.load_failed", LANE, load_failed, NULL},
    {"lane.memory_unknown", LANE, NULL,
     "waited, but the resident bytes of its processes could not be read; let it run as the "
     "daemon's user"},
    {"lane.window_ended", LANE, window_ended, NULL},
    {"lane.cpu_unknown", LANE, NULL,
     "waited, but what it used of the CPU is not known, because a process of it ended within the "
     "window; start none there, or let the daemon make control groups"},
    {"lane.file_missing", LANE_MEMBER("files"), file_missing, NULL},
    {"lane.file_link", LANE_MEMBER("files"), file_link, NULL},
    {"lane.file_special", LANE_MEMBER("files"), file_special, NULL},
    {"lane.link_forbidden", LANE_MEMBER("must_not_link"), link_forbidden, NULL},
    {"lane.link_missing", LANE_MEMBER("must_link"), link_missing, NULL},
    {"lane.link_unknown", LANE_MEMBER("must_link"), link_unknown, NULL},
    {"lane.prepare_failed", LANE_MEMBER("prepare"), prepare_failed, NULL},
    {"lane.output_missing", LANE_MEMBER("outputs"), output_missing, NULL},
    {"lane.output_link", LANE_MEMBER("outputs"), output_link, NULL},
    {"lane.output_special", LANE_MEMBER("outputs"), output_special, NULL},
    {"lane.output_large", LANE_MEMBER("outputs"), output_large, NULL},
    {"lane.output_differs", LANE_MEMBER("outputs"), output_differs, NULL},
    {"lane.artifact_differs", LANE, kernel_failed, NULL},
    {"lane.terminal_differs", LANE, kernel_failed, NULL},
    {"lane.kernel_failed", LANE, kernel_failed, NULL},
    {"lane.stderr_written", LANE, stderr_written, NULL},
    {"lane.stderr_limit", LANE, stderr_limit, NULL},
    {"lane.exit_timeout", LANE, exit_timeout, NULL},
    {"lane.exit_status", LANE, exit_status, NULL},
    {"lane.signal", LANE, by_signal, NULL},
    {"lane.leftover", LANE, leftover, NULL},
    {"lane.cancelled", LANE, NULL,
     "was cancelled while it ran; submit the job again if that was not intended"},
    {"run.refused", LANE, NULL,
     "was refused by the runner; reinstall aurabenchd and aurabench-runner together"},
    {"runner.unclean", LANE, unclean, NULL},
};

static const struct lane_text *find_text(const char *code)
{
    static const struct lane_text unknown = {
        "", LANE, NULL,
        "ended in a way that this daemon has no words for; reinstall aurabenchd and "
        "aurabench-runner together"};

    for (size_t i = 0; i < ARRAY_LEN(lane_texts); i++)
        if (strcmp(lane_texts[i].code, code) == 0)
            return &lane_texts[i];
    return &unknown;
}

bool run_observe_known(const char *outcome)
{
    for (size_t i = 0; i < ARRAY_LEN(lane_texts); i++)
        if (strcmp(lane_texts[i].code, outcome) == 0)
            return true;
    return strcmp(outcome, "ok") == 0;
}

int run_observe_text(const struct run_text_who *who, const struct run_observe *req,
                     const struct run_observation *o, struct err *e)
{
    const struct facts facts = {req, o};
    const struct lane_text *text = find_text(o->raw.outcome);
    CLEANUP(buf_deinit) struct buf words = {0};
    char field[128];

    if (strcmp(o->raw.outcome, "ok") == 0)
        return 0;
    if (text->say)
        text->say(&words, &facts);
    else
        buf_puts(&words, text->fixed);
    (void)snprintf(field, sizeof field, text->field, who->workload, who->lane);
    return err_set(e, -EPROTO, o->raw.outcome, field, "workload %s, lane %s, side %s: %s",
                   who->workload, who->lane, who->side, buf_str(&words));
}
