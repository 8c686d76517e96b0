;; parts: imports memory announce end call
;; Makes eight calls of the member that is named like the program, lets them all settle before it looks at one, then logs
;; every failure and completes with the number of successes.
  (data (i32.const 0) "null")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $left i32) (local $good i64) (local $how i32)
    (local.set $left (i32.const 8))
    (loop $make
      (drop (call $start (local.get $self) (i32.const 0) (local.get $program) (local.get $program-len) (i32.const 0) (i32.const 4)))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $make (local.get $left)))
    (call $sleep (local.get $self) (i64.const 5000000))
    (block $received
      (loop $receive
        (local.set $how (call $await (local.get $self)))
        (br_if $received (i32.eq (local.get $how) (i32.const 4)))
        (if (local.get $how)
          (then (call $log-answer (local.get $self)))
          (else (local.set $good (i64.add (local.get $good) (i64.const 1)))))
        (br $receive)))
    (call $number (local.get $self) (local.get $good)))
