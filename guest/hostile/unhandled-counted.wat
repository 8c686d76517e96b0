;; parts: imports memory announce end call
;; Tells of as many unhandled failures as the program says, with 60,000 bytes of message each, and completes.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $left i64)
    (local.set $left (call $parse (local.get $program) (local.get $program-len)))
    (block $done
      (loop $again
        (br_if $done (i64.eqz (local.get $left)))
        (call $unhandled (local.get $self) (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 57000))
        (local.set $left (i64.sub (local.get $left) (i64.const 1)))
        (br $again)))
    (call $one (local.get $self)))
