# AUTOLOAD goes by the name that was wanted: functions, methods, can, inherited.
# expect: main::wanted 2
# expect: main::other 1
# expect: Class::method 1
# expect: Class::class_method 1
# expect: Derived::inherited 1
# expect: main::AUTOLOAD 0
# expect: Class::AUTOLOAD 0
# expect: Class::DESTROY 1
# expect: main::wanted > main::helper 2
# expect: main::loaded 2
# expect: main::AUTOLOAD > main::loaded 0
use strict;
our $AUTOLOAD;
sub helper { 1 }
sub AUTOLOAD {
    my $name = $AUTOLOAD;
    helper() if $name =~ /wanted/;
    if ($name =~ /loaded/) {
        no strict 'refs';
        *$name = sub { 'loaded' };
        require Sub::Util;
        Sub::Util::set_subname($name, \&$name);
        goto &$name;
    }
    return "<$name>";
}
print wanted(1), wanted(2), other(), "\n";
{
    package Class;
    our $AUTOLOAD;
    sub new { bless [] }
    sub AUTOLOAD { my $n = $AUTOLOAD; print "[$n]" }
    package Derived;
    our @ISA = 'Class';
}
my $o = Class->new;
$o->method;
Class->class_method;
Derived->inherited;
undef $o;
print loaded(), "\n";
print ref(Class->can('nothing')) || 'cannot', "\n";
