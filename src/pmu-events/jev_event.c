#include "jev_event.h"
#include "jev_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The use of a key's value. */
enum action {
    TERM,                       /* a term of the event string, unless the value is "0" */
    TEXT, DESCRIPTION, CODE, CONFIG, EXTSEL, PEBS, MSR_INDEX, MSR_VALUE, ERRATA, DATA_LA, UNIT, STD
};

/* Texts of the event that is being read: its fields, and texts that become part of them. */
enum { EXTRA = JEV_N_FIELDS, FILTER, STD_NAME, MSR_TEXT, VALUE, N_TEXTS };

static const struct key {
    const char *name;
    enum action action;
    int text;                   /* the text that receives its value */
    const char *term;           /* for TERM */
    bool once;                  /* it may appear only once, because two joined names would name
                                 * nothing; the values of other keys are joined */
    bool prose;                 /* line ends in the value become blanks */
} keys[] = {
    { .name = "EventName", .action = TEXT, .text = JEV_NAME, .once = true },
    { .name = "EventCode", .action = CODE },
    { .name = "UMask", .action = TERM, .term = "umask=" },
    { .name = "BriefDescription", .action = DESCRIPTION, .text = JEV_DESC, .prose = true },
    { .name = "PublicDescription", .action = DESCRIPTION, .text = JEV_LONG_DESC, .prose = true },
    { .name = "Unit", .action = UNIT, .once = true },
    { .name = "PerPkg", .action = TEXT, .text = JEV_PERPKG },
    { .name = "SampleAfterValue", .action = TERM, .term = "period=" },
    { .name = "CounterMask", .action = TERM, .term = "cmask=" },
    { .name = "Invert", .action = TERM, .term = "inv=" },
    { .name = "AnyThread", .action = TERM, .term = "any=" },
    { .name = "EdgeDetect", .action = TERM, .term = "edge=" },
    { .name = "FCMask", .action = TERM, .term = "fc_mask=" },
    { .name = "PortMask", .action = TERM, .term = "ch_mask=" },
    { .name = "MSRIndex", .action = MSR_INDEX },
    { .name = "MSRValue", .action = MSR_VALUE },
    { .name = "ConfigCode", .action = CONFIG },
    { .name = "ExtSel", .action = EXTSEL },
    { .name = "Filter", .action = TEXT, .text = FILTER },
    { .name = "PEBS", .action = PEBS },
    { .name = "Errata", .action = ERRATA, .prose = true },
    { .name = "Data_LA", .action = DATA_LA },
    { .name = "ArchStdEvent", .action = STD, .once = true },
    { .name = "Compat", .action = TEXT, .text = JEV_COMPAT },
    { .name = "ScaleUnit", .action = TEXT, .text = JEV_UNIT },
    { .name = "AggregationMode", .action = TEXT, .text = JEV_AGGR_MODE },
    { .name = "MetricExpr", .action = TEXT, .text = JEV_METRIC_EXPR, .prose = true },
    { .name = "MetricName", .action = TEXT, .text = JEV_METRIC_NAME, .once = true },
    { .name = "MetricGroup", .action = TEXT, .text = JEV_METRIC_GROUP },
    { .name = "MetricConstraint", .action = TEXT, .text = JEV_METRIC_CONSTRAINT },
    { .name = "Deprecated", .action = TEXT, .text = JEV_DEPRECATED },
};

enum { N_KEYS = sizeof keys / sizeof *keys };

/* Replaces a word, in any case, by another one; a list ends with NULL. */
struct word {
    const char *from, *to;
};

static const struct word pmus[] = {
    { "CBO", "uncore_cbox" }, { "QPI LL", "uncore_qpi" }, { "SBO", "uncore_sbox" },
    { "iMPH-U", "uncore_arb" }, { "UPI LL", "uncore_upi" }, { "CPU-M-CF", "cpum_cf" },
    { "CPU-M-SF", "cpum_sf" }, { "PAI-CRYPTO", "pai_crypto" }, { "hisi_sicl,cpa", "hisi_sicl,cpa" },
    { "hisi_sccl,ddrc", "hisi_sccl,ddrc" }, { "hisi_sccl,hha", "hisi_sccl,hha" },
    { "hisi_sccl,l3c", "hisi_sccl,l3c" }, { "imx8_ddr", "imx8_ddr" }, { "L3PMC", "amd_l3" },
    { "DFPMC", "amd_df" }, { "cpu_core", "cpu_core" }, { "cpu_atom", "cpu_atom" }, { NULL, NULL }
};

static const struct word msrs[] = {
    { "0x3F6", "ldlat=" }, { "0x1A6", "offcore_rsp=" }, { "0x1A7", "offcore_rsp=" },
    { "0x3F7", "frontend=" }, { NULL, NULL }
};

/* Events with a counter of their own, which other terms than those in the lists select. */
static const struct word fixed[] = {
    { "inst_retired.any", "event=0xc0,period=2000003" },
    { "inst_retired.any_p", "event=0xc0,period=2000003" },
    { "cpu_clk_unhalted.ref", "event=0x0,umask=0x03,period=2000003" },
    { "cpu_clk_unhalted.thread", "event=0x3c,period=2000003" },
    { "cpu_clk_unhalted.core", "event=0x3c,period=2000003" },
    { "cpu_clk_unhalted.thread_any", "event=0x3c,any=1,period=2000003" },
    { NULL, NULL }
};

/* Returns the word that replaces another one, in any case, or NULL if the list does not have it. */
static const char *find_word(const struct word *words, const char *from)
{
    for (; words->from; words++)
        if (strcasecmp(words->from, from) == 0)
            return words->to;
    return NULL;
}

struct draft {
    struct jev_text text[N_TEXTS];
    bool used[N_KEYS];
    bool described[2];          /* an empty description differs from a missing one: more is appended
                                 * to it */
    bool has_config;
    char pebs;                  /* 0; 2: must be precise; 1: can be */
    const char *msr;            /* the term, "ldlat=" */
    unsigned long msr_line, std_line;
    unsigned long long code, config;
};

/* Empties the draft for the next event, and keeps the memory of its texts. */
static void draft_empty(struct draft *draft)
{
    struct jev_text text[N_TEXTS];
    memcpy(text, draft->text, sizeof text);
    memset(draft, 0, sizeof *draft);
    memcpy(draft->text, text, sizeof text);
    for (int i = 0; i < N_TEXTS; i++)
        jev_text_empty(&draft->text[i]);
}

static void draft_release(struct draft *draft)
{
    for (int i = 0; i < N_TEXTS; i++)
        jev_text_release(&draft->text[i]);
}

static const char *value_of(const struct draft *draft) { return jev_str(&draft->text[VALUE]); }

/* Appends a part to a text, after a separator unless the text is empty. */
static void add_joined(struct jev *jev, struct jev_text *text, const char *separator,
                       const char *what)
{
    if (text->len)
        jev_adds(jev, text, separator);
    jev_adds(jev, text, what);
}

/* Turns the capital letters of a text into small ones. */
static void to_lower(struct jev_text *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->ptr[i] >= 'A' && text->ptr[i] <= 'Z')
            text->ptr[i] += 'a' - 'A';
}

/* Shortens a text to len bytes. */
static void shorten(struct jev_text *text, size_t len)
{
    text->len = len;
    text->ptr[len] = '\0';
}

/* Removes a comma and everything behind it. */
static void cut_at_comma(struct jev_text *text)
{
    const char *comma = text->len ? memchr(text->ptr, ',', text->len) : NULL;
    if (comma)
        shorten(text, (size_t)(comma - text->ptr));
}

/* Removes the dot at the end of some descriptions. */
static void cut_dot(struct jev_text *text)
{
    size_t n = text->len;
    while (n && strchr(" \t\n\v\f\r", text->ptr[n - 1]))
        n--;
    if (n && text->ptr[n - 1] == '.')
        shorten(text, n - 1);
}

/* Handles the key "Unit": turns its value into the name of a PMU, and appends that name to the
 * description, as perf does. */
static void take_unit(struct jev *jev, struct draft *draft)
{
    const char *pmu = find_word(pmus, value_of(draft));
    struct jev_text *field = &draft->text[JEV_PMU], *desc = &draft->text[JEV_DESC];
    if (!*value_of(draft))
        return;
    if (pmu) {
        jev_adds(jev, field, pmu);
    } else {
        jev_adds(jev, field, "uncore_");
        jev_adds(jev, field, value_of(draft));
        to_lower(field);
    }
    add_joined(jev, desc, ". ", "Unit: ");
    jev_adds(jev, desc, jev_str(field));
    jev_adds(jev, desc, " ");
    draft->described[0] = true;
}

/* Handles the key "MSRIndex": finds the term that its first number stands for; MSRValue will be
 * that term's value. */
static void take_msr_index(struct jev *jev, struct draft *draft, const char *path,
                           unsigned long line)
{
    cut_at_comma(&draft->text[VALUE]);
    draft->msr = find_word(msrs, value_of(draft));
    draft->msr_line = line;
    if (!draft->msr)
        jev_warn(jev, path, line, "no term is known for MSRIndex %.100s: the event goes without",
                 value_of(draft));
}

/* Handles a key, whose value is in draft->text[VALUE]: moves the value to the text or the number
 * that it belongs to. */
static void take_value(struct jev *jev, struct draft *draft, const struct key *key,
                       const char *path, unsigned long line)
{
    const char *value = value_of(draft);
    bool zero = strcmp(value, "0") == 0;
    switch (key->action) {
    case TERM:
        if (zero)
            break;
        cut_at_comma(&draft->text[VALUE]);
        add_joined(jev, &draft->text[JEV_EVENT], ",", key->term);
        jev_adds(jev, &draft->text[JEV_EVENT], value);
        break;
    case TEXT:
        jev_adds(jev, &draft->text[key->text], value);
        break;
    case DESCRIPTION:
        jev_adds(jev, &draft->text[key->text], value);
        cut_dot(&draft->text[key->text]);
        draft->described[key->text == JEV_LONG_DESC] = true;
        break;
    case CODE:      /* the first of "0xB7, 0xBB", which is one event on either of two counters */
        draft->code |= strtoull(value, NULL, 0);
        break;
    case CONFIG:
        draft->config |= strtoull(value, NULL, 0);
        draft->has_config = true;
        break;
    case EXTSEL:
        draft->code |= strtoull(value, NULL, 0) << 21;
        break;
    case PEBS:
        if (!zero)
            draft->pebs = strcmp(value, "2") == 0 ? 2 : 1;
        break;
    case MSR_INDEX:
        if (!zero)
            take_msr_index(jev, draft, path, line);
        break;
    case MSR_VALUE:
        jev_text_empty(&draft->text[MSR_TEXT]);
        jev_adds(jev, &draft->text[MSR_TEXT], value);
        break;
    case ERRATA:
        if (strcasecmp(value, "null") != 0) {
            add_joined(jev, &draft->text[EXTRA], ". ", " Spec update: ");
            jev_adds(jev, &draft->text[EXTRA], value);
        }
        break;
    case DATA_LA:
        if (!zero)
            add_joined(jev, &draft->text[EXTRA], ". ", " Supports address when precise");
        break;
    case UNIT:
        take_unit(jev, draft);
        break;
    case STD:
        jev_adds(jev, &draft->text[STD_NAME], value);
        to_lower(&draft->text[STD_NAME]);
        draft->std_line = line;
        break;
    }
}

/* Finds a key in any case, which perf's own lists need. */
static const struct key *find_key(const struct jev_token *token)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (token->len && (*keys[i].name | 0x20) == (*token->ptr | 0x20)
            && strncasecmp(keys[i].name, token->ptr, token->len) == 0
            && strlen(keys[i].name) == token->len)
            return &keys[i];
    return NULL;
}

/* Reads the value of one key of an event's object into the draft. Unknown keys are passed over,
 * since lists of newer perfs have more of them. Returns 0, or -1 after an error. */
static int read_field(struct jev_json *json, struct draft *draft, const struct jev_token *name)
{
    struct jev *jev = json->jev;
    struct jev_token value;
    if (jev_json_next(json, &value) < 0)
        return -1;
    if (value.kind != JEV_STRING)
        return jev_fail(jev, json->path, value.line,
                        "expected a string as value of \"%.*s\", got %s",
                        name->len > 100 ? 100 : (int)name->len, name->ptr,
                        jev_json_kind(value.kind));
    const struct key *key = find_key(name);
    if (!key)
        return 0;
    if (key->once && draft->used[key - keys])
        return jev_fail(jev, json->path, name->line, "%s twice in one event", key->name);
    draft->used[key - keys] = true;
    jev_text_empty(&draft->text[VALUE]);
    if (jev_json_decode(json, &value, key->prose, &draft->text[VALUE]) < 0)
        return -1;
    take_value(jev, draft, key, json->path, value.line);
    return jev_failed(jev) ? -1 : 0;
}

/* Reads the keys of an object into the draft; its opening brace has been read. */
static int read_object(struct jev_json *json, struct draft *draft)
{
    for (;;) {
        struct jev_token name;
        if (jev_json_next(json, &name) < 0)
            return -1;
        if (name.kind == JEV_OBJECT_END)
            return 0;
        if (name.kind != JEV_STRING)
            return jev_fail(json->jev, json->path, name.line,
                            "expected the name of a field, got %s", jev_json_kind(name.kind));
        if (read_field(json, draft, &name) < 0)
            return -1;
    }
}

/* Makes the texts that depend on several keys: descriptions, and the terms that select the
 * event. */
static void make_joint_texts(struct jev *jev, struct draft *draft, const char *path)
{
    struct jev_text *desc = &draft->text[JEV_DESC], *long_desc = &draft->text[JEV_LONG_DESC];
    struct jev_text *extra = &draft->text[EXTRA];
    struct jev_text *event = &draft->text[JEV_EVENT];
    char code[48];
    if (draft->pebs && draft->described[0] && !strstr(jev_str(desc), "(Precise Event)"))
        add_joined(jev, extra, " ", draft->pebs == 2 ? "(Must be precise)" : "(Precise event)");
    if (draft->described[0] && extra->len)
        add_joined(jev, desc, " ", jev_str(extra));
    if (draft->described[1] && extra->len)
        add_joined(jev, long_desc, " ", jev_str(extra));
    snprintf(code, sizeof code, draft->has_config ? "config=%#llx" : "event=%#llx",
             draft->has_config ? draft->config : draft->code);
    add_joined(jev, event, ",", code);
    if (draft->text[FILTER].len)
        add_joined(jev, event, ",", jev_str(&draft->text[FILTER]));
    if (draft->msr && draft->text[MSR_TEXT].len) {
        add_joined(jev, event, ",", draft->msr);
        jev_adds(jev, event, jev_str(&draft->text[MSR_TEXT]));
    } else if (draft->msr) {
        jev_warn(jev, path, draft->msr_line, "MSRIndex without MSRValue: the event goes without");
    }
    to_lower(&draft->text[JEV_NAME]);
}

/* Replaces the name of an aggregation mode by perf's number for it. */
static int number_aggr_mode(struct jev *jev, struct jev_event *event)
{
    static const struct word modes[] = { { "PerChip", "1" }, { "PerCore", "2" }, { NULL, NULL } };
    const char **mode = &event->field[JEV_AGGR_MODE];
    if (!*mode)
        return 0;
    const char *number = find_word(modes, *mode);
    if (!number)
        return jev_fail(jev, event->path, event->line,
                        "AggregationMode is neither PerChip nor PerCore: %.100s", *mode);
    *mode = number;
    return 0;
}

/* Fills in an event that refers to a standard one (ArchStdEvent). The event takes from there each
 * field that it lacks, and in any case the terms that select it. */
static int take_standard_event(struct jev *jev, const struct draft *draft, struct jev_event *event,
                               const struct jev_events *events)
{
    const char *name = jev_str(&draft->text[STD_NAME]);
    const struct jev_event *std = events ? jev_events_find(events, name) : NULL;
    if (!std)
        return jev_fail(jev, event->path, draft->std_line,
                        "ArchStdEvent: there is no standard event %.100s", name);
    for (int f = 0; f < JEV_N_FIELDS; f++)
        if (f == JEV_EVENT || !event->field[f])
            event->field[f] = std->field[f];
    return 0;
}

/* Does a string have control characters, which would break the lines of a table? */
static bool has_control(const char *s)
{
    for (; s && *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return true;
    return false;
}

/* Refuses an event without a name, or with control characters in a name or a code. */
static int check_names(struct jev *jev, const struct jev_event *event)
{
    const char *const *field = event->field;
    if (!field[JEV_NAME] && !field[JEV_METRIC_NAME])
        return jev_fail(jev, event->path, event->line, "neither EventName nor MetricName");
    if (has_control(field[JEV_NAME]) || has_control(field[JEV_METRIC_NAME])
        || has_control(field[JEV_PMU]) || has_control(field[JEV_EVENT]))
        return jev_fail(jev, event->path, event->line, "a control character in a name or a code");
    return 0;
}

/* Turns the draft, whose keys are all read, into an event. std: the events that ArchStdEvent may
 * name. */
static int finish_event(struct jev *jev, struct draft *draft, struct jev_event *event,
                        const struct jev_events *std)
{
    make_joint_texts(jev, draft, event->path);
    for (int f = 0; f < JEV_N_FIELDS; f++)
        if (draft->text[f].len)
            event->field[f] = jev_keep(jev, draft->text[f].ptr, draft->text[f].len);
    if (jev_failed(jev) || number_aggr_mode(jev, event) < 0)
        return -1;
    if (draft->text[STD_NAME].len && take_standard_event(jev, draft, event, std) < 0)
        return -1;
    const char *own = event->field[JEV_NAME] ? find_word(fixed, event->field[JEV_NAME]) : NULL;
    if (own)
        event->field[JEV_EVENT] = own;
    if (!event->field[JEV_NAME])        /* a metric */
        event->field[JEV_EVENT] = NULL;
    return check_names(jev, event);
}

/* Appends an empty event to the list. Returns NULL if memory is short. */
static struct jev_event *new_event(struct jev *jev, struct jev_events *events, const char *path,
                                   unsigned long line, const char *topic)
{
    void *array = events->ptr;
    if (jev_room(jev, &array, events->count, &events->cap, sizeof *events->ptr) < 0)
        return NULL;
    events->ptr = array;
    struct jev_event *event = &events->ptr[events->count++];
    memset(event, 0, sizeof *event);
    event->path = path;
    event->line = line;
    event->field[JEV_TOPIC] = topic && *topic ? topic : NULL;
    return event;
}

/* Reads the objects of a list, whose opening bracket has been read, and appends an event for
 * each. */
static int read_list(struct jev_json *json, struct draft *draft, struct jev_events *events,
                     const char *topic, const struct jev_events *std)
{
    struct jev_token token;
    for (;;) {
        if (jev_json_next(json, &token) < 0)
            return -1;
        if (token.kind == JEV_ARRAY_END)
            return 0;
        if (token.kind != JEV_OBJECT)
            return jev_fail(json->jev, json->path, token.line, "expected an object, got %s",
                            jev_json_kind(token.kind));
        struct jev_event *event = new_event(json->jev, events, json->path, token.line, topic);
        draft_empty(draft);
        if (!event || read_object(json, draft) < 0
            || finish_event(json->jev, draft, event, std) < 0)
            return -1;
    }
}

int jev_events_read(struct jev *jev, struct jev_events *events, const char *path, const char *data,
                    size_t len, const char *topic, const struct jev_events *std)
{
    struct jev_json json;
    struct jev_token token;
    struct draft draft;
    jev_json_init(&json, jev, path, data, len);
    if (jev_json_next(&json, &token) < 0)
        return -1;
    if (token.kind == JEV_END)
        return jev_fail(jev, path, token.line, "the file is empty");
    if (token.kind != JEV_ARRAY)
        return jev_fail(jev, path, token.line, "expected an array of events, got %s",
                        jev_json_kind(token.kind));
    memset(&draft, 0, sizeof draft);
    int rc = read_list(&json, &draft, events, topic, std);
    draft_release(&draft);
    if (rc < 0 || jev_json_next(&json, &token) < 0)
        return -1;
    if (token.kind != JEV_END)
        return jev_fail(jev, path, token.line,
                        "expected the end of the file behind the array, got %s",
                        jev_json_kind(token.kind));
    return 0;
}
