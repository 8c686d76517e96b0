;; parts: imports memory announce end call
;; Not hostile: waits a millisecond and logs an empty entry, as often as the program says.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $left i64)
    (local.set $left (call $parse (local.get $program) (local.get $program-len)))
    (loop $again
      (call $next (local.get $self) (i32.const 1) (i64.const 1000000) (i32.const 61440))
      (call $log (local.get $self) (i32.const 0) (i32.const 0))
      (local.set $left (i64.sub (local.get $left) (i64.const 1)))
      (br_if $again (i64.ne (local.get $left) (i64.const 0))))
    (call $one (local.get $self)))
