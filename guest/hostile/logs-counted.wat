;; parts: imports memory announce end call
;; Logs "0123456789" as often as the program says.
  (data (i32.const 0) "0123456789")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $left i64)
    (local.set $left (call $parse (local.get $program) (local.get $program-len)))
    (block $logged
      (loop $again
        (br_if $logged (i64.eqz (local.get $left)))
        (call $log (local.get $self) (i32.const 0) (i32.const 10))
        (local.set $left (i64.sub (local.get $left) (i64.const 1)))
        (br $again)))
    (call $one (local.get $self)))
