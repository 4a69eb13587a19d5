/* Writes files as C, for a build. Usage: embed OUTPUT NAME=FILE[+FILE ...] ... For each NAME it
 * writes the concatenated bytes of its files, and their SHA-256 in base64, in the form of
 * Content-Security-Policy. The output file appears when it is complete. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FIPS 180-4, 6.2. */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void block(uint32_t h[8], const unsigned char *p)
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16
            | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7]
             + (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t a = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25))
            + ((v[4] & v[5]) ^ (~v[4] & v[6])) + round_constant[i] + w[i];
        uint32_t b = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22))
            + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += a;
        v[0] = a + b;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

static void print_hash(FILE *out, const char *data, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    unsigned char last[128] = { 0 }, sum[33] = { 0 };
    size_t i = 0, rest;
    for (; i + 64 <= len; i += 64)
        block(h, (const unsigned char *)data + i);
    rest = len - i;
    memcpy(last, data + i, rest);
    last[rest] = 0x80;
    size_t end = rest < 56 ? 64 : 128;
    for (int k = 0; k < 8; k++)
        last[end - 1 - (size_t)k] = (unsigned char)((uint64_t)len * 8 >> 8 * k);
    for (i = 0; i < end; i += 64)
        block(h, last + i);
    for (i = 0; i < 32; i++)
        sum[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
    for (i = 0; i < 33; i += 3) {
        uint32_t v = (uint32_t)sum[i] << 16 | (uint32_t)sum[i + 1] << 8 | sum[i + 2];
        for (int k = 0; k < 4; k++)
            fputc(i == 30 && k == 3 ? '=' : digits[v >> (18 - 6 * k) & 63], out);
    }
}

static void fail(const char *path)
{
    perror(path);
    exit(1);
}

static char *read_all(char *list, size_t *len)
{
    char *data = NULL;
    *len = 0;
    for (char *path = strtok(list, "+"); path; path = strtok(NULL, "+")) {
        FILE *in = fopen(path, "rb");
        size_t got;
        if (!in)
            fail(path);
        do {
            data = realloc(data, *len + 65536);
            if (!data)
                fail(path);
            got = fread(data + *len, 1, 65536, in);
            *len += got;
        } while (got);
        if (ferror(in))
            fail(path);
        fclose(in);
    }
    return data;
}

int main(int argc, char **argv)
{
    char temporary[4096];
    if (argc < 3) {
        fputs("usage: embed OUTPUT NAME=FILE[+FILE ...] ...\n", stderr);
        return 2;
    }
    snprintf(temporary, sizeof temporary, "%s.new", argv[1]);
    FILE *out = fopen(temporary, "wb");
    if (!out)
        fail(temporary);
    fputs("/* Made by tools/embed.c of the files in share/. */\n#include \"dp_share.h\"\n", out);
    for (int k = 2; k < argc; k++) {
        char *name = argv[k], *files = strchr(name, '=');
        size_t len;
        if (!files) {
            fprintf(stderr, "embed: %s is not NAME=FILE\n", name);
            return 2;
        }
        *files++ = '\0';
        char *data = read_all(files, &len);
        fprintf(out, "\nstatic const char %s_bytes[] = {", name);
        for (size_t i = 0; i < len; i++)
            fprintf(out, "%s%d,", i % 24 ? "" : "\n", (signed char)data[i]);
        fprintf(out, "\n0 };\nconst struct dp_share dp_share_%s = { %s_bytes, %lu, \"",
                name, name, (unsigned long)len);
        print_hash(out, data, len);
        fputs("\" };\n", out);
        free(data);
    }
    if (fclose(out) != 0 || rename(temporary, argv[1]) != 0)
        fail(argv[1]);
    return 0;
}
