/* The least that a program can do: what is timed of it is its start and its end. Without a C
 * library where that is possible: the start of a static one asks the processor again and again
 * what it is, and on a guest each answer comes from the machine below: most of what would be timed.
 */
#if defined BENCH_BARE && defined __x86_64__
void _start(void);
void _start(void)
{
    __asm__ volatile("mov $60, %eax\n\txor %edi, %edi\n\tsyscall");
    __builtin_unreachable();
}
#elif defined BENCH_BARE && defined __aarch64__
void _start(void);
void _start(void)
{
    __asm__ volatile("mov x8, #93\n\tmov x0, #0\n\tsvc #0");
    __builtin_unreachable();
}
#else
int main(void)
{
    return 0;
}
#endif
