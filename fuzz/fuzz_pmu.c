/* Processors' events from any bytes. The first byte says what the rest is: j: an event list, m: a
 * mapfile. Nothing may crash or leak, and the results must be consistent. */
#include "pmu-events/jev_event.h"
#include "pmu-events/jev_mapfile.h"
#include "pmu-events/jev_write.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Words for fuzz/mutate.c. */
extern const char *const fuzz_words[];
const char *const fuzz_words[] = {
    "[{", "},{", "}]", "{,", "\"EventName\":", "\"BriefDescription\": \"",
    "\"PublicDescription\":", "\"EventCode\": \"0x", "\"UMask\":\"", "\"Unit\":\"",
    "\"MSRIndex\":\"0x3F6\"", "\"MSRValue\":\"1\"", "\"ArchStdEvent\":\"a\"", "\"MetricName\":",
    "\"MetricExpr\":", "\"PEBS\":\"2\"", "\"Errata\":\"", "\"Data_LA\":\"1\"",
    "\"AggregationMode\":\"PerCore\"", "\"Filter\":\"", "\\u00e9", "\\ud83d\\ude00", "\\ud800",
    "\\\"", "\\\\", "\\", "\"", "\t", "?\?=", "0", "null", "GenuineIntel-6-55-[01234]", ",v1,",
    ",core\n", "[[:xdigit:]]{4}", "\\d", "{255}", "(", ")", "|", "\r\n", "#", "dir-a/b", ".", NULL
};

#define CHECK(cond) \
    do { if (!(cond)) { fprintf(stderr, "not so: %s\n", #cond); abort(); } } while (0)

/* Checks that the C string literal at p means s; returns what follows the literal. */
static const char *check_string(const char *p, const char *s)
{
    CHECK(*p == '"');
    for (p++; *p != '"'; s++) {
        CHECK(*p >= ' ' && *p < 0x7f && !(p[0] == '?' && p[1] == '?'));
        if (*p != '\\') {
            CHECK(*p++ == *s);
        } else if (p[1] >= '0' && p[1] <= '3') {
            CHECK(((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0')) == (unsigned char)*s);
            p += 4;
        } else {
            CHECK(*s == (p[1] == 'n' ? '\n' : p[1]));
            p += 2;
        }
    }
    CHECK(*s == '\0');
    return p + 1;
}

/* Checks that the error names the file, or jevents if memory was short. */
static void check_error(const struct jev *jev)
{
    CHECK(jev_failed(jev)
          && (strncmp(jev->error, "in:", 3) == 0 || strncmp(jev->error, "jevents: ", 9) == 0));
}

static void check_events(const struct jev_events *events)
{
    for (size_t i = 0; i < events->count; i++) {
        const struct jev_event *event = &events->ptr[i];
        CHECK(event->field[JEV_NAME] || event->field[JEV_METRIC_NAME]);
        CHECK(!event->field[JEV_NAME] == !event->field[JEV_EVENT]);
        for (int f = 0; f < JEV_N_FIELDS; f++)
            CHECK(!event->field[f] || *event->field[f]);
        const char *name = event->field[JEV_NAME];
        if (name)
            CHECK(strcmp(jev_events_find(events, name)->field[JEV_NAME], name) == 0);
    }
}

static void check_output(struct jev *jev, const struct jev_events *events)
{
    struct jev_table table = { "d", "pme_d", *events, true };
    struct jev_tree tree = { .tables = &table, .count = 1 };
    struct jev_text out = { NULL, 0, 0 };
    jev_write(jev, &out, &tree);
    if (!jev_failed(jev)) {
        const char *p = strstr(out.ptr, "[] = {\n") + 7;
        for (size_t i = 0; i < events->count; i++, p += 3) {
            CHECK(*p++ == '{');
            for (int f = 0; f < JEV_N_FIELDS; f++)
                if (events->ptr[i].field[f])
                    p = check_string(strchr(p, '=') + 1, events->ptr[i].field[f]) + 1;
            CHECK(strncmp(p, "},\n", 3) == 0);
        }
        CHECK(strncmp(p, "{.name=0}\n", 10) == 0);
    }
    jev_text_release(&out);
}

/* Reads the list, then once more with itself as the standard events. Returns the number of
 * allocations. */
static unsigned long lists(const char *ptr, size_t len, unsigned long fail_at)
{
    struct jev jev;
    struct jev_events std, events;
    memset(&jev, 0, sizeof jev);
    memset(&std, 0, sizeof std);
    memset(&events, 0, sizeof events);
    jev.fail_at = fail_at;
    if (jev_events_read(&jev, &std, "in", ptr, len, "a topic", NULL) == 0
        && jev_events_index(&jev, &std) == 0
        && jev_events_read(&jev, &events, "in", ptr, len, NULL, &std) == 0
        && jev_events_index(&jev, &events) == 0) {
        check_events(&std);
        check_events(&events);
        check_output(&jev, &events);
    } else {
        check_error(&jev);
        /* A list may only refer to others: its own events without the last one serve as standard
         * events. */
        struct jev again;
        memset(&again, 0, sizeof again);
        struct jev_events cut = std, other;
        memset(&other, 0, sizeof other);
        if (std.count > 1 && strstr(jev.error, "ArchStdEvent")
            && (cut.count--, jev_events_index(&again, &cut) == 0)
            && jev_events_read(&again, &other, "in", ptr, len, NULL, &cut) == 0)
            check_output(&again, &other);
        jev_release(&again);
    }
    unsigned long n = jev.allocations;
    CHECK(!fail_at || n < fail_at || jev_failed(&jev));
    jev_release(&jev);
    return n;
}

static unsigned long maps(const char *ptr, size_t len, unsigned long fail_at)
{
    struct jev jev;
    struct jev_rows rows = { NULL, 0, 0 };
    memset(&jev, 0, sizeof jev);
    jev.fail_at = fail_at;
    if (jev_mapfile_read(&jev, &rows, "in", ptr, len) < 0)
        check_error(&jev);
    else
        CHECK(!jev_failed(&jev));
    for (size_t i = 0; i < rows.count && !jev_failed(&jev); i++) {
        const struct jev_row *row = &rows.ptr[i];
        CHECK(*row->cpuid && *row->version && *row->dir && *row->type);
        CHECK(row->line > 1 && !strchr(row->cpuid, ','));
        const char *name = jev_table_name(&jev, "in", row->line, row->dir);
        CHECK(name ? strncmp(name, "pme_", 4) == 0 : jev_failed(&jev));
    }
    unsigned long n = jev.allocations;
    CHECK(!fail_at || n < fail_at || jev_failed(&jev));
    jev_release(&jev);
    return n;
}

/* Runs it once as it is, then with each of the first allocations failing. */
static void target(unsigned long (*run)(const char *, size_t, unsigned long), const char *ptr,
                   size_t len)
{
    unsigned long n = run(ptr, len, 0);
    for (unsigned long i = 1; i <= n && i <= 60; i++)
        run(ptr, len, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && *data == 'j')
        target(lists, (const char *)data + 1, size - 1);
    else if (size && *data == 'm')
        target(maps, (const char *)data + 1, size - 1);
    return 0;
}
