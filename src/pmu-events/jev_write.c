#include "jev_write.h"

#include <stdio.h>
#include <string.h>

/* Writes a string of C. Octal escapes have three digits, so no digit after them can become a part
 * of one; trigraphs such as ??=, which C99 replaces even in strings, are broken up. */
static void write_string(struct jev *jev, struct jev_text *out, const char *s)
{
    char escape[8];
    jev_add(jev, out, "\"", 1);
    while (*s) {
        const char *from = s;
        while (*s >= ' ' && *s < 0x7f && *s != '"' && *s != '\\' && !(s[0] == '?' && s[1] == '?'))
            s++;
        jev_add(jev, out, from, (size_t)(s - from));
        if (!*s)
            break;
        if (*s == '"' || *s == '\\' || *s == '?')
            snprintf(escape, sizeof escape, "\\%c", *s);
        else if (*s == '\n')
            snprintf(escape, sizeof escape, "\\n");
        else
            snprintf(escape, sizeof escape, "\\%03o", (unsigned)(unsigned char)*s);
        jev_adds(jev, out, escape);
        s++;
    }
    jev_add(jev, out, "\"", 1);
}

/* Writes one member of an initializer: .name="value", */
static void write_member(struct jev *jev, struct jev_text *out, const char *name, const char *value)
{
    jev_add(jev, out, ".", 1);
    jev_adds(jev, out, name);
    jev_add(jev, out, "=", 1);
    write_string(jev, out, value);
    jev_add(jev, out, ",", 1);
}

/* Writes an event as an initializer of struct pmu_event, without its empty fields. */
static void write_event(struct jev *jev, struct jev_text *out, const struct jev_event *event)
{
    static const char *const names[] = {
#define JEV_FIELD_NAME(upper, lower) #lower,
        JEV_FIELDS(JEV_FIELD_NAME)
#undef JEV_FIELD_NAME
    };
    jev_add(jev, out, "{", 1);
    for (int f = 0; f < JEV_N_FIELDS; f++)
        if (event->field[f])
            write_member(jev, out, names[f], event->field[f]);
    jev_adds(jev, out, "},\n");
}

/* Writes a table of events as an array of C, which an event without a name ends. */
static void write_table(struct jev *jev, struct jev_text *out, const struct jev_table *table)
{
    jev_adds(jev, out, "\nstatic const struct pmu_event ");
    jev_adds(jev, out, table->name);
    jev_adds(jev, out, "[] = {\n");
    for (size_t i = 0; i < table->events.count; i++)
        write_event(jev, out, &table->events.ptr[i]);
    jev_adds(jev, out, "{.name=0}\n};\n");
}

/* Writes a row of mapfile.csv as an initializer with its table. */
static void write_row(struct jev *jev, struct jev_text *out, const struct jev_row *row,
                      const struct jev_table *table)
{
    jev_add(jev, out, "{", 1);
    write_member(jev, out, "cpuid", row->cpuid);
    write_member(jev, out, "version", row->version);
    write_member(jev, out, "type", row->type);
    jev_adds(jev, out, ".table=");
    jev_adds(jev, out, table->name);
    jev_adds(jev, out, "},\n");
}

void jev_write(struct jev *jev, struct jev_text *out, const struct jev_tree *tree)
{
    jev_adds(jev, out, "/* Made by jevents of event lists and their mapfile. */\n"
                       "#include \"pmu-events/pmu-events.h\"\n");
    for (size_t i = 0; i < tree->count; i++)
        if (tree->tables[i].used)
            write_table(jev, out, &tree->tables[i]);
    jev_adds(jev, out, "\nconst struct pmu_events_map pmu_events_map[] = {\n");
    for (size_t i = 0; i < tree->rows.count; i++)
        write_row(jev, out, &tree->rows.ptr[i], &tree->tables[tree->row_table[i]]);
    jev_adds(jev, out, "{.cpuid=0}\n};\n");
}
