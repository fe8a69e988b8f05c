/* Random sequences of all that happens to jobs, against a model of the rules: the same calls are
 * refused, the same states and counts come out, and after each call the store's own tables fit
 * together. */
#include "tests/unit/store/random.h"
#include "tests/unit/store/unit_after.h"

#define JOBS_MAX 40
#define AFTER_MODEL_MAX 3
#define STEPS 1500

struct row {
    int other;
    enum job_need need;
    bool open;
};

struct model_job {
    const char *id;
    enum job_state state;
    int priority;
    int64_t next_try_ms; /* waiting */
    int attempt;         /* number of the attempt that runs; 0: none */
    bool untold;         /* it has ended, and not everybody has been told */
    struct row rows[AFTER_MODEL_MAX];
    size_t n;
};

struct model {
    struct unit *u;
    struct model_job jobs[JOBS_MAX];
    int n;
    int attempts; /* so far */
    int64_t now_ms;
    int done[JOB_EVENT_COUNT]; /* calls that went through: the test must have tried all */
};

static const int64_t uid = 1000;

/* ---- the rules, once more */

static int blocked(const struct model_job *j)
{
    int n = 0;
    for (size_t i = 0; i < j->n; i++)
        n += j->rows[i].open;
    return n;
}

static bool has_untold_follower(const struct model *m, int job)
{
    for (int i = 0; i < m->n; i++)
        for (size_t k = 0; k < m->jobs[i].n; k++)
            if (m->jobs[i].rows[k].other == job && m->jobs[i].rows[k].open)
                return true;
    return false;
}

static void goes(struct model *m, int job, enum job_state to)
{
    struct model_job *j = &m->jobs[job];
    j->state = to;
    if (!job_state_is_final(to)) {
        j->untold = false;
        return;
    }
    for (size_t i = 0; i < j->n; i++)
        j->rows[i].open = false;
    j->untold = has_untold_follower(m, job);
}

static void tell_all_of(struct model *m, int ended)
{
    m->jobs[ended].untold = false;
    for (int i = 0; i < m->n; i++)
        for (size_t k = 0; k < m->jobs[i].n; k++) {
            struct row *row = &m->jobs[i].rows[k];
            if (row->other != ended || !row->open)
                continue;
            row->open = false;
            if (row->need == NEED_OK && m->jobs[ended].state != JOB_DONE)
                goes(m, i, JOB_CANCELLED);
        }
}

static void settle_model(struct model *m)
{
    for (int i = 0; i < m->n; i++)
        if (m->jobs[i].untold) {
            tell_all_of(m, i);
            i = -1; /* who is cancelled has followers too */
        }
}

static bool reaches(const struct model *m, int from, int to)
{
    if (from == to)
        return true;
    for (size_t i = 0; i < m->jobs[from].n; i++)
        if (reaches(m, m->jobs[from].rows[i].other, to))
            return true;
    return false;
}

static bool can_never_end_well(const struct model *m, const struct row *row)
{
    enum job_state state = m->jobs[row->other].state;
    return row->need == NEED_OK && job_state_is_final(state) && state != JOB_DONE;
}

/* Asks the rows as a submit, an edit or another run would. NULL, or the code of the refusal. */
static const char *ask(const struct model *m, int job, struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (rows[i].other == job)
            return "job.after_circle";
        if (can_never_end_well(m, &rows[i]))
            return "job.after_failed";
        rows[i].open = !job_state_is_final(m->jobs[rows[i].other].state);
    }
    for (size_t i = 0; i < n; i++)
        if (reaches(m, rows[i].other, job))
            return "job.after_circle";
    return NULL;
}

/* ---- calls */

static struct store_event event_of(const struct model *m)
{
    return (struct store_event){
        .wall_ms = m->now_ms, .next_try_ms = m->now_ms + (int64_t)rnd(50), .peer_uid = &uid};
}

/* The call's outcome is the one that the model expects: NULL, or the code of a refusal. */
static bool went(struct model *m, int rc, const char *expected, const char *call)
{
    if ((rc == 0) != (expected == NULL) || (expected && strcmp(m->u->e.code, expected) != 0))
        fail_msg("%s: %d %s (%s), expected %s", call, rc, m->u->e.code, m->u->e.text,
                 expected ? expected : "it to go through");
    return rc == 0;
}

static size_t random_rows(struct model *m, struct row *rows)
{
    size_t n = m->n ? (size_t)rnd(AFTER_MODEL_MAX + 1) : 0, used = 0;
    for (size_t i = 0; i < n; i++) {
        struct row row = {.other = (int)rnd((uint64_t)m->n), .need = (enum job_need)rnd(2)};
        bool twice = false;
        for (size_t k = 0; k < used; k++)
            twice = twice || rows[k].other == row.other;
        if (!twice)
            rows[used++] = row;
    }
    return used;
}

static struct job_after *after_of(const struct model *m, const struct row *rows, size_t n)
{
    struct job_after *after = arena_array(&m->u->arena, n, sizeof *after);
    for (size_t i = 0; i < n; i++)
        after[i] = (struct job_after){m->jobs[rows[i].other].id, rows[i].need};
    return after;
}

static void call_submit(struct model *m)
{
    struct model_job *j = &m->jobs[m->n];
    struct store_new_job new = unit_new_job(m->u, m->n + 1);
    bool duplicate = true;
    if (m->n == JOBS_MAX)
        return;
    *j = (struct model_job){.id = new.id, .priority = (int)rnd(3)};
    j->n = random_rows(m, j->rows);
    new.priority = j->priority;
    new.held = rnd(4) == 0;
    new.after = after_of(m, j->rows, j->n);
    new.n_after = j->n;
    const char *expected = NULL;
    for (size_t i = 0; i < j->n && !expected; i++)
        expected = can_never_end_well(m, &j->rows[i]) ? "job.after_failed" : NULL;
    for (size_t i = 0; i < j->n; i++)
        j->rows[i].open = !job_state_is_final(m->jobs[j->rows[i].other].state);
    if (!went(m, store_job_submit(m->u->s, &new, &duplicate, &m->u->e), expected, "submit"))
        return;
    assert_false(duplicate);
    j->state = new.held ? JOB_HELD : JOB_QUEUED;
    m->done[JOB_SUBMIT]++;
    m->n++;
    /* A lost answer: the same once more is the same job. */
    ok(m->u, store_job_submit(m->u->s, &new, &duplicate, &m->u->e));
    assert_true(duplicate);
}

static void call_event(struct model *m, int job, enum job_event event)
{
    struct model_job *j = &m->jobs[job];
    struct store_event with = event_of(m);
    struct job_step step;
    bool legal = job_state_step(j->state, event, &step) == 0;
    bool ends = legal && (job_state_is_final(step.to) || step.to == JOB_WAITING) && j->attempt;
    /* A cancelled job's attempt ends later. */
    if (ends && event == JOB_CANCEL)
        ends = rnd(2) == 0;
    if (ends) {
        with.attempt = unit_id(m->u, 9000 + j->attempt);
        with.outcome = "over";
    }
    int rc = store_job_event(m->u->s, j->id, event, &with, NULL, &m->u->e);
    if (!went(m, rc, legal ? NULL : "job.bad_state", job_event_name(event)))
        return;
    m->done[event]++;
    goes(m, job, step.to);
    j->next_try_ms = with.next_try_ms;
    if (ends)
        j->attempt = 0;
}

static struct store_edit edit_of(struct model *m, int job, struct row *rows, size_t *n)
{
    *n = random_rows(m, rows);
    return (struct store_edit){.document = arena_printf(&m->u->arena, "{\"e\":%d}", (int)rnd(5)),
                               .priority = m->jobs[job].priority,
                               .after = after_of(m, rows, *n),
                               .n_after = *n,
                               .ask_again = rnd(2) == 0};
}

/* A list that stays is not asked again. */
static bool same_rows(const struct model_job *j, const struct row *rows, size_t n)
{
    bool same = n == j->n;
    for (size_t i = 0; same && i < n; i++)
        same = j->rows[i].other == rows[i].other && j->rows[i].need == rows[i].need;
    return same;
}

static void take_rows(struct model_job *j, const struct row *rows, size_t n)
{
    memcpy(j->rows, rows, n * sizeof *rows);
    j->n = n;
}

static void call_edit(struct model *m, int job)
{
    struct model_job *j = &m->jobs[job];
    struct row rows[AFTER_MODEL_MAX + 1] = {0};
    const struct store_event with = event_of(m);
    size_t n;
    struct store_edit edit = edit_of(m, job, rows, &n);
    edit.priority = (int)rnd(3);
    struct job_step step;
    const char *expected = job_state_step(j->state, JOB_EDIT, &step) != 0 ? "job.bad_state" : NULL;
    bool same = same_rows(j, rows, n);
    if (!expected && !same) {
        struct model_job without = *j;
        j->n = 0; /* the old list is no way to a circle */
        expected = ask(m, job, rows, n);
        *j = without;
    }
    int rc = store_job_edit(m->u->s, j->id, &edit, &with, NULL, &m->u->e);
    if (!went(m, rc, expected, "edit"))
        return;
    m->done[JOB_EDIT]++;
    j->priority = edit.priority;
    if (edit.ask_again)
        j->next_try_ms = m->now_ms;
    if (!same)
        take_rows(j, rows, n);
}

static const char *expect_rerun(struct model *m, int job, const struct store_edit *edit,
                                struct row *rows, size_t *n)
{
    struct model_job *j = &m->jobs[job], before = *j;
    struct job_step step;
    const char *expected = NULL;
    if (job_state_step(j->state, JOB_RERUN, &step) != 0 || j->attempt)
        return "job.bad_state";
    if (!edit || same_rows(j, rows, *n)) {
        memcpy(rows, j->rows, j->n * sizeof *rows);
        *n = j->n;
    }
    j->state = JOB_QUEUED;
    j->n = 0;
    expected = ask(m, job, rows, *n);
    *j = before;
    return expected;
}

static void call_rerun(struct model *m, int job)
{
    struct model_job *j = &m->jobs[job];
    struct row rows[AFTER_MODEL_MAX + 1] = {0};
    const struct store_event with = event_of(m);
    size_t n = 0;
    bool edits = rnd(2) == 0, held = rnd(3) == 0;
    struct store_edit edit = {0};
    if (edits)
        edit = edit_of(m, job, rows, &n);
    const char *expected = expect_rerun(m, job, edits ? &edit : NULL, rows, &n);
    int rc = store_job_rerun(m->u->s, j->id, edits ? &edit : NULL, held, &with, NULL, &m->u->e);
    if (!went(m, rc, expected, "rerun"))
        return;
    m->done[JOB_RERUN]++;
    j->state = held ? JOB_HELD : JOB_QUEUED;
    j->untold = false;
    take_rows(j, rows, n);
}

static int next_of(struct model *m)
{
    int best = -1;
    for (int i = 0; i < m->n; i++) {
        struct model_job *j = &m->jobs[i];
        if (j->state == JOB_WAITING && j->next_try_ms <= m->now_ms) {
            m->done[JOB_RETRY_DUE]++;
            goes(m, i, JOB_QUEUED);
        }
        if (j->state == JOB_QUEUED && blocked(j) == 0 &&
            (best < 0 || j->priority > m->jobs[best].priority))
            best = i;
    }
    return best;
}

static void call_claim(struct model *m)
{
    const struct store_new_attempt attempt = {
        .id = unit_id(m->u, 9001 + m->attempts), .boot = UNIT_BOOT, .version = "0.1.0"};
    char job[ULID_LEN + 1];
    int want = next_of(m);
    int rc = store_job_claim(m->u->s, m->now_ms, &attempt, job, &m->u->e);
    assert_int_equal(rc, want < 0 ? STORE_NONE : 0);
    if (want < 0)
        return;
    assert_string_equal(job, m->jobs[want].id);
    m->done[JOB_CLAIM]++;
    m->jobs[want].attempt = ++m->attempts;
    goes(m, want, JOB_PREPARING);
}

/* What an attempt brings its job to, or the end of an attempt that was stopped. */
static void call_attempt(struct model *m, int job)
{
    static const enum job_event next[][5] = {
        {JOB_TIMING_BEGINS, JOB_REFUSE, JOB_DEFER, JOB_FAIL, JOB_UNQUALIFY},
        {JOB_TIMING_ENDS, JOB_TIMING_ENDS, JOB_TIMING_ENDS, JOB_FAIL, JOB_LOSE},
        {JOB_FINISH, JOB_FINISH, JOB_FINISH, JOB_REQUEUE, JOB_FAIL},
    };
    /* One that has something to end, if there is any. */
    for (int i = 0; i < m->n && !m->jobs[job].attempt; i++)
        job = (job + 1) % m->n;
    struct model_job *j = &m->jobs[job];
    if (job_state_is_running(j->state)) {
        call_event(m, job, next[j->state - JOB_PREPARING][rnd(5)]);
    } else if (j->attempt) {
        ok(m->u, store_attempt_end(m->u->s, unit_id(m->u, 9000 + j->attempt), "cancelled",
                                   m->now_ms, &m->u->e));
        j->attempt = 0;
    } else {
        call_event(m, job, JOB_REQUEUE);
    }
}

static void call_settle(struct model *m)
{
    (void)unit_settle(m->u);
    settle_model(m);
}

static void call_something(struct model *m)
{
    static const enum job_event asked[] = {JOB_HOLD, JOB_RELEASE, JOB_CANCEL, JOB_EXPIRE,
                                           JOB_RETRY_DUE};
    int job = m->n ? (int)rnd((uint64_t)m->n) : -1;
    m->now_ms += (int64_t)rnd(10);
    switch (job < 0 ? 0 : rnd(16)) {
    case 0:
    case 1:
        call_submit(m);
        return;
    case 2:
        call_event(m, job, asked[rnd(ARRAY_LEN(asked))]);
        return;
    case 3:
        call_event(m, job, JOB_HOLD);
        return;
    case 4:
    case 5:
        call_event(m, job, JOB_RELEASE);
        return;
    case 6:
        call_edit(m, job);
        return;
    case 7:
    case 8:
        call_rerun(m, job);
        return;
    case 9:
    case 10:
    case 11:
        call_claim(m);
        return;
    case 12:
        call_settle(m);
        return;
    default:
        call_attempt(m, job);
    }
}

/* ---- invariants */

static void compare_job(struct model *m, int job)
{
    const struct model_job *j = &m->jobs[job];
    const struct store_job *row = unit_job(m->u, j->id);
    if (row->state != j->state)
        fail_msg("job %d is %s, the model says %s", job, job_state_name(row->state),
                 job_state_name(j->state));
    assert_int_equal(row->blocked, blocked(j));
    assert_int_equal(row->priority, j->priority);
    assert_int_equal(row->next_try_ms, j->state == JOB_WAITING ? j->next_try_ms : -1);
    assert_int_equal(row->held_by, j->state == JOB_HELD ? uid : -1);
}

/* One row for each fault. */
static const char *const faults[] = {
    /* a claimable job is one that waits for nobody */
    "SELECT id FROM jobs WHERE blocked <> (SELECT count(*) FROM job_after WHERE job = jobs.id"
    " AND open)",
    "SELECT id FROM jobs WHERE blocked > 0 AND state NOT IN ('held', 'queued', 'waiting')",
    /* who waits for an ended job is going to be told */
    "SELECT a.job FROM job_after a JOIN jobs o ON o.id = a.other WHERE a.open AND o.state IN"
    " ('done', 'failed', 'cancelled', 'expired', 'unqualified', 'lost')"
    " AND a.other NOT IN (SELECT job FROM job_ends)",
    "SELECT job FROM job_ends WHERE (SELECT state FROM jobs WHERE id = job) NOT IN"
    " ('done', 'failed', 'cancelled', 'expired', 'unqualified', 'lost')",
    /* the history is whole and ends where the job is */
    "SELECT id FROM jobs j WHERE state <> (SELECT to_state FROM job_history WHERE job = j.id"
    " ORDER BY seq DESC LIMIT 1)",
    "SELECT job FROM job_history h WHERE from_state <> coalesce((SELECT to_state FROM job_history"
    " WHERE job = h.job AND seq = h.seq - 1), 'new')",
    "SELECT job FROM job_history GROUP BY job HAVING count(*) <> max(seq) OR min(seq) <> 1",
    /* counts */
    "SELECT state FROM job_counts c WHERE jobs <> (SELECT count(*) FROM jobs WHERE state ="
    " c.state)",
    "SELECT id FROM jobs WHERE state NOT IN (SELECT state FROM job_counts)",
    /* attempts: what runs has one, and only one */
    "SELECT id FROM jobs j WHERE state IN ('preparing', 'measuring', 'verifying') AND 1 <>"
    " (SELECT count(*) FROM attempts WHERE job = j.id AND ended_ms IS NULL)",
    "SELECT job FROM attempts WHERE ended_ms IS NULL AND (SELECT state FROM jobs WHERE id = job)"
    " IN ('held', 'queued', 'waiting')",
    "SELECT id FROM jobs j WHERE run_from > 1 + (SELECT count(*) FROM attempts WHERE job = j.id)",
};

static void check_histories(struct unit *u)
{
    struct query q;
    static const char SQL[] = "SELECT from_state, event, to_state FROM job_history";
    query_begin(&q, u->s, SQL);
    while (query_row(&q)) {
        int from = job_state_parse((const char *)sqlite3_column_text(q.st, 0));
        int event = job_event_parse((const char *)sqlite3_column_text(q.st, 1));
        int to = job_state_parse((const char *)sqlite3_column_text(q.st, 2));
        struct job_step step;
        if (from < 0 || event < 0 ||
            job_state_step((enum job_state)from, (enum job_event)event, &step) != 0 ||
            (int)step.to != to)
            fail_msg("%s: %s -> %s is no step of the table", job_event_name((enum job_event)event),
                     job_state_name((enum job_state)from), job_state_name((enum job_state)to));
    }
    ok(u, query_end(&q, &u->e));
}

static void check_faults(struct unit *u)
{
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        struct query q;
        query_begin(&q, u->s, faults[i]);
        if (query_row(&q))
            fail_msg("%s: %s", faults[i], (const char *)sqlite3_column_text(q.st, 0));
        ok(u, query_end(&q, &u->e));
    }
}

static int done[JOB_EVENT_COUNT];

static void random_sequences_keep_every_invariant(void **ctx)
{
    struct unit *u = *ctx;
    struct model *m = mem_alloc(sizeof *m);
    m->u = u;
    m->now_ms = 100;
    unit_boot(u);
    ok(u, sql_exec(u->s, "PRAGMA synchronous = OFF", &u->e)); /* no crash is part of this */
    for (int i = 0; i < STEPS; i++) {
        call_something(m);
        for (int job = 0; job < m->n; job++)
            compare_job(m, job);
        if (i % 10 == 0 || i == STEPS - 1) {
            check_faults(u);
            arena_deinit(&u->arena);
            u->arena = (struct arena){0};
            for (int job = 0; job < m->n; job++)
                m->jobs[job].id = unit_id(u, job + 1);
        }
    }
    check_histories(u);
    for (int e = 0; e < JOB_EVENT_COUNT; e++)
        done[e] += m->done[e];
    free(m);
}

/* A test that never came so far would prove nothing of it. */
static void the_sequences_had_every_event_in_them(void **ctx)
{
    (void)ctx;
    for (int e = 0; e < JOB_EVENT_COUNT; e++) {
        printf("%s %d\n", job_event_name((enum job_event)e), done[e]);
        assert_true(done[e] > 0);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(random_sequences_keep_every_invariant),
        T(random_sequences_keep_every_invariant),
        T(random_sequences_keep_every_invariant),
        cmocka_unit_test(the_sequences_had_every_event_in_them),
    };
    return cmocka_run_group_tests(tests, start_seed, NULL);
}
