/* speedscope's JSON: both kinds of profiles, units, several profiles; files that are damaged. */
#include "foreign.h"

#include <stdlib.h>

#define FILE_(frames, profiles) \
    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[" \
    frames "]},\"profiles\":[" profiles "]}"
#define ABC \
    "{\"name\":\"a\"},{\"name\":\"b\",\"file\":\"b.pl\",\"line\":7},{\"name\":\"c\",\"col\":1}"
#define OPEN(frame, at) "{\"type\":\"O\",\"frame\":" #frame ",\"at\":" #at "}"
#define CLOSE(frame, at) "{\"at\":" #at ",\"frame\":" #frame ",\"type\":\"C\"}"
#define EVENTED(name, unit, more, events) \
    "{\"type\":\"evented\",\"name\":\"" name "\",\"unit\":\"" unit "\"," more \
    "\"events\":[" events "]}"
#define SAMPLED(name, unit, samples, weights) \
    "{\"type\":\"sampled\",\"name\":\"" name "\",\"unit\":\"" unit "\",\"startValue\":0," \
    "\"endValue\":9,\"samples\":[" samples "],\"weights\":[" weights "]}"
#define NS " 1000000000/s no calls"

static void read_is(const char *text, const char *want, const char *what)
{
    is_s(told_of_text(text), want, "%s", what);
    is_i(out.code, 0, "... without a fault: %s", out.message);
}

static void evented(void)
{
    read_is(FILE_(ABC, EVENTED("x", "nanoseconds", "\"startValue\":2,\"endValue\":100,",
                               OPEN(0, 5) "," OPEN(1, 7) "," CLOSE(1, 17) "," OPEN(1, 20) ","
                               OPEN(1, 21) "," CLOSE(1, 25) "," CLOSE(1, 26) "," CLOSE(0, 90))),
            "[=13][a=69][a;b=12][a;b;b=4]" NS, "events");
    is_s(place_of(1), "b.pl:7", "a frame's place");
    read_is(FILE_(ABC, EVENTED("x", "milliseconds", "",
                               OPEN(2, 1700000000000.25) "," CLOSE(2, 1700000000001.5))),
            "[=0][c=1250000]" NS, "dates, in milliseconds");
    read_is(FILE_(ABC, EVENTED("x", "nanoseconds", "\"startValue\":5,\"endValue\":9,", "")),
            "[=4]" NS, "no events");
    read_is(FILE_(ABC, EVENTED("x", "seconds", "", "")), "[=0] 1000000000/s no calls",
            "no values, either");
}

static void sampled(void)
{
    read_is(FILE_(ABC, SAMPLED("x", "seconds", "[0,1],[0],[0,1,2],[]", "1,0.25,2e-9,3")),
            "[=3000000000][a=250000000][a;b=1000000000][a;b;c=2]" NS, "samples");
    read_is(FILE_(ABC, "{\"unit\":\"microseconds\",\"weights\":[1,2.5],\"samples\":[[0],[1]]}"),
            "[=0][a=1000][b=2500]" NS, "weights first");
    read_is(FILE_(ABC, SAMPLED("x", "none", "[0,1],[2]", "1,5")), "[=0][a=0][a;b=1][c=5]"
            " 1/count no calls", "counts");
    read_is(FILE_(ABC, SAMPLED("x", "bytes", "[0,1],[2]", "1,5")),
            "[=0{0}][a=0{0}][a;b=1{1}][c=5{5}] 1/bytes no calls memory:bytes", "bytes");
}

static void several(void)
{
    read_is(FILE_(ABC, SAMPLED("t1", "seconds", "[0]", "1") ","
                       EVENTED("t2", "nanoseconds", "", OPEN(0, 3) "," CLOSE(0, 8)) ","
                       SAMPLED("t3", "bytes", "[0],[1]", "64,1") ","
                       SAMPLED("t4", "none", "[1]", "7")),
            "[=0{0 0}][a=1000000005{64 0}][b=0{1 7}]" NS " memory:bytes count",
            "of the same unit they add up");
    read_is("{\"exporter\":\"Devel::DProf 1\",\"$schema\":\"https://www.speedscope.app/file-format-"
            "schema.json\",\"profiles\":["
            SAMPLED("calls (1)", "none", "[0,1],[0,1,2]", "3,4") ","
            SAMPLED("cpu (1)", "nanoseconds", "[0],[0,1],[0,1,2]", "5,6,7") ","
            SAMPLED("wall", "nanoseconds", "[0,1]", "60") ","
            SAMPLED("calls (2)", "none", "[0,1]", "10") ","
            SAMPLED("ops", "none", "[0,1]", "90")
            "],\"shared\":{\"frames\":[{\"name\":\"(program)\"},{\"name\":\"m::f\"},"
            "{\"name\":\"CORE:open\"}]}}",
            "[=5/0{0}][m::f=6/60x13{90}][m::f;CORE:open=7/0x4{0}] 1000000000/s ops",
            "our own: a profile for each metric; frames come last");
    read_is("\n {\"x\":[{\"y\":null}],\"profiles\":["
            SAMPLED("q", "none", "[0],[1]", "1,2") "],\"activeProfileIndex\":0,"
            "\"shared\":{\"z\":{},\"frames\":[{\"name\":\"a\",\"q\":[]},{\"name\":\"a\"}]},"
            "\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"}",
            "[=0][a=3] 1/count no calls", "equal frames; what is not known is skipped");
}

/* The members of a profile and of the file, in every order. */
static void order(void)
{
    static const char *const events[] = {
        "\"name\":\"wall x\"", "\"unit\":\"microseconds\"", "\"startValue\":1.5", "\"endValue\":9",
        "\"events\":[" OPEN(0, 2) "," OPEN(1, 2.5) "," CLOSE(1, 4) "," CLOSE(0, 8) "]",
    }, *const samples[] = {
        "\"name\":\"cpu y\"", "\"unit\":\"seconds\"", "\"type\":\"sampled\"",
        "\"samples\":[[0],[0,1]]", "\"weights\":[1,2e-9]",
    }, *const file[] = {
        "\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"",
        "\"shared\":{\"frames\":[" ABC "]}", "\"exporter\":\"%s\"",
        "\"profiles\":[{%s},{%s}]",
        "\"name\":\"x\"",
    };
    size_t wrong = 0;
    for (unsigned n = 0; n < 120; n++) {
        char text[3][1000], format[1100], all[4000];
        const char *const *of[] = { events, samples, file };
        for (int k = 0; k < 3; k++) {
            bool used[5] = { false };
            *text[k] = '\0';
            for (unsigned left = 5, at = n; left; at /= left--) {
                unsigned i = 0;
                for (unsigned skip = at % left; used[i] || skip; i++)
                    skip -= !used[i];
                used[i] = true;
                strcat(strcat(text[k], *text[k] ? "," : ""), of[k][i]);
            }
        }
        for (int ours = 0; ours < 2; ours++) {
            const char *who = ours ? "Devel::DProf 1" : "py-spy";
            bool first = strstr(text[2], "exporter") < strstr(text[2], "profiles");
            snprintf(format, sizeof format, "{%s}", text[2]);
            snprintf(all, sizeof all, format, first ? who : text[0], first ? text[0] : text[1],
                     first ? text[1] : who);
            const char *want = ours
                ? "[=0/1500][a=1000000000/4500][a;b=2/1500] 1000000000/s no calls"
                : "[=1500][a=1000004500][a;b=1502] 1000000000/s no calls";
            if (strcmp(told_of_text(all), want) != 0 && !wrong++)
                is_s(told.ptr, want, "%s (%s)", all, out.message);
        }
    }
    is_u(wrong, 0, "members in every order");
    struct dp_buf many;
    dp_buf_init(&many);
    dp_buf_adds(&many, "{\"shared\":{\"frames\":[" ABC "]},\"profiles\":[{}");
    for (int i = 0; i < 70; i++)
        dp_buf_addf(&many, "," SAMPLED("t%d", "none", "[0]", "1"), i);
    dp_buf_adds(&many, "],\"exporter\":\"x\"}");
    is_s(told_of(many.ptr, many.len), "[=0][a=70] 1/count no calls", "many names: %s", out.message);
    dp_buf_release(&many);
}

static void fault(const char *text, const char *message)
{
    told_of_text(text);
    is_i(out.code, DP_E_SYNTAX, "a fault");
    is_s(out.message, message, "its text");
}

static void faults(void)
{
    fault(FILE_(ABC, EVENTED("x", "hours", "", "")), "this is no unit: hours");
    fault(FILE_(ABC, "{\"type\":\"sampled\",\"samples\":[[1]],\"weights\":[1]}"),
          "a profile has values, and no unit");
    fault(FILE_(ABC, "{\"samples\":[[1]],\"weights\":[-1],\"unit\":\"none\"}"),
          "a weight is negative");
    fault(FILE_(ABC, "{\"samples\":[[1]],\"weights\":[\"1\"],\"unit\":\"none\"}"),
          "there is no number where one should be");
    fault(FILE_(ABC, "{\"events\":[" OPEN(0, 4) "," CLOSE(0, 5) "],\"unit\":\"none\","
                     "\"startValue\":5}"),
          "an event is earlier than what is before it");
    fault(FILE_(ABC, SAMPLED("x", "none", "[0],[1]", "1")),
          "a profile has 2 samples and 1 weights");
    fault(FILE_(ABC, SAMPLED("x", "none", "[0]", "1,2")),
          "a profile has 1 samples and 2 weights");
    fault(FILE_(ABC, SAMPLED("x", "none", "[0]", "-1")), "a weight is negative");
    fault(FILE_(ABC, SAMPLED("x", "none", "[0]", "\"1\"")),
          "there is no number where one should be");
    fault(FILE_(ABC, SAMPLED("x", "none", "[-1]", "1")),
          "there is no whole number where one should be");
    fault(FILE_(ABC, SAMPLED("x", "none", "[\"a\"]", "1")), "a sample is no list of numbers");
    fault(FILE_(ABC, SAMPLED("x", "none", "0", "1")), "a sample is no list of numbers");
    fault(FILE_(ABC, SAMPLED("x", "none", "[3]", "1")),
          "its profiles have frame 3, and there are 3");
    fault(FILE_(ABC, EVENTED("x", "none", "", OPEN(0, 5) "," OPEN(1, 4))),
          "an event is earlier than what is before it");
    fault(FILE_(ABC, EVENTED("x", "none", "\"startValue\":5,", OPEN(0, 4))),
          "an event is earlier than what is before it");
    fault(FILE_(ABC, EVENTED("x", "none", "", OPEN(0, 5) "," CLOSE(1, 6))),
          "frame 1 is closed, and 0 was opened last");
    fault(FILE_(ABC, EVENTED("x", "none", "", CLOSE(1, 6))), "frame 1 is closed, and none is open");
    fault(FILE_(ABC, EVENTED("x", "none", "", OPEN(0, 5))),
          "1 frames are open at the end of a profile");
    fault(FILE_(ABC, EVENTED("x", "none", "", "{\"type\":\"X\",\"frame\":0,\"at\":1}")),
          "an event lacks its type (O or C), its frame or its time");
    fault(FILE_(ABC, EVENTED("x", "none", "", "7")),
          "there is something else than an object in a list of objects");
    fault(FILE_("{\"file\":\"x\"}", ""), "a frame has no name");
    fault(FILE_(ABC, ""), "it has no values");
    fault(FILE_(ABC ",", ""), "there is no value where one should be");
    const char *large = FILE_(ABC, SAMPLED("x", "seconds", "[0]", "9e9"));
    told_of_text(large);
    is_i(out.code, DP_E_LIMIT, "a large value: %s", out.message);
    large = FILE_(ABC, SAMPLED("x", "none", "[0],[0]", "4611686018427387903,1"));
    told_of_text(large);
    is_i(out.code, DP_E_LIMIT, "large values: %s", out.message);
    large = FILE_(ABC, SAMPLED("x", "none", "[4194304]", "1"));
    told_of_text(large);
    is_i(out.code, DP_E_LIMIT, "a large frame: %s", out.message);
    const char *text = "{\n\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                       "\"profiles\":[x]}";
    fault_is(text, strlen(text), 3, strlen(text) - 3, "there is no value where one should be");
    told_of_text("{\"profiles\":[]}");
    is_i(out.code, DP_E_NOTPROFILE, "JSON without the schema is not speedscope's");
}

int main(void)
{
    static const char text[] = FILE_(ABC,
        SAMPLED("x", "seconds", "[0,1],[0]", "1,0.25") ","
        EVENTED("x", "none", "\"startValue\":1,", OPEN(0, 5) "," OPEN(1, 7) "," CLOSE(1, 17) ","
                CLOSE(0, 90)));
    static const char late[] = FILE_(ABC,
        "{\"weights\":[1,2],\"samples\":[[0],[1]],\"unit\":\"none\"},{\"endValue\":9,"
        "\"events\":[" OPEN(0, 5) "," CLOSE(0, 8) "],\"startValue\":4,"
        "\"unit\":\"seconds\",\"name\":\"y\"}");
    evented();
    sampled();
    several();
    order();
    faults();
    told_of(text, sizeof text - 30);
    is_i(out.code, DP_E_TRUNCATED, "broken off: %s", out.message);
    is_s(told.ptr, "[=0{4}][a=250000000{2}][a;b=1000000000{10}]" NS " count",
         "what came before is there");
    cut_anywhere(text, sizeof text - 1);
    change_anywhere(text, sizeof text - 1);
    starve(text, sizeof text - 1);
    cut_anywhere(late, sizeof late - 1);
    change_anywhere(late, sizeof late - 1);
    starve(late, sizeof late - 1);
    return foreign_done();
}
