/* A program that embeds perl: it makes, runs and ends several interpreters in one thread, in any
 * order, also from within each other. Commands are lines on standard input, with a tab between
 * their words:
 *
 *     make N SWITCH ... PROGRAM    makes interpreter N (below 16) and runs PROGRAM in it
 *     run N CODE                   runs CODE in it
 *     end N                        destroys it
 *     free N                       forgets it: the process ends without destroying it
 *     work MS                      uses that much CPU time outside of all interpreters
 *     away N CODE                  runs CODE in another thread, and does not wait for its end
 *
 * Code in an interpreter has the same as host::make(N, ...), host::run(N, CODE), host::end(N),
 * host::work(MS). */
#include <EXTERN.h>
#include <perl.h>
#include <XSUB.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

EXTERN_C void boot_DynaLoader(pTHX_ CV *cv);

enum { HOSTED = 16, WORDS = 20 };
static PerlInterpreter *hosted[HOSTED];
static char *kept_words[HOSTED][WORDS + 4];

static void xs_init(pTHX);

static char *copy_of(const char *word)
{
    char *to = malloc(strlen(word) + 1);
    return to ? strcpy(to, word) : NULL;
}

/* words: the switches and the program. perl may look at them as long as the interpreter lives. */
static void make(int n, char **words, int count)
{
    PerlInterpreter *before = PERL_GET_CONTEXT, *my_perl;
    char **argv = kept_words[n];
    int argc = 0;
    argv[argc++] = copy_of("host");
    for (int i = 0; i < count - 1; i++)
        argv[argc++] = copy_of(words[i]);
    argv[argc++] = copy_of("-e");
    argv[argc++] = copy_of(words[count - 1]);
    argv[argc] = NULL;
    hosted[n] = my_perl = perl_alloc();
    PERL_SET_CONTEXT(my_perl);
    perl_construct(my_perl);
    PL_exit_flags |= PERL_EXIT_DESTRUCT_END;
    if (perl_parse(my_perl, xs_init, argc, argv, NULL) == 0)
        perl_run(my_perl);
    PERL_SET_CONTEXT(before);
}

static void run(int n, const char *code)
{
    PerlInterpreter *before = PERL_GET_CONTEXT, *my_perl = hosted[n];
    PERL_SET_CONTEXT(my_perl);
    eval_pv(code, FALSE);
    if (SvTRUE(ERRSV))
        printf("interpreter %d died: %s", n, SvPV_nolen(ERRSV));
    fflush(stdout);
    PERL_SET_CONTEXT(before);
}

static void end(int n)
{
    PerlInterpreter *before = PERL_GET_CONTEXT, *my_perl = hosted[n];
    PERL_SET_CONTEXT(my_perl);
    PL_perl_destruct_level = 1;
    perl_destruct(my_perl);
    perl_free(my_perl);
    hosted[n] = NULL;
    PERL_SET_CONTEXT(before == my_perl ? NULL : before);
}

static void work(long ms)
{
    clock_t until = clock() + (clock_t)(ms * (CLOCKS_PER_SEC / 1000));
    while (clock() < until)
        ;
}

struct away { int n; char *code; };

static void *run_away(void *arg)
{
    struct away *away = arg;
    run(away->n, away->code);
    return NULL;
}

static void go_away(int n, const char *code)
{
    struct away *away = malloc(sizeof *away);
    pthread_t thread;
    away->n = n;
    away->code = copy_of(code);
    if (pthread_create(&thread, NULL, run_away, away) == 0)
        pthread_detach(thread);
}

static XS(host_make)
{
    dXSARGS;
    char *words[WORDS];
    for (int i = 1; i < items && i <= WORDS; i++)
        words[i - 1] = SvPV_nolen(ST(i));
    make((int)SvIV(ST(0)), words, (int)items - 1);
    XSRETURN(0);
}

static XS(host_run)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    run((int)SvIV(ST(0)), SvPV_nolen(ST(1)));
    XSRETURN(0);
}

static XS(host_end)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    end((int)SvIV(ST(0)));
    XSRETURN(0);
}

static XS(host_work)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    work((long)SvIV(ST(0)));
    XSRETURN(0);
}

static void xs_init(pTHX)
{
    static const char file[] = __FILE__;
    newXS("DynaLoader::boot_DynaLoader", boot_DynaLoader, file);
    newXS("host::make", host_make, file);
    newXS("host::run", host_run, file);
    newXS("host::end", host_end, file);
    newXS("host::work", host_work, file);
}

static void obey(char *line)
{
    char *words[WORDS];
    int n = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *w = strtok(line, "\t"); w && n < WORDS; w = strtok(NULL, "\t"))
        words[n++] = w;
    if (n > 2 && strcmp(words[0], "make") == 0)
        make(atoi(words[1]), words + 2, n - 2);
    else if (n > 2 && strcmp(words[0], "run") == 0)
        run(atoi(words[1]), words[2]);
    else if (n > 2 && strcmp(words[0], "away") == 0)
        go_away(atoi(words[1]), words[2]);
    else if (n > 1 && strcmp(words[0], "end") == 0)
        end(atoi(words[1]));
    else if (n > 1 && strcmp(words[0], "free") == 0)
        hosted[atoi(words[1])] = NULL;
    else if (n > 1 && strcmp(words[0], "work") == 0)
        work(atol(words[1]));
}

int main(int argc, char **argv, char **env)
{
    static char line[65536];
    PERL_SYS_INIT3(&argc, &argv, &env);
    while (fgets(line, sizeof line, stdin))
        obey(line);
    for (int n = HOSTED - 1; n >= 0; n--)
        if (hosted[n])
            end(n);
    PERL_SYS_TERM();
    puts("done");
    return 0;
}
