/* Products of more than 64 bits, as machines have to make them that know none: against known
 * quotients, and against the compiler's own 128 bits where it has them. */
#define DP_NUM_PORTABLE 1
#include "tap.h"
#include "dp_num.h"

static uint64_t seed = 88172645463325252u;

/* Random, and as often short as long. */
static uint64_t any(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed >> (seed >> 3 & 63);
}

static void known(void)
{
    is_u(dp_num_mul_shift32(3, UINT64_C(1) << 32), 3, "a factor of 1");
    is_u(dp_num_mul_shift32(UINT32_MAX, UINT32_MAX), UINT32_MAX - 1, "rounded down");
    is_u(dp_num_mul_shift32(UINT64_MAX, UINT64_C(1) << 31), UINT64_MAX / 2, "half of the largest");
    is_u(dp_num_mul_shift32(UINT64_C(1) << 62, 12), UINT64_C(12) << 30, "a product of 66 bits");
    is_u(dp_num_mul_div(10, 1, 3), 3, "a third");
    is_u(dp_num_mul_div(UINT64_MAX, 1, 1), UINT64_MAX, "all of it");
    is_u(dp_num_mul_div(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX, "all of it, by the largest");
    is_u(dp_num_mul_div(UINT64_MAX, UINT64_MAX - 1, UINT64_MAX), UINT64_MAX - 1, "nearly all of it");
    is_u(dp_num_mul_div(UINT64_C(1) << 62, 2, 3), UINT64_C(3074457345618258602), "two thirds of 2^62");
    is_u(dp_num_mul_div(7, 0, 9), 0, "nothing");
}

static void random_products(void)
{
#ifdef __SIZEOF_INT128__
    bool good = true;
    for (int i = 0; i < 200000 && good; i++) {
        uint64_t a = any(), b = any(), c = any() | 1;
        b = b > c ? b % c : b;
        good = dp_num_mul_shift32(a, c) == (uint64_t)(((unsigned __int128)a * c) >> 32)
            && dp_num_mul_div(a, b, c) == (uint64_t)((unsigned __int128)a * b / c);
        if (!good)
            printf("# %llu %llu %llu\n", (unsigned long long)a, (unsigned long long)b, (unsigned long long)c);
    }
    ok(good, "random products");
#else
    ok(any() != any(), "random products # SKIP this compiler has no numbers of 128 bits to compare with");
#endif
}

int main(void)
{
    known();
    random_products();
    return tap_done();
}
