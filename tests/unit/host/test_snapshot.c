/* Snapshots of the process table: fixture trees that change between two looks, and the real table
 * of the machine that runs the tests, with a real burner in it. */
#include "unit/host/trees.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "unit/core/policies.h"

#define TRIES 20

static struct host_probe *probe_of(const char *root)
{
    struct host_probe *p = NULL;
    struct err e = {0};
    assert_int_equal(host_probe_new_system(root, &p, &e), 0);
    return p;
}

static const struct proc_sample *find(const struct proc_snapshot *s, int pid)
{
    for (size_t i = 0; i < s->n_procs; i++)
        if (s->procs[i].pid == pid)
            return &s->procs[i];
    return NULL;
}

struct table {
    struct arena arena;
    char *tree;
    struct host_probe *probe;
    struct proc_snapshot snap;
};

static int open_table(void **state)
{
    static struct table table;
    table = (struct table){.tree = tree_copy("laptop")};
    table.probe = probe_of(table.tree);
    *state = &table;
    return 0;
}

static int close_table(void **state)
{
    struct table *t = *state;
    host_probe_free(t->probe);
    tree_drop(t->tree);
    arena_deinit(&t->arena);
    return 0;
}

static struct proc_snapshot *take(struct table *t)
{
    assert_int_equal(host_probe_snapshot(t->probe, &t->arena, &t->snap, NULL), 0);
    return &t->snap;
}

static void a_whole_table_is_read(void **state)
{
    const struct proc_snapshot *s = take(*state);
    assert_true(s->complete);
    assert_false(s->hidden);
    assert_int_equal(s->n_procs, 6);
    for (size_t i = 1; i < s->n_procs; i++)
        assert_true(s->procs[i - 1].pid < s->procs[i].pid);
    const struct proc_sample *bash = find(s, 901);
    assert_int_equal(bash->ppid, 640);
    assert_int_equal(bash->uid, 1000);
    assert_int_equal(bash->start_ticks, 5120);
    assert_int_equal(bash->cpu_ticks, 6);
    assert_string_equal(bash->args, "-bash");
    assert_string_equal(bash->cwd, "/home/ann");
    assert_true(find(s, 17)->kernel_thread);
    assert_null(find(s, 17)->args);
    assert_int_equal(s->n_cpus, 4);
    assert_int_equal(s->forks, 20418);
    assert_int_equal(s->busy_ticks, 13039);
}

static void a_process_that_ends_meanwhile_is_left_out(void **state)
{
    struct table *t = *state;
    tree_write(t->tree, "proc/901/stat", NULL); /* the folder is still listed */
    tree_write(t->tree, "proc/640/stat", "");
    const struct proc_snapshot *s = take(t);
    assert_null(find(s, 901));
    assert_null(find(s, 640));
    assert_true(s->complete);
}

static void a_process_that_cannot_be_read_makes_it_incomplete(void **state)
{
    struct table *t = *state;
    tree_write(t->tree, "proc/901/stat", "901 (bash");
    const struct proc_snapshot *s = take(t);
    assert_int_equal(find(s, 901)->cpu_ticks, -1);
    assert_false(s->complete);
    assert_string_equal(s->partial_reason, "the CPU time of process 901 could not be read");
    tree_write(t->tree, "proc/901/stat", NULL);
    CLEANUP(mem_freep) char *folder = file_join(t->tree, "proc/901/stat");
    assert_int_equal(file_mkdirs(folder, 0755, NULL), 0); /* reading it is an error */
    assert_int_equal(find(take(t), 901)->cpu_ticks, -1);
}

static void a_folder_that_cannot_be_read_is_said_to_be_so(void **state)
{
    struct table *t = *state;
    tree_write(t->tree, "proc/901/cwd", "not a link");
    const struct proc_sample *bash = find(take(t), 901);
    assert_null(bash->cwd);
    assert_true(bash->cwd_unreadable);
    assert_true(t->snap.complete);
    tree_write(t->tree, "proc/901/cwd", NULL);
    assert_false(find(take(t), 901)->cwd_unreadable);
}

static void a_container_does_not_see_the_host(void **state)
{
    struct table *t = *state;
    tree_link(t->tree, "proc/self/ns/pid", "pid:[4026532517]");
    assert_false(take(t)->complete);
    assert_non_null(strstr(t->snap.partial_reason, "container"));
    tree_write(t->tree, "proc/self/ns/pid", NULL);
    assert_false(take(t)->complete);
}

#define HIDING "proc /proc proc rw,hidepid=invisible 0 0\n"

static void hidden_processes_are_noticed(void **state)
{
    struct table *t = *state;
    tree_write(t->tree, "proc/mounts", HIDING);
    /* Not its own, and yet it sees process 1: it is in the mount's group. */
    assert_false(take(t)->hidden);
    tree_write(t->tree, "proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t0000000000000000\n");
    assert_true(take(t)->hidden);
    tree_write(t->tree, "proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n");
    assert_false(take(t)->hidden);
    tree_write(t->tree, "proc/1", NULL);
    assert_true(take(t)->hidden);
}

static void an_unreadable_total_is_unknown_and_not_an_error(void **state)
{
    struct table *t = *state;
    tree_write(t->tree, "proc/stat", "cpu\n");
    assert_int_equal(take(t)->busy_ticks, -1);
    assert_int_equal(t->snap.forks, -1);
    struct host_identity id;
    struct err e = {0};
    assert_int_equal(host_probe_identity(t->probe, &t->arena, &id, &e), -EINVAL);
    assert_string_equal(e.code, "host.unreadable");
}

/* The first snapshot of a phase looks at forbidden programs only, the next also at what moved. */
static void only_what_may_matter_is_looked_at_closely(void **state)
{
    struct table *t = *state;
    struct policy policy = policy_standard();
    struct inventory_scope scope = {.self_pid = 812};
    struct snapshot_focus focus = {.policy = &policy, .scope = &scope};
    struct proc_snapshot first, second;
    tree_write(t->tree, "proc/640/stat",
               "640 (make) S 1 640 640 0 -1 0 0 0 0 0 3 5 0 0 20 0 1 0 310 1");
    assert_int_equal(t->probe->ops->snapshot(t->probe, &t->arena, &focus, &first, NULL), 0);
    assert_non_null(find(&first, 640)->cwd);
    assert_null(find(&first, 901)->cwd);
    assert_int_equal(find(&first, 901)->uid, -1);
    tree_write(t->tree, "proc/901/stat",
               "901 (bash) S 640 901 901 0 -1 0 0 0 0 0 9 9 0 0 20 0 1 0 5120 1");
    tree_write(t->tree, "proc/17/stat",
               "17 (fresh) S 1 17 17 0 -1 0 0 0 0 0 0 31 0 0 20 0 1 0 9999 1");
    focus.previous = &first;
    assert_int_equal(t->probe->ops->snapshot(t->probe, &t->arena, &focus, &second, NULL), 0);
    assert_string_equal(find(&second, 901)->cwd, "/home/ann");
    assert_int_equal(find(&second, 901)->uid, 1000);
    assert_int_equal(find(&second, 17)->uid, 0);
    assert_null(find(&second, 812)->args);
}

static void a_root_without_proc_is_refused(void **state)
{
    struct host_probe *p = NULL;
    struct err e = {0};
    assert_int_equal(host_probe_new_system("/nonexistent", &p, &e), -ENOENT);
    assert_true(err_is_set(&e));
    assert_null(p);
}

/* ---- the machine that runs the tests */

static void the_real_host_has_an_identity_and_a_boot(void **state)
{
    struct arena a = {0};
    struct host_probe *p = probe_of("");
    struct host_identity id;
    struct boot_identity boot, again;
    assert_int_equal(host_probe_identity(p, &a, &id, NULL), 0);
    assert_int_equal(strlen(id.id), 64);
    assert_true(id.cores >= 1);
    assert_true(id.memory_bytes > 0);
    assert_true(id.tick_ns > 0);
    assert_int_equal(host_probe_boot(p, &a, &boot, NULL), 0);
    assert_int_equal(host_probe_boot(p, &a, &again, NULL), 0);
    assert_int_equal(strlen(boot.id), 36);
    assert_string_equal(boot.id, again.id);
    assert_true(boot.boot_wall_ms > 0);
    host_probe_free(p);
    arena_deinit(&a);
}

static void every_real_fact_is_known_or_says_why_not(void **state)
{
    struct arena a = {0};
    struct host_probe *p = probe_of("");
    struct host_facts f;
    host_probe_facts(p, &a, &f);
    for (int i = 0; i < FACT_COUNT; i++)
        if (f.facts[i].state != FACT_KNOWN)
            assert_true(f.facts[i].text && f.facts[i].text[0]);
    assert_int_equal(f.facts[FACT_UPTIME].state, FACT_KNOWN);
    assert_true(f.facts[FACT_CPU_TICKS].value > 0);
    host_probe_free(p);
    arena_deinit(&a);
}

/* Stopped by the kernel if this process dies first. */
static pid_t burner_start(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned long n = 0;; n++)
            ;
    }
    assert_true(pid > 0);
    return pid;
}

static void burner_stop(pid_t pid)
{
    int status;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static int64_t start_of(pid_t pid)
{
    CLEANUP(mem_freep) char *path = mem_printf("/proc/%d/stat", (int)pid);
    CLEANUP(buf_deinit) struct buf b = {0};
    struct proc_stat stat;
    assert_int_equal(file_read(path, 4096, &b, NULL), 0);
    assert_int_equal(proc_parse_stat(buf_str(&b), b.len, &stat), 0);
    return stat.start_ticks;
}

static const struct competitor *named(const struct inventory *inv, pid_t pid)
{
    for (size_t i = 0; i < inv->n_competitors; i++)
        if (inv->competitors[i].pid == pid)
            return &inv->competitors[i];
    for (size_t i = 0; i < inv->n_hints; i++)
        if (inv->hints[i].pid == pid)
            return &inv->hints[i];
    return NULL;
}

static const struct inventory *phase_with(struct host_probe *p, struct arena *a, int self_pid)
{
    struct policy policy = policy_virtual();
    struct inventory_scope scope = {.self_pid = self_pid};
    struct qualify_job job = {0};
    struct phase_record record = {0};
    struct err e = {0};
    assert_int_equal(
        host_take_phase(p, a, &policy, &scope, &job, PHASE_BEFORE_BUILD, NULL, 100, &record, &e),
        0);
    assert_true(record.inventory->wall_ms > 0);
    assert_true(record.inventory->window_ns[0] >= 100000000);
    return record.inventory;
}

/* On a busy machine the burner may get less than half a core: then it is a hint. */
static void a_real_burner_is_named_with_its_identity(void **state)
{
    struct arena a = {0};
    struct host_probe *p = probe_of("");
    pid_t burner = burner_start();
    int64_t start = start_of(burner);
    const struct competitor *c = NULL;
    for (int i = 0; i < TRIES && !c; i++)
        c = named(phase_with(p, &a, 0), burner);
    burner_stop(burner);
    assert_non_null(c);
    assert_int_equal(c->start_ticks, start);
    assert_int_equal(c->ppid, getpid());
    assert_int_equal(c->uid, getuid());
    assert_non_null(c->cwd);
    assert_true(c->share_pct[0] + c->share_pct[1] > 0);
    host_probe_free(p);
    arena_deinit(&a);
}

static void a_real_burner_of_the_daemons_own_is_excluded(void **state)
{
    struct arena a = {0};
    struct host_probe *p = probe_of("");
    pid_t burner = burner_start();
    const struct inventory *inv = phase_with(p, &a, (int)getpid());
    const struct competitor *c = named(inv, burner);
    burner_stop(burner);
    assert_null(c);
    assert_true(inv->n_procs >= 2);
    host_probe_free(p);
    arena_deinit(&a);
}

#define TABLE_TEST(name) cmocka_unit_test_setup_teardown(name, open_table, close_table)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(a_whole_table_is_read),
        TABLE_TEST(a_process_that_ends_meanwhile_is_left_out),
        TABLE_TEST(a_process_that_cannot_be_read_makes_it_incomplete),
        TABLE_TEST(a_folder_that_cannot_be_read_is_said_to_be_so),
        TABLE_TEST(a_container_does_not_see_the_host),
        TABLE_TEST(hidden_processes_are_noticed),
        TABLE_TEST(an_unreadable_total_is_unknown_and_not_an_error),
        TABLE_TEST(only_what_may_matter_is_looked_at_closely),
        cmocka_unit_test(a_root_without_proc_is_refused),
        cmocka_unit_test(the_real_host_has_an_identity_and_a_boot),
        cmocka_unit_test(every_real_fact_is_known_or_says_why_not),
        cmocka_unit_test(a_real_burner_is_named_with_its_identity),
        cmocka_unit_test(a_real_burner_of_the_daemons_own_is_excluded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
