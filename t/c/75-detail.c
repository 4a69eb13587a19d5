/* Texts without values: SQL statements, paths, URLs and commands; tables of cases, random
 * statements whose values are known, and long texts. */
#include "tap.h"
#include "random.h"
#include "dp_err.h"
#include "dp_mask_text.h"
#include "dp_mem.h"
#include "dp_sql_text.h"

#include <stdlib.h>

/* ---- cases ---- */

/* dialects: u nknown, s tandard, m ysql, l ite */
static const char letters[] = "usml";

static const struct { const char *dialects, *sql, *text; } statements[] = {
    /* white space and comments */
    { "usml", "", "" }, { "usml", " \t\r\n", "" }, { "usml", "  SELECT\n\t1  ", "SELECT ?" },
    { "usml", "SELECT a,\n       b\nFROM   t", "SELECT a, b FROM t" },
    { "usml", "SELECT/* x */a", "SELECT a" }, { "usml", "/* head */ COMMIT", "COMMIT" },
    { "usml", "COMMIT -- 'done'", "COMMIT" }, { "usml", "a -- it's\n, b", "a , b" },
    { "usml", "a --\n, b", "a , b" }, { "usml", "SELECT a /* open 'x'", "SELECT a" },
    { "s", "a /* b /* c */ 'd' */ e", "a e" }, { "ml", "a /* b /* c */ 'd'", "a ?" },
    { "u", "a /* b /* c */ 'd' */ e", "a ?" }, { "m", "a # it's\n b", "a b" },
    { "s", "a # 'x' # b", "a # ? # b" }, { "u", "a # b\n c", "a # b c" },
    { "u", "a # it's\n b = 'x'", "a ?" }, { "m", "a--b\n, c", "a--b , c" },
    { "sul", "a--b\n, c", "a , c" }, { "u", "5--1 OR b = 'x\ny'", "??" },
    { "m", "5--1 OR b = 'x\ny'", "?-? OR b = ?" }, { "s", "a -- b\r, 'c'", "a , ?" },
    { "u", "a -- b\r, 'c\n'", "a ?" }, { "uml", "a -- b\r\n, 'c'", "a , ?" },
    { "m", "SELECT /*!40001 SQL_NO_CACHE */ * FROM t", "SELECT * FROM t" },
    { "mu", "SELECT /*!40001 'a */ b' */ * FROM t", "SELECT ?" },
    { "sl", "SELECT /*! 'a */ 'b'", "SELECT ?" },
    { "m", "SELECT /*+ MAX_EXECUTION_TIME(1000) */ a FROM t", "SELECT a FROM t" },
    /* strings */
    { "usml", "a = 'x'", "a = ?" }, { "usml", "a = ''", "a = ?" }, { "usml", "a='it''s'", "a=?" },
    { "usml", "a = 'open", "a = ?" }, { "usml", "a = '/* x' AND b = '*/'", "a = ? AND b = ?" },
    { "usml", "a = '-- x'\n AND b", "a = ? AND b" }, { "m", "a = 'it\\'s' AND b", "a = ? AND b" },
    { "sl", "a = 'C:\\' AND b = 'x'", "a = ? AND b = ?" },
    { "u", "a = 'C:\\' AND b = 'x'", "a = ?" }, { "m", "a = 'C:\\\\' AND b", "a = ? AND b" },
    { "s", "a = E'it\\'s' AND b", "a = ? AND b" }, { "s", "a = e'\\\\' AND b", "a = ? AND b" },
    { "u", "a = E'it\\'s' AND b", "a = ?" }, { "s", "E'a'\n'b\\'c' AND d", "? ? AND d" },
    { "u", "a = 'x\\n' AND b", "a = ? AND b" }, { "m", "a = 'x\\", "a = ?" },
    { "usml", "N'x', n'x', B'1', X'1f'", "?, ?, ?, ?" }, { "us", "U&'d\\0061' AND a", "? AND a" },
    { "m", "_utf8'x', _latin1\"x\", N'x'", "?, ?, ?" }, { "m", "_utf8 'x'", "_utf8 ?" },
    { "usml", "DATE '2020-01-01'", "DATE ?" }, { "usml", "date'2020-01-01'", "date ?" },
    { "usml", "a LIKE'x%'", "a LIKE ?" }, { "u", "{d '2020-01-01'}", "{d ?}" },
    { "u", "a = q'[it's]' AND b", "a = ?" }, { "usml", "'a' 'b'", "? ?" },
    { "us", "SELECT $$it's$$, a", "SELECT ?, a" }, { "us", "$f$ a $$ b $f$ c", "? c" },
    { "us", "$a$ b $c$", "?" }, { "us", "AS $body$ SELECT 'x'; $body$ LANGUAGE sql",
      "AS ? LANGUAGE sql" }, { "s", "a$b$c = 'x'", "a$b$c = ?" },
    { "usml", "a->'b'->>'c'", "a->?->>?" }, { "us", "'1'::int + a::text", "?::int + a::text" },
    { "m", "a COLLATE utf8mb4_bin = 'x'", "a COLLATE utf8mb4_bin = ?" },
    /* numbers and signs */
    { "usml", "1, 1.5, .5, 1., 1.5e-3, 1E+9, 1e9", "?, ?, ?, ?, ?, ?, ?" },
    { "usml", "0xFF, 0b01, 1_000, 1.5e-3+2", "?, ?, ?, ?+?" }, { "usml", "0xE-5", "?-?" },
    { "usml", "t1, a_2b, x.y2", "t1, a_2b, x.y2" }, { "usml", "a = -1", "a = ?" },
    { "usml", "a = - 1", "a = ?" }, { "usml", "a=-1 AND b=+2", "a=? AND b=?" },
    { "usml", "a-1", "a-?" }, { "usml", "a - 1", "a - ?" }, { "usml", "(a)-1", "(a)-?" },
    { "usml", "f(-1, -2)", "f(?, ?)" }, { "usml", "1-1", "?-?" }, { "usml", "a * -1", "a * ?" },
    { "usml", "SELECT -1", "SELECT ?" }, { "usml", "BETWEEN -5 AND -1", "BETWEEN ? AND ?" },
    { "usml", "a = - b", "a = - b" }, { "usml", "-.5", "?" }, { "usm", "a[1]-1", "a[?]-?" },
    { "usml", "LIMIT 10 OFFSET 20", "LIMIT ? OFFSET ?" }, { "usml", "a = 1;", "a = ?;" },
    { "usml", "1\xc3\xa9, \xc3\xa9" "1", "?, \xc3\xa9" "1" }, { "u", "$12.50", "?" },
    { "usml", "current_date - 1", "current_date - ?" }, { "usml", "t.5", "t.?" },
    { "m", "\"x\"-1", "?-?" },
    /* placeholders */
    { "usml", "a = ? AND b = ?", "a = ? AND b = ?" },
    { "usml", "a = $1 AND b=$22", "a = ? AND b=?" },
    { "usml", "a = :name", "a = :name" }, { "usml", "a = :1", "a = ?" }, { "l", "a = ?1", "a = ?" },
    { "l", "a = $name OR a = @name", "a = $name OR a = @name" }, { "us", "a[1:2]", "a[?:?]" },
    { "us", "a ?| ARRAY['x']", "a ?| ARRAY[?]" }, { "m", "@x := 5", "@x := ?" },
    /* names in quotes */
    { "s", "SELECT \"a b\", \"c\"\"1\" FROM \"t\"", "SELECT \"a b\", \"c\"\"1\" FROM \"t\"" },
    { "s", "a = \"x", "a = ?" }, { "m", "a = \"x\"", "a = ?" },
    { "m", "a = \"x\"\"y\\\"z\"", "a = ?" },
    { "ul", "a = \"x\"", "a = ?" }, { "ul", "\"me\".\"id\" = \"x\"", "\"me\".\"id\" = ?" },
    { "ul", "FROM \"t\"", "FROM \"t\"" }, { "ul", "JOIN \"t\" ON a", "JOIN \"t\" ON a" },
    { "ul", "INTO \"t\" VALUES (\"x\")", "INTO \"t\" VALUES (?)" },
    { "ul", "UPDATE \"t\" SET a = \"x\"", "UPDATE \"t\" SET a = ?" },
    { "ul", "TABLE \"t\"", "TABLE \"t\"" }, { "ul", "a AS \"b\"", "a AS \"b\"" },
    { "ul", "FROM \"t\" \"me\"", "FROM \"t\" \"me\"" }, { "ul", "t.a \"b\"", "t.a \"b\"" },
    { "ul", "a LIKE \"x\"", "a LIKE ?" }, { "ul", "a MATCH \"x\"", "a MATCH ?" },
    { "ul", "\"t\".\"a\" LIKE \"x\"", "\"t\".\"a\" LIKE ?" },
    { "ul", "IS DISTINCT FROM \"x\"", "IS DISTINCT FROM ?" },
    { "ul", "EXTRACT(YEAR FROM \"x\")", "EXTRACT(YEAR FROM ?)" },
    { "ul", "(SELECT a FROM \"t\")", "(SELECT a FROM \"t\")" },
    { "u", "FROM \"t\\\"x\" WHERE a", "FROM ?" },
    { "l", "FROM \"t\\\" WHERE a", "FROM \"t\\\" WHERE a" },
    { "u", "a # FROM\n\"x\"", "a # FROM ?" },
    { "usml", "`a b`.`c``d` = 1", "`a b`.`c``d` = ?" }, { "usml", "a = `x", "a = ?" },
    { "ul", "[Order Details].[a] = 'x'", "[Order Details].[a] = ?" },
    { "ul", "SELECT [a]", "SELECT [a]" }, { "l", "[it's] = 'x'", "[it's] = ?" },
    { "u", "[it's] = 'x'", "?" }, { "s", "ARRAY[a, 'x', 5]", "ARRAY[a, ?, ?]" },
    { "u", "ARRAY[a, 'x', 5]", "ARRAY ?" }, { "us", "ARRAY[1, 2]", "ARRAY[?, ?]" },
    { "u", "a[b, 5]", "a[b, ?]" }, { "l", "[1]", "?" }, { "l", "[a", "?" },
    { "u", "[a--b] = 'x", "?" },
    /* lists and rows */
    { "usml", "a IN (1,2,3)", "a IN (?)" }, { "usml", "a IN(1)", "a IN (?)" },
    { "usml", "a in ( 'x' , 'y' )", "a in (?)" },
    { "usml", "a NOT IN (-1, ?, $1)", "a NOT IN (?)" },
    { "usml", "a IN (1, b)", "a IN (?, b)" }, { "usml", "a IN ()", "a IN ()" },
    { "usml", "a IN (SELECT 1, 2)", "a IN (SELECT ?, ?)" },
    { "usml", "t.in (1, 2)", "t.in (?, ?)" },
    { "usml", "(a IN (1, 2)) AND b IN (3)", "(a IN (?)) AND b IN (?)" },
    { "usml", "(a, b) IN ((1, 2), (3, 4))", "(a, b) IN ((?, ?))" },
    { "usml", "a IN (1 + 2, 3)", "a IN (? + ?, ?)" }, { "usml", "a IN (1, 2", "a IN (?, ?" },
    { "usml", "VALUES (1, 2), (3, 4), (5, 6)", "VALUES (?, ?)" },
    { "usml", "VALUES (1, 2),(3,4) RETURNING id", "VALUES (?, ?) RETURNING id" },
    { "usml", "VALUES (1, now()), (2, now( ))", "VALUES (?, now())" },
    { "usml", "VALUES (1, 2), (3, NULL), (4, NULL)", "VALUES (?, ?), (?, NULL)" },
    { "usml", "VALUES (1), (2) ON CONFLICT (a) DO UPDATE SET a = 3",
      "VALUES (?) ON CONFLICT (a) DO UPDATE SET a = ?" },
    { "m", "VALUES (1), (2) ON DUPLICATE KEY UPDATE a = VALUES(a), b = VALUES(b)",
      "VALUES (?) ON DUPLICATE KEY UPDATE a = VALUES(a), b = VALUES(b)" },
    { "usml", "VALUES (1, (SELECT max(a) FROM t)), (2, 3)",
      "VALUES (?, (SELECT max(a) FROM t)), (?, ?)" },
    { "usml", "VALUES (a IN (1, 2)), (a IN (3))", "VALUES (a IN (?))" },
    { "usml", "VALUES (a b), (ab)", "VALUES (a b), (ab)" },
    { "usml", "VALUES (1), (2", "VALUES (?), (?" },
    { "usml", "SELECT f(1), (1), (1)", "SELECT f(?), (?), (?)" },
    /* statements of modules and manuals */
    { "usml", "SELECT me.id, me.name FROM items me WHERE ( me.id = ? )",
      "SELECT me.id, me.name FROM items me WHERE ( me.id = ? )" },
    { "uls", "SELECT \"me\".\"id\" FROM \"cd\" \"me\"  JOIN \"artist\" \"artist\" ON "
      "\"artist\".\"id\" = \"me\".\"artist\" WHERE ( \"artist\".\"name\" = 'Bob' ) LIMIT 1",
      "SELECT \"me\".\"id\" FROM \"cd\" \"me\" JOIN \"artist\" \"artist\" ON "
      "\"artist\".\"id\" = \"me\".\"artist\" WHERE ( \"artist\".\"name\" = ? ) LIMIT ?" },
    { "m", "SELECT `me`.`id` FROM `items` `me` WHERE ( `me`.`id` IN ( ?, ?, ? ) ) LIMIT 0, 50",
      "SELECT `me`.`id` FROM `items` `me` WHERE ( `me`.`id` IN (?) ) LIMIT ?, ?" },
    { "usml", "SELECT COUNT( * ) FROM (SELECT me.id FROM cd me GROUP BY me.id LIMIT ?) me",
      "SELECT COUNT( * ) FROM (SELECT me.id FROM cd me GROUP BY me.id LIMIT ?) me" },
    { "usml", "INSERT INTO items ( name, price) VALUES ( ?, ? )",
      "INSERT INTO items ( name, price) VALUES ( ?, ? )" },
    { "usml", "UPDATE items SET name = ?, n = n + 1 WHERE ( id = ? )",
      "UPDATE items SET name = ?, n = n + ? WHERE ( id = ? )" },
    { "usml", "DELETE FROM items WHERE ( ( id > 5 OR name IS NULL ) )",
      "DELETE FROM items WHERE ( ( id > ? OR name IS NULL ) )" },
    { "usml", "SELECT * FROM t WHERE ( artist LIKE '%Lamb%' AND title LIKE '%Fear%' )",
      "SELECT * FROM t WHERE ( artist LIKE ? AND title LIKE ? )" },
    { "usml", "WHERE ((x BETWEEN 1 AND ?) AND 1=1 AND (0=1 OR y IN ( '1', '2' )))",
      "WHERE ((x BETWEEN ? AND ?) AND ?=? AND (?=? OR y IN (?)))" },
    { "usml", "WHERE x BETWEEN current_date - 1 AND current_date - 0",
      "WHERE x BETWEEN current_date - ? AND current_date - ?" },
    { "s", "UPDATE pgbench_branches SET bbalance = bbalance + -4087 WHERE bid = 1",
      "UPDATE pgbench_branches SET bbalance = bbalance + ? WHERE bid = ?" },
    { "s", "SELECT * FROM test WHERE a IN (1, 2, 3, 4, 5, 6, 7)",
      "SELECT * FROM test WHERE a IN (?)" },
    { "s", "select c1 from t1 where c2 = 123;", "select c1 from t1 where c2 = ?;" },
    { "s", "SELECT 'x' || U&'\\0441' || B'01' AS \"c\" FETCH FIRST 5 ROWS ONLY",
      "SELECT ? || ? || ? AS \"c\" FETCH FIRST ? ROWS ONLY" },
    { "m", "SELECT * FROM orders WHERE customer_id=10 AND quantity>20",
      "SELECT * FROM orders WHERE customer_id=? AND quantity>?" },
    { "m", "SELECT * FROM customer1 WHERE age < 20", "SELECT * FROM customer1 WHERE age < ?" },
    { "m", "SET NAMES utf8mb4", "SET NAMES utf8mb4" },
    { "m", "SET SESSION sql_mode='ANSI', @@x = 5", "SET SESSION sql_mode=?, @@x = ?" },
    { "m", "CREATE USER 'a'@'localhost' IDENTIFIED BY 'x'", "CREATE USER ?@? IDENTIFIED BY ?" },
    { "l", "PRAGMA foreign_keys = 1", "PRAGMA foreign_keys = ?" },
    { "l", "INSERT OR REPLACE INTO t VALUES (1, x'00ff', NULL)",
      "INSERT OR REPLACE INTO t VALUES (?, ?, NULL)" },
    { "l", "ATTACH DATABASE '/var/x/a.db' AS other", "ATTACH DATABASE ? AS other" },
};

struct texts {
    const char *from, *to;
};

static const struct texts paths[] = {
    { "", "" }, { "/", "/" }, { "/items/123", "/items/*" }, { "/items/123/edit", "/items/*/edit" },
    { "/v2/a", "/v2/a" }, { "song.mp3", "song.mp3" }, { "utf8", "utf8" }, { "/a1/b22", "/a1/b22" },
    { "1", "*" }, { "a-1-b", "a-*-b" }, { "user_42.txt", "user_*.txt" }, { "1.2.3", "*.*.*" },
    { "/u/123e4567-e89b-12d3-a456-426614174000/x", "/u/*/x" },
    { "deadbeef-dead-beef-dead-beefdeadbeef", "*" },
    { "DEADBEEF-DEAD-BEEF-DEAD-BEEFDEADBEEF.log", "*.log" },
    { "deadbeef-dead-beef-dead-beefdeadbeefs", "deadbeef-dead-beef-dead-beefdeadbeefs" },
    { "deadbeef", "deadbeef" }, { "deadbee1", "*" }, { "deadbe1", "deadbe1" }, { "DEADBEE1", "*" },
    { "/blob/0123456789abcdef0123456789abcdef01234567", "/blob/*" },
    { "abcdefghijklmno1", "*" }, { "abcdefghijklmn1", "abcdefghijklmn1" },
    { "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz" },
    { "/a%20b", "/a%20b" }, { "/a%20123", "/*" }, { "/%31%32", "/*" },
    { "/caf%C3%A9", "/caf%C3%A9" },
    { "/x%2F99%2Fy", "/*" }, { "/50%", "/*%" }, { "/a%2", "/a%*" }, { "/a%zz", "/a%zz" },
    { "/caf\xc3\xa9/1", "/caf\xc3\xa9/*" }, { "/a\xff" "1", "/a\xff" "1" },
    { "/srv/me/2024-01-31.csv", "/srv/me/*-*-*.csv" }, { "lib/libz.so.1", "lib/libz.so.*" },
    { "/tmp/AbCd1234EfGh5678/x", "/tmp/*/x" }, { "/%41%42cdefghijklmno1", "/*" },
    { "/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0", "/*.*" }, { "@scope/pkg", "@scope/pkg" },
};

static const struct texts urls[] = {
    { "http://example.com", "http://example.com" },
    { "http://example.com/", "http://example.com/" },
    { "HTTP://Example.COM/Path", "http://example.com/Path" },
    { "https://example.com:8443/a/1", "https://example.com:8443/a/*" },
    { "http://example.com:/a", "http://example.com/a" },
    { "http://me:pw@example.com/a", "http://example.com/a" },
    { "http://me@example.com", "http://example.com" },
    { "http://a@b:c@example.com/x", "http://example.com/x" },
    { "http://me:p/w@example.com/a", "http://*" }, { "http://me:p?w@example.com/a", "http://*" },
    { "http://a b/c", "http://*" }, { "http://example.com?q=1", "http://example.com" },
    { "http://example.com/a?q=1#f", "http://example.com/a" },
    { "http://example.com#f", "http://example.com" },
    { "http://example.com/a#f?q", "http://example.com/a" },
    { "http://[::1]:80/a", "http://[::1]:80/a" }, { "http://10.0.0.1/10", "http://10.0.0.1/*" },
    { "http://[::x]/a", "http://*" }, { "file:///srv/me/12", "file:///srv/me/*" },
    { "http+unix://%2Frun%2Fx.sock/v1/a", "http+unix://%2frun%2fx.sock/v1/a" },
    { "/a/1?q=2", "/a/*" }, { "a/b#c", "a/b" }, { "?q", "" }, { "", "" },
    { "me:pw@example.com/a", "example.com/a" }, { "mailto:me@example.com", "example.com" },
    { "//example.com/1", "//example.com/*" }, { "://x/1", "://x/*" },
    { "1http://x/5", "1http://x/*" },
    { "postgres://u:p@db/shop", "postgres://db/shop" }, { "http:///a", "http:///a" },
    { "http://b\xc3\xbc" "cher.example/1", "http://b\xc3\xbc" "cher.example/*" },
    { "ws://h/%3Fa%201", "ws://h/*" }, { "http://example.com\\a\\1", "http://example.com\\a\\*" },
    { "http://example.com/users/me@example.com", "http://example.com/users/me@example.com" },
    { "http://h:123/a;id=77", "http://h:123/a;id=*" }, { "http://u:p@[::1]/", "http://[::1]/" },
    { "http://u:p%40@h/", "http://h/" }, { "http://-_~.h/", "http://-_~.h/" },
    { " \n http://u:p@h/1", "http://h/*" }, { "see http://u:p@h/1", "h/*" }, { "@a:b", "@a:b" },
    { "http", "http" }, { "http:/a/1", "http:/a/*" },
};

static const struct texts commands[] = {
    { "", "(shell)" }, { "ls", "ls" }, { "  ls -l", "ls" }, { "/bin/ls -l /srv", "ls" },
    { "./run.sh a", "run.sh" }, { "A=1 ls", "ls" }, { "A=1 B='x y' C=\"z w\" ls -l", "ls" },
    { "A=$B ls", "ls" }, { "A=x\\ y ls", "ls" }, { "A+=x ls", "ls" }, { "A[1]=x ls", "ls" },
    { "exec ls", "ls" }, { "env A=1 ls", "ls" }, { "env 'A b=1' ls", "ls" }, { "nice ls", "ls" },
    { "time -p ls", "ls" }, { "command ls", "ls" }, { "exec env A=1 nice -n 10 ls", "ls" },
    { "nice -10 ls", "ls" }, { "nice -n10 ls", "ls" }, { "nice --adjustment=5 ls", "ls" },
    { "env -i -u HOME A=b ls", "ls" }, { "env --split ls x", "env" },
    { "command -v ls", "command" },
    { "env", "env" }, { "exec -a name ls", "ls" }, { "nice -n $(x y) ls", "nice" },
    { "env -u ${A:-b c} ls", "env" }, { "nice -x ls", "nice" }, { "env -- ls", "ls" },
    { "(cd /x; ls)", "(shell)" }, { "{ ls; }", "(shell)" }, { "{a,b}", "(shell)" },
    { "if true; then ls; fi", "(shell)" }, { "for i in a b; do ls; done", "(shell)" },
    { "while ls; do :; done", "(shell)" }, { "case x in y) ;; esac", "(shell)" },
    { "'open quote", "(shell)" }, { "\"open quote", "(shell)" }, { "A='x ls", "(shell)" },
    { "$EDITOR x", "(shell)" }, { "/opt/$X/ls", "(shell)" }, { "`which ls`", "(shell)" },
    { "\"$HOME/bin/x\" y", "(shell)" }, { "A=$(cat x) ls", "(shell)" },
    { "A=`cat x` ls", "(shell)" },
    { "A=${B:-x y} ls", "(shell)" }, { "A=$'it\\'s x' ls", "(shell)" }, { "A=1", "(shell)" },
    { "A=1; ls", "(shell)" }, { "f() { ls; }", "(shell)" }, { "! ls", "(shell)" },
    { "# x", "(shell)" },
    { "[[ -f x ]]", "(shell)" }, { "[ -f x ]", "[" }, { "2>x ls", "(shell)" },
    { ">x ls", "(shell)" },
    { "ls|wc", "ls" }, { "ls>x", "ls" }, { "ls;id", "ls" }, { "ls&", "ls" }, { "ls\nid", "ls" },
    { "'/opt/my prog/run it' x", "run it" }, { "/opt/my\\ prog/run x", "run" }, { "\\ls", "ls" },
    { "l's' x", "ls" }, { "\"A=x\" ls", "(shell)" }, { "a-b=x ls", "(shell)" }, { "''", "(shell)" },
    { "perl -e 1", "perl" }, { "python3 x", "python3" }, { "perl5.36 x", "perl5.*" },
    { "/tmp/par-0123456789abcdef/x1 y", "x1" }, { "/x/0123456789abcdef y", "*" },
    { "/usr/bin/", "(shell)" },
    { "exec \\\n  ls", "ls" }, { "l\\\ns", "ls" }, { "~/bin/ls", "ls" }, { "\"if\" x", "if" },
};

/* ---- cases, each also without memory ---- */

typedef void text_fn(struct dp_buf *to, const char *ptr, size_t len, int dialect);

static void sql_fn(struct dp_buf *to, const char *ptr, size_t len, int dialect)
{
    dp_sql_text(to, ptr, len, (enum dp_sql_dialect)dialect);
}
static void path_fn(struct dp_buf *to, const char *ptr, size_t len, int d)
{
    (void)d;
    dp_mask_path(to, ptr, len);
}
static void url_fn(struct dp_buf *to, const char *ptr, size_t len, int d)
{
    (void)d;
    dp_mask_url(to, ptr, len);
}
static void command_fn(struct dp_buf *to, const char *ptr, size_t len, int d)
{
    (void)d;
    dp_command_name(to, ptr, len);
}

/* The text of len bytes, which stand at the end of a block of their own, so that a sanitizer sees a
 * byte that is read beyond them. It is appended to a text that must stay. */
static void make(struct dp_buf *to, text_fn *fn, const char *ptr, size_t len, int dialect)
{
    char *copy = malloc(len ? len : 1);
    memcpy(copy, ptr, len);
    dp_buf_clear(to);
    dp_buf_adds(to, ">");
    fn(to, copy, len, dialect);
    free(copy);
}

static bool is_made(text_fn *fn, const char *from, const char *text, int dialect)
{
    struct dp_buf buf;
    long before = dp_mem_live();
    dp_buf_init(&buf);
    make(&buf, fn, from, strlen(from), dialect);
    bool good = strcmp(dp_buf_cstr(&buf) + 1, text) == 0 && *buf.ptr == '>';
    if (!good)
        printf("# %s: got '%s', wanted '%s'\n", from, dp_buf_cstr(&buf), text);
    dp_buf_release(&buf);
    for (long n = 0; n < 4; n++) {
        dp_mem_fail_after(n);
        fn(&buf, from, strlen(from), dialect);
        dp_mem_fail_after(-1);
        good = good && (buf.err == DP_E_NOMEM || (!buf.err && buf.len == strlen(text)));
        dp_buf_release(&buf);
    }
    return good && dp_mem_live() == before;
}

static void test_cases(const char *what, text_fn *fn, const struct texts *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ok(is_made(fn, cases[i].from, cases[i].to, 0), "%s %zu: %s", what, i, cases[i].to);
}

static void test_statements(void)
{
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        for (int d = 0; d < 4; d++)
            if (strchr(statements[i].dialects, letters[d]))
                ok(is_made(sql_fn, statements[i].sql, statements[i].text, d), "SQL %zu %c", i,
                   letters[d]);
}

/* ---- random statements ---- */

/* A statement, whose literals contain `mark`, or a number that contains `digits`. */
struct made_sql {
    struct dp_buf *to;
    const char *mark, *digits;
    int dialect;
};

static void words(struct made_sql *m, const char *text) { dp_buf_adds(m->to, text); }

/* A literal. kind is random, and the same for both statements of a pair; the content is not. */
static void literal(struct made_sql *m, unsigned kind)
{
    static const char *const inside[] = { "''", "/*", "*/", "--", "#", "\"", "$$", "\n", "`", "[",
                                          "(", "?", ",", "\xff", " IN (", "%" };
    static const char *const quotes[][2] = { { "'", "'" }, { "N'", "'" }, { "X'", "'" },
                                             { "B'", "'" }, { "$q$", "$q$" }, { "\"", "\"" } };
    bool dollar = m->dialect == DP_SQL_STANDARD || m->dialect == DP_SQL_UNKNOWN;
    unsigned q = kind % 7;
    if (q == 4 && !dollar)
        q = 0;
    if (q == 5 && m->dialect == DP_SQL_STANDARD)
        q = 1;
    if (q == 6) {
        dp_buf_addf(m->to, "%s%s%u", kind % 2 ? "-" : "", m->digits, rnd(1000));
        return;
    }
    words(m, quotes[q][0]);
    for (unsigned n = rnd(4); n > 0; n--) {
        const char *part = inside[rnd(sizeof inside / sizeof *inside)];
        words(m, m->mark);
        if (q < 4 || !strchr(part, '"') || !*part)
            words(m, part);
        if (m->dialect == DP_SQL_MYSQL && rnd(3) == 0)
            words(m, q < 4 ? "\\'" : "\\\"");
    }
    words(m, m->mark);
    words(m, quotes[q][1]);
}

/* `pick` gives the structure, rnd() the contents of literals and the lengths of lists. */
static uint64_t pick_state;
static unsigned pick(unsigned n)
{
    pick_state = pick_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((pick_state >> 33) % n);
}

static void space(struct made_sql *m)
{
    static const char *const spaces[] = { " ", "\n", "\t ", " /* it's */ ", " -- it's\n", "  " };
    words(m, spaces[rnd(6)]);
}

static void expression(struct made_sql *m, unsigned depth)
{
    static const char *const names[] = { "a", "t1.b2", "`c d`", "now()", ":name", "NULL" };
    static const char *const operators[] = { "=", "<>", "+", "AND", "LIKE", "||", "<" };
    unsigned kind = pick(depth ? 6 : 3);
    if (kind < 2) {
        literal(m, pick(1000));
    } else if (kind == 2) {
        words(m, names[pick(6)]);
    } else if (kind == 3) {
        words(m, "(");
        expression(m, depth - 1);
        words(m, ")");
    } else if (kind == 4) {
        words(m, "a IN (");
        for (unsigned n = rnd(5), k = pick(4);; n--) {
            literal(m, k);
            if (!n)
                break;
            words(m, ", ");
        }
        words(m, ")");
    } else {
        expression(m, depth - 1);
        space(m);
        words(m, operators[pick(7)]);
        space(m);
        expression(m, depth - 1);
    }
}

static void statement(struct made_sql *m)
{
    dp_buf_clear(m->to);
    if (pick(3)) {
        words(m, "SELECT");
        space(m);
        expression(m, 2);
        words(m, " FROM t WHERE");
        space(m);
        expression(m, 4);
        words(m, " LIMIT ");
        literal(m, 6);
    } else {
        uint64_t row = pick_state;
        words(m, "INSERT INTO t1 (a, b)\nVALUES");
        for (unsigned n = rnd(4);; n--) {
            pick_state = row;
            words(m, "(");
            expression(m, 0);
            words(m, ", ");
            expression(m, 2);
            words(m, ")");
            if (!n)
                break;
            words(m, rnd(2) ? "," : ",\n ");
        }
    }
}

static bool is_secret_in(struct dp_buf *text)
{
    return strstr(dp_buf_cstr(text), "Secret") || strstr(dp_buf_cstr(text), "Hidden")
           || strstr(dp_buf_cstr(text), "777") || strstr(dp_buf_cstr(text), "888");
}

static void test_random(void)
{
    enum { ROUNDS = 4000 };
    struct dp_buf sql[2], text[2];
    for (int i = 0; i < 2; i++) {
        dp_buf_init(&sql[i]);
        dp_buf_init(&text[i]);
    }
    for (int d = 0; d < 4; d++) {
        unsigned equal = 0, secret = 0;
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint64_t seed = ((uint64_t)rnd(1u << 30) << 30) + rnd(1u << 30);
            for (int i = 0; i < 2; i++) {
                struct made_sql m = { &sql[i], i ? "Hidden" : "Secret", i ? "777" : "888", d };
                pick_state = seed;
                statement(&m);
                make(&text[i], sql_fn, sql[i].ptr, sql[i].len, d);
                secret += is_secret_in(&text[i]);
            }
            bool same = strcmp(dp_buf_cstr(&text[0]), dp_buf_cstr(&text[1])) == 0;
            equal += same;
            if (!same && equal + 3 > round)
                printf("# %s\n# %s\n# %s\n# %s\n", dp_buf_cstr(&sql[0]), dp_buf_cstr(&sql[1]),
                       dp_buf_cstr(&text[0]), dp_buf_cstr(&text[1]));
        }
        is_u(secret, 0, "no value is in the text of a random statement, %c", letters[d]);
        is_u(equal, ROUNDS, "values make no difference, %c", letters[d]);
    }
    for (int i = 0; i < 2; i++) {
        dp_buf_release(&sql[i]);
        dp_buf_release(&text[i]);
    }
}

/* ---- any bytes, and long texts ---- */

static void test_any_bytes(void)
{
    struct dp_buf buf;
    char bytes[40];
    dp_buf_init(&buf);
    for (unsigned round = 0; round < 20000; round++) {
        size_t len = rnd(sizeof bytes);
        for (size_t i = 0; i < len; i++)
            bytes[i] = rnd(2) ? (char)rnd(256) : "'\"`[]$\\/*-#(),.:?%@=\n e1\0"[rnd(25)];
        for (int d = 0; d < 4; d++)
            make(&buf, sql_fn, bytes, len, d);
        make(&buf, path_fn, bytes, len, 0);
        make(&buf, url_fn, bytes, len, 0);
        make(&buf, command_fn, bytes, len, 0);
    }
    ok(true, "any bytes do not lead beyond their end");
    make(&buf, sql_fn, "a\0b = 'x\0y'", 11, DP_SQL_UNKNOWN);
    is_s(dp_buf_cstr(&buf), ">a b = ?", "NUL is white space in SQL, and a part of a string");
    make(&buf, path_fn, "a\0" "12", 4, 0);
    ok(buf.len == 4 && memcmp(buf.ptr, ">a\0*", 4) == 0, "NUL is a separator in a path");
    make(&buf, command_fn, "A=1\0secret", 10, 0);
    is_s(dp_buf_cstr(&buf), ">(shell)", "NUL ends a command");
    dp_buf_release(&buf);
}

/* A text of many equal parts. In quadratic time, this test would take minutes. */
static void test_long(void)
{
    static const char *const parts[] = {
        "[a", "[", "$a$", "$", "#", "--x", "-", "- ", "/*", "'", "''", "\"", "`", "(", "IN (1,",
        "(1),", "VALUES (1),", "\\", "a", "1", "1.", "%41", "/", "@", ":", "A=1 ", "exec ", ")",
        "# x\n", "--x\n", "E'a' ", "?", " "
    };
    enum { SIZE = 200000 };
    struct dp_buf from, to;
    dp_buf_init(&from);
    dp_buf_init(&to);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        dp_buf_clear(&from);
        while (from.len < SIZE)
            dp_buf_adds(&from, parts[i]);
        for (int d = 0; d < 4; d++)
            make(&to, sql_fn, from.ptr, from.len, d);
        make(&to, path_fn, from.ptr, from.len, 0);
        make(&to, url_fn, from.ptr, from.len, 0);
        make(&to, command_fn, from.ptr, from.len, 0);
    }
    ok(!to.err, "long texts of equal parts");
    dp_buf_release(&from);
    dp_buf_release(&to);
}

int main(void)
{
    test_statements();
    test_cases("path", path_fn, paths, sizeof paths / sizeof *paths);
    test_cases("URL", url_fn, urls, sizeof urls / sizeof *urls);
    test_cases("command", command_fn, commands, sizeof commands / sizeof *commands);
    test_random();
    test_any_bytes();
    test_long();
    return tap_done();
}
