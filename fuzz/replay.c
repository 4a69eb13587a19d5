/* Runs the fuzz target on files: seeds, and whatever once crashed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
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
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
        free(data);
    }
    printf("replayed %d files\n", argc - 1);
    return 0;
}
