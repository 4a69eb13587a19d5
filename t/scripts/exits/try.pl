# feature 'try': catch, finally, return out of try, next out of try; defer blocks.
# perl: 5.36
# trace: +thrower /thrower +catcher -catcher +returns +helper -helper -returns +with_finally
# trace: +thrower /thrower +catcher -catcher +helper -helper -with_finally
# trace: +loop +helper -helper +helper -helper -loop +deferring +helper -helper +catcher -catcher
# trace: -deferring
# trace: +rethrow +thrower /thrower /rethrow +helper -helper
use v5.36;
use feature qw(try defer);
no warnings;
sub thrower { die "thrown\n" }
sub catcher { print "caught $_[0]" }
sub helper { 1 }
try { thrower() } catch ($e) { catcher($e) }
sub returns { try { helper(); return 'from try' } catch ($e) { } return 'after' }
say returns();
sub with_finally { try { thrower() } catch ($e) { catcher($e) } finally { helper() } }
with_finally();
sub loop { for (1, 2) { try { helper(); next } catch ($e) { } say "no" } 1 }
loop();
sub deferring { defer { catcher("in defer\n") } helper() }
deferring();
sub rethrow { try { thrower() } catch ($e) { die $e } }
try { rethrow() } catch ($e) { helper() }
