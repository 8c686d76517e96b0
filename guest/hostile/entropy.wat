;; parts: imports memory announce end call
;; Asks for as many random bytes as the program says and completes with the sum of all.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $at i32) (local $end i32) (local $sum i64)
    (call $entropy (local.get $self)
      (i32.wrap_i64 (call $parse (local.get $program) (local.get $program-len))) (i32.const 61440))
    (local.set $at (i32.load (i32.const 61440)))
    (local.set $end (i32.add (local.get $at) (i32.load (i32.const 61444))))
    (block $summed
      (loop $again
        (br_if $summed (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $sum (i64.add (i64.mul (local.get $sum) (i64.const 31)) (i64.load8_u (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $again)))
    (call $number (local.get $self) (local.get $sum)))
