/* Random bytes, from each of the places that they may come from. */
#include "tap.h"
#include "dp_random.h"

#include <string.h>

enum { ROUNDS = 100 };

/* Is each bit set in some of the rounds, and not in others? */
static bool varies(unsigned from)
{
    uint8_t any[16] = { 0 }, all[16], bytes[16];
    memset(all, 0xff, sizeof all);
    for (int round = 0; round < ROUNDS; round++) {
        memset(bytes, 0, sizeof bytes);
        if (!dp_random(bytes, sizeof bytes, from))
            return false;
        for (size_t i = 0; i < sizeof bytes; i++) {
            any[i] |= bytes[i];
            all[i] &= bytes[i];
        }
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        if (any[i] != 0xff || all[i] != 0)
            return false;
    return true;
}

int main(void)
{
    uint8_t bytes[16];
    ok(varies(DP_RANDOM_ALL), "128 bits, all of them random");
    bool has_call = dp_random(bytes, sizeof bytes, DP_RANDOM_CALL);
    ok(!has_call || varies(DP_RANDOM_CALL), "... by the system call alone%s",
       has_call ? "" : " # skip this kernel or sandbox has no getrandom");
    bool has_device = dp_random(bytes, sizeof bytes, DP_RANDOM_DEVICE);
    ok(!has_device || varies(DP_RANDOM_DEVICE), "... of the device alone%s",
       has_device ? "" : " # skip there is no /dev/urandom here");
    ok(!dp_random(bytes, sizeof bytes, 0), "without either there are none");
    return tap_done();
}
