# goto to an XS sub that dies: a defer block of the scope around the call is called by the caller.
# perl: 5.36
# packages: main Scalar::Util
# expect: main::outer > main::in_defer 1
# expect: main::inner > main::after 1
# expect: main::outer > main::leaves 1
# expect: main::around > main::in_defer 1
# expect: main::between > main::leaves 1
use v5.36;
use feature qw(defer);
no warnings;
use Scalar::Util;
sub in_defer { 1 }
sub after { 1 }
sub leaves { @_ = 1; goto &Scalar::Util::dualvar }
sub outer { { defer { in_defer() } leaves() } }
eval { outer() };
print $@ =~ s/ at .*//sr, "\n";
sub inner { eval { defer { 1 } leaves() }; after() }
inner();
sub between { leaves(); 1 }
sub around { { defer { in_defer() } between() } }
eval { around() };
after();
