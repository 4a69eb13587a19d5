/* Products of more than 64 bits, computed as on machines without such numbers, agree with known
 * quotients, and with the compiler's own 128 bits where it has them. */
#define DP_NUM_PORTABLE 1
#include "tap.h"
#include "dp_num.h"

#include <math.h>

static uint64_t seed = 88172645463325252u;

/* Returns a random number, short as often as long. */
static uint64_t any(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed >> (seed >> 3 & 63);
}

static void known(void)
{
    is_u(dp_num_mul_shift32(3, UINT64_C(1) << 32), 3, "a factor of 1 changes nothing");
    is_u(dp_num_mul_shift32(UINT32_MAX, UINT32_MAX), UINT32_MAX - 1, "a product is rounded down");
    is_u(dp_num_mul_shift32(UINT64_MAX, UINT64_C(1) << 31), UINT64_MAX / 2,
            "the largest number is halved");
    is_u(dp_num_mul_shift32(UINT64_C(1) << 62, 12), UINT64_C(12) << 30,
            "a product of 66 bits is right");
    is_u(dp_num_mul_div(10, 1, 3), 3, "10 / 3 is 3");
    is_u(dp_num_mul_div(UINT64_MAX, 1, 1), UINT64_MAX, "the largest number times 1 / 1 is itself");
    is_u(dp_num_mul_div(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX,
         "the largest number times 1 by the largest is itself");
    is_u(dp_num_mul_div(UINT64_MAX, UINT64_MAX - 1, UINT64_MAX), UINT64_MAX - 1,
         "the largest number times nearly 1 is right");
    is_u(dp_num_mul_div(UINT64_C(1) << 62, 2, 3), UINT64_C(3074457345618258602),
         "two thirds of 2^62 are right");
    is_u(dp_num_mul_div(7, 0, 9), 0, "nothing");
}

static uint64_t scaled(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t v;
    return dp_num_scale(a, b, c, &v) ? v : UINT64_MAX;
}

static void known_scales(void)
{
    const uint64_t most = UINT64_MAX / 2;
    is_u(scaled(7, 1, 2), 4, "halves are rounded up");
    is_u(scaled(7, 1, 3), 2, "less than a half is rounded down");
    is_u(scaled(8, 1, 3), 3, "more than a half is rounded up");
    is_u(scaled((UINT64_C(1) << 60) + 1, 2, 1), (UINT64_C(1) << 61) + 2, "no bit is lost");
    is_u(scaled(most, 1, 1), most, "the largest number stays");
    is_u(scaled(most + 1, 1, 1), UINT64_MAX, "a number beyond the largest saturates");
    is_u(scaled(most, 1000000000000, 999999999999), UINT64_MAX,
            "a product a little beyond saturates");
    is_u(scaled(UINT64_MAX, most, UINT64_MAX), most, "a product is divided back");
    is_u(scaled(UINT64_C(1) << 62, UINT64_C(1) << 62, 1), UINT64_MAX,
            "a product far beyond saturates");
    is_u(dp_num_round(2.5), 3, "a real number is rounded");
    is_u(dp_num_round(1e300), most, "a real number too large saturates");
    is_u(dp_num_round(1e300 * 1e300) + dp_num_round(-1e300), most, "infinite numbers saturate");
    is_u(dp_num_round((double)NAN), 0, "no number is 0");
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
        unsigned __int128 whole = ((unsigned __int128)a * c + (b | 1) / 2) / (b | 1);
        good = good
               && scaled(a, c, b | 1) == (whole > UINT64_MAX / 2 ? UINT64_MAX : (uint64_t)whole);
        if (!good)
            printf("# %llu %llu %llu\n", (unsigned long long)a, (unsigned long long)b,
                   (unsigned long long)c);
    }
    ok(good, "random products are right");
#else
    ok(any() != any(),
       "random products # SKIP this compiler has no numbers of 128 bits to compare with");
#endif
}

int main(void)
{
    known();
    known_scales();
    random_products();
    return tap_done();
}
