;; parts: imports memory announce end call
;; Not hostile: calls the member that is named like the program after its first letter, cancels that call, two that do not
;; exist, and the first one again. Logs how the last answer ended and completes with the number of answers. The first letter
;; `s` starts the call before it is cancelled, any other does not.
  (data (i32.const 0) "null")
  (data (i32.const 16) "success..failure..cancelled")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $how i32) (local $last i32) (local $answers i64)
    (drop (call $start (local.get $self) (i32.const 0)
      (i32.add (local.get $program) (i32.const 1)) (i32.sub (local.get $program-len) (i32.const 1))
      (i32.const 0) (i32.const 4)))
    (if (i32.eq (i32.load8_u (local.get $program)) (i32.const 115))
      (then (call $sleep (local.get $self) (i64.const 1000000))))
    (call $cancel (local.get $self) (i64.const 1))
    (call $cancel (local.get $self) (i64.const 0))
    (call $cancel (local.get $self) (i64.const -1))
    (call $cancel (local.get $self) (i64.const 1))
    (block $received
      (loop $receive
        (local.set $how (call $await (local.get $self)))
        (br_if $received (i32.eq (local.get $how) (i32.const 4)))
        (local.set $last (local.get $how))
        (local.set $answers (i64.add (local.get $answers) (i64.const 1)))
        (br $receive)))
    (call $log (local.get $self)
      (i32.add (i32.const 16) (i32.mul (local.get $last) (i32.const 9)))
      (select (i32.const 9) (i32.const 7) (i32.eq (local.get $last) (i32.const 2))))
    (call $number (local.get $self) (local.get $answers)))
