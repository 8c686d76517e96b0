;; parts: imports memory announce end call
;; Not hostile: makes as many calls of `echo` as the program says before it looks at the first answer, logs every refusal, then receives
;; until nothing is left and completes with the number of answers.
  (data (i32.const 0) "nullecho")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $left i64) (local $answers i64)
    (local.set $left (call $parse (local.get $program) (local.get $program-len)))
    (block $made
      (loop $make
        (br_if $made (i64.eqz (local.get $left)))
        (drop (call $start (local.get $self) (i32.const 0) (i32.const 4) (i32.const 4) (i32.const 0) (i32.const 4)))
        (local.set $left (i64.sub (local.get $left) (i64.const 1)))
        (br $make)))
    (block $received
      (loop $receive
        (br_if $received (i32.eq (call $await (local.get $self)) (i32.const 4)))
        (local.set $answers (i64.add (local.get $answers) (i64.const 1)))
        (br $receive)))
    (call $number (local.get $self) (local.get $answers)))
