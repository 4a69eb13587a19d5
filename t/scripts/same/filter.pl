# Source filters: Filter::Util::Call by closure and by method, Filter::Simple.
# needs: Filter::Util::Call
# needs: Filter::Simple
# expect: main::filtered 2
BEGIN {
    package Upper; $INC{'Upper.pm'} = 1;
    use Filter::Util::Call;
    sub import { filter_add(sub { my $st = filter_read(); s/ORIG/filtered/g if $st > 0; $st }) }
    package Simple; $INC{'Simple.pm'} = 1;
    use Filter::Simple;
    FILTER { s/hello/goodbye/g };
}
use Upper;
sub ORIG { print "ORIG called\n" }
ORIG();
use Simple;
print "hello\n"; ORIG();
no Simple;
print "end\n";
