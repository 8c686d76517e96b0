;; parts: imports memory announce end
;; Not hostile: completes with 1 if both clocks show whole steps of 100 µs and the monotonic one never goes back.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $left i32) (local $last i64) (local $now i64)
    (local.set $left (i32.const 1000))
    (loop $again
      (local.set $now (call $monotonic-clock (local.get $self)))
      (if (i64.lt_u (local.get $now) (local.get $last)) (then unreachable))
      (if (i64.ne (i64.rem_u (local.get $now) (i64.const 100000)) (i64.const 0)) (then unreachable))
      (if (i64.ne (i64.rem_u (call $wall-clock (local.get $self)) (i64.const 100000)) (i64.const 0)) (then unreachable))
      (local.set $last (local.get $now))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $again (local.get $left)))
    (call $one (local.get $self)))
