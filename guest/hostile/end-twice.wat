;; parts: imports memory announce
;; Completes and then goes on: 1 completes again, 2 fails, 3 logs, 4 calls, 5 loops for ever, 6 waits, reads a clock and
;; completes with nothing else, which is allowed.
  (data (i32.const 0) "1")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $what i32)
    (local.set $what (i32.load8_u (local.get $program)))
    (call $complete (local.get $self) (i32.const 1) (i32.const 0) (i32.const 1))
    (if (i32.eq (local.get $what) (i32.const 49))
      (then (call $complete (local.get $self) (i32.const 0) (i32.const 0) (i32.const 0))))
    (if (i32.eq (local.get $what) (i32.const 50))
      (then (call $fail (local.get $self) (i32.const 0) (i32.const 0) (i32.const 1))))
    (if (i32.eq (local.get $what) (i32.const 51))
      (then (call $log (local.get $self) (i32.const 0) (i32.const 1))))
    (if (i32.eq (local.get $what) (i32.const 52))
      (then (call $submit (local.get $self) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 1)
        (i32.const 61440))))
    (if (i32.eq (local.get $what) (i32.const 53)) (then (loop $again (br $again))))
    (if (i32.eq (local.get $what) (i32.const 54))
      (then
        (call $next (local.get $self) (i32.const 0) (i64.const 0) (i32.const 61440))
        (drop (call $wall-clock (local.get $self)))))
    (call $drop (local.get $self)))
