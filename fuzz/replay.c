/* Runs the fuzz target on files: seeds, and inputs that once crashed. Profiles are shown in all
 * views; with -1 before the files, only in the view that each file picks, as the fuzzer has seen
 * it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#ifdef FUZZ_VIEWS
void fuzz_all(const uint8_t *data, size_t size);
#endif

static void run(const uint8_t *data, size_t size, int one)
{
#ifdef FUZZ_VIEWS
    if (!one) {
        fuzz_all(data, size);
        return;
    }
#endif
    (void)one;
    LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv)
{
    int one = argc > 1 && strcmp(argv[1], "-1") == 0;
    for (int i = 1 + one; i < argc; i++) {
        FILE *in = fopen(argv[i], "rb");
        if (!in)
            return perror(argv[i]), 1;
        size_t cap = 1 << 24;
        uint8_t *data = malloc(cap);
        size_t n = fread(data, 1, cap, in);
        fclose(in);
        uint8_t *exact = malloc(n ? n : 1);     /* so that a byte too many is noticed */
        for (size_t k = 0; k < n; k++)
            exact[k] = data[k];
        run(exact, n, one);
        free(exact);
        free(data);
    }
    printf("replayed %d files\n", argc - 1 - one);
    return 0;
}
