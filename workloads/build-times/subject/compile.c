/* compile check SOURCE...        says whether they are right, and writes nothing
 * compile build PROGRAM SOURCE...
 * compile object OBJECT SOURCE
 * compile link PROGRAM OBJECT...
 *
 * Becomes the host's compiler, with options of its own. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OPTIONS_MAX = 8, ARGUMENTS_MAX = 200 };

static const struct {
    const char *name;
    int has_output;
    const char *options[OPTIONS_MAX];
} modes[] = {
    {"check", 0, {"-std=c11", "-fsyntax-only"}},
    {"build", 1, {"-std=c11", "-O1"}},
    {"object", 1, {"-std=c11", "-O1", "-c"}},
    {"link", 1, {NULL}},
};

static int usage(void)
{
    (void)fprintf(stderr, "usage: compile check SOURCE..., or compile build|object|link OUTPUT "
                          "INPUT...\n");
    return 2;
}

static int run(size_t mode, int argc, char **argv)
{
    char *arguments[ARGUMENTS_MAX + OPTIONS_MAX + 3] = {"cc"};
    size_t n = 1;

    for (size_t i = 0; i < OPTIONS_MAX && modes[mode].options[i] != NULL; i++)
        arguments[n++] = (char *)modes[mode].options[i];
    if (modes[mode].has_output)
        arguments[n++] = "-o";
    for (int i = 2; i < argc; i++)
        arguments[n++] = argv[i];
    (void)execvp("cc", arguments);
    (void)fprintf(stderr, "compile: cannot start cc: %s\n", strerror(errno));
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > ARGUMENTS_MAX)
        return usage();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, argv[1]) == 0 && argc > 2 + modes[i].has_output)
            return run(i, argc, argv);
    return usage();
}
